// tracenorm info: what this build is and what it runs on.
#include <memory>

#include "commands.hpp"
#include "cuda/backend.hpp"
#include "kernels/kernels.hpp"
#include "methods/environment.hpp"
#include "outputs.hpp"
#include "report/named_value.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm::app {

namespace {

using Words = std::vector<std::string>;

Words available_sets() {
  using kernels::InstructionSet;
  Words names;
  for (const auto set :
       {InstructionSet::reference, InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (kernels::available(set)) names.emplace_back(kernels::to_string(set));
  }
  return names;
}

Words backends() { return cuda_devices().none.empty() ? Words{"cpu", "cuda"} : Words{"cpu"}; }

/// Where there is none, why.
Words devices() {
  const CudaDevices found = cuda_devices();
  return found.none.empty() ? found.names : Words{"none: " + found.none};
}

template <class Help>
Words names_of(const std::vector<Help>& helps) {
  Words names;
  for (const Help& help : helps) names.emplace_back(help.name);
  return names;
}

std::vector<report::NamedValue> facts() {
  const Environment here = environment(0, 0);
  return {{"version", here.version},
          {"compiler", here.compiler},
          {"instruction_set", here.instruction_set},
          {"instruction_sets", available_sets()},
          {"threads", std::int64_t{here.threads}},
          {"real", std::string(sizeof(Real) == sizeof(float) ? "float" : "double")},
          {"backends", backends()},
          {"devices", devices()},
          {"methods", names_of(method_help())},
          {"losses", names_of(loss_help())}};
}

int run(const std::string& json) {
  if (json.empty()) {
    write_output(std::string(kStdout), report::to_text(facts()));
    return 0;
  }
  check_outputs({{"--json", json}}, {});
  write_output(json, report::to_json(facts()));
  return 0;
}

}  // namespace

void add_info(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("info", "version, instruction set, threads, backends");
  const auto json = std::make_shared<std::string>();
  app->add_option_function<std::string>(
         "--json", [json](const std::string& text) { *json = text.empty() ? std::string(kStdout) : text; },
         "as JSON, to a file or (without a name or with -) to standard output")
      ->expected(0, 1)
      ->type_name("[FILE]");
  app->footer("The variable TRACENORM_ISA in the environment lowers the instruction set, e.g. TRACENORM_ISA=baseline.");
  app->callback([json, &action] { action = [json] { return run(*json); }; });
}

}  // namespace tracenorm::app
