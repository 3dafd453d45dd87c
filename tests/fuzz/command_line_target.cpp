// The command line: words out of lines. Whatever they are, they are a command, a request for help, or refused with a
// sentence; nothing is run.
#include <memory>
#include <sstream>
#include <vector>

#include "command_line.hpp"
#include "target.hpp"

namespace {

/// All commands with their options. To set them up takes a hundred times as long as to parse a line, so a program
/// parses many; what the lines before have set is forgotten only with it.
struct Program {
  CLI::App app{"", "tracenorm"};
  tracenorm::app::Action action;
  int left = 1000;
  Program() { tracenorm::app::set_up(app, action); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  static std::unique_ptr<Program> program;
  if (!program || --program->left == 0) program = std::make_unique<Program>();
  std::istringstream lines{std::string(fuzz::text_of(data, size))};
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line) && words.size() < 32;) {
    std::erase(line, '\0');             // which no command line can hold
    words.insert(words.begin(), line);  // CLI11 takes them from the end
  }
  program->action = nullptr;
  fuzz::may_refuse([&] {
    try {
      program->app.parse(std::move(words));
      if (!program->action) std::abort();
    } catch (const CLI::Success&) {  // --help, --version
    } catch (const CLI::ParseError& error) {
      if (app::usage_message(program->app, error).empty()) std::abort();
    }
  });
  return 0;
}
