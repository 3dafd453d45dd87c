// The command line: words out of lines. Whatever they are, they are a command, a request for help, or refused with a
// sentence; nothing is run.
#include <sstream>
#include <vector>

#include "command_line.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  std::istringstream lines{std::string(fuzz::text_of(data, size))};
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line) && words.size() < 32;) {
    std::erase(line, '\0');             // which no command line can hold
    words.insert(words.begin(), line);  // CLI11 takes them from the end
  }
  CLI::App program{"", "tracenorm"};
  app::Action action;
  app::set_up(program, action);
  fuzz::may_refuse([&] {
    try {
      program.parse(std::move(words));
      if (!action) std::abort();
    } catch (const CLI::Success&) {  // --help, --version
    } catch (const CLI::ParseError& error) {
      if (app::usage_message(program, error).empty()) std::abort();
    }
  });
  return 0;
}
