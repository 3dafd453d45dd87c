// Parsers of options: words out of lines.
#include <sstream>

#include "target.hpp"
#include "tracenorm/fit.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/options.hpp"

namespace {

using namespace tracenorm;

OptionValue value_of(const std::string& word) {
  char* end = nullptr;
  const long long whole = std::strtoll(word.c_str(), &end, 10);
  if (!word.empty() && *end == 0) return std::int64_t{whole};
  const double number = std::strtod(word.c_str(), &end);
  if (!word.empty() && *end == 0) return number;
  return word;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream lines{std::string(fuzz::text_of(data, size))};
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line) && words.size() < 8;) {
    std::erase(line, '\0');  // which no command line can hold
    words.push_back(line);
  }
  for (const std::string& word : words) {
    fuzz::may_refuse([&] { static_cast<void>(to_string(parse_loss(word))); });
    fuzz::may_refuse([&] { static_cast<void>(to_string(parse_penalty(word))); });
    fuzz::may_refuse([&] { parse_method(word); });
    fuzz::may_refuse([&] { parse_preparation(word); });
    fuzz::may_refuse([&] { io::parse_format(word); });
    fuzz::may_refuse([&] { io::matrix_file_format(word); });
  }
  // A method's name, then options and values in turn.
  if (words.empty()) return 0;
  GivenOptions given;
  for (std::size_t k = 1; k + 1 < words.size(); k += 2) given.emplace_back(words[k], value_of(words[k + 1]));
  fuzz::may_refuse([&] { make_method(words[0], given); });
  for (const auto& one : given) {
    RunOptions run;
    FitOptions fit;
    fuzz::may_refuse([&] { set_option(run, one.first, one.second); });
    fuzz::may_refuse([&] { set_option(fit, one.first, one.second); });
    fuzz::may_refuse([&] { check_fields(run); });
  }
  return 0;
}
