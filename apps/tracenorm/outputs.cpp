#include "outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/topic.hpp"
#include "process_ranks.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& option, const std::string& path, std::string_view reason) {
  throw TopicError(ErrorCode::input, Topic::writing,
                   fmt::format("{}: cannot write '{}': {}; give a file name in an existing folder that can be written",
                               option, path, reason));
}

/// The only proof that a file can be made in a folder is to make one.
void check_writable(const std::string& option, const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse(option, path, "it is a folder");
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {  // a device or a pipe is written as it is
    if (::access(path.c_str(), W_OK) != 0) refuse(option, path, std::strerror(errno));
    return;
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::string probe = (folder / ".tracenorm-XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0) refuse(option, path, std::strerror(errno));
  ::close(file);
  ::unlink(probe.c_str());
}

/// Text may go to standard output; models, matrices and data sets are files.
void check_may_be_stdout(const std::string& option) {
  if (option == "--json" || option == "--output") return;  // (a matrix needs a name that says its format)
  throw Error(ErrorCode::usage, fmt::format("{}: '-' cannot be used; give the name of a file", option));
}

/// Such as /dev/null, which takes everything, or a pipe: there is nothing to overwrite.
bool is_device(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  // Neither need exist yet.
  return fs::weakly_canonical(fs::absolute(a), ignored) == fs::weakly_canonical(fs::absolute(b), ignored) ||
         fs::equivalent(a, b, ignored);
}

void check_distinct(const OutputPaths& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      const auto& [first, path] = outputs[i];
      const auto& [second, other] = outputs[j];
      if (path.empty() || other.empty() || is_device(path) || !same_file(path, other)) continue;
      throw Error(ErrorCode::usage,
                  fmt::format("{} and {}: both would write '{}'; give two names", first, second, path));
    }
  }
}

void check_standard_input(const std::vector<std::string>& inputs) {
  if (ranks() != nullptr && std::count(inputs.begin(), inputs.end(), kStdin) > 0) {
    throw TopicError(ErrorCode::usage, Topic::ranks,
                     "'-': standard input reaches one rank only; give a file that each can read");
  }
  if (std::count(inputs.begin(), inputs.end(), kStdin) > 1) {
    throw Error(ErrorCode::usage, "'-' is given for more than one input; standard input can be read once");
  }
}

void check_not_input(const std::string& option, const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (input.empty() || is_device(path) || !same_file(path, input)) continue;
    throw Error(ErrorCode::usage, fmt::format("{}: '{}' is read by this command and would be overwritten; give "
                                              "another name",
                                              option, path));
  }
}

std::vector<std::string> files_read(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    const std::vector<std::string> files = io::data_files({word});
    all.insert(all.end(), files.begin(), files.end());
    if (files.front() != word && word.starts_with('@')) all.push_back(word.substr(1));
  }
  return all;
}

}  // namespace

void check_outputs(const OutputPaths& outputs, const std::vector<std::string>& words) {
  const std::vector<std::string> inputs = files_read(words);
  check_standard_input(inputs);
  check_distinct(outputs);
  for (const auto& [option, path] : outputs) {
    if (path.empty()) continue;
    if (path == kStdout) {
      check_may_be_stdout(option);
      continue;
    }
    check_not_input(option, path, inputs);
    if (is_spokesman()) check_writable(option, path);
  }
}

void write_output(const std::string& path, std::string_view text) {
  if (!is_spokesman()) return;
  if (path != kStdout) {
    io::write_file(path, text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_stdout();
}

void flush_stdout() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw TopicError(
      ErrorCode::input, Topic::writing,
      fmt::format("cannot write to standard output: {}", errno != 0 ? std::strerror(errno) : "the output was lost"));
}

void tell_user(const std::string& text) { std::fputs(text.c_str(), stderr); }

void note(bool quiet, std::string_view text) {
  if (!quiet) tell_user(fmt::format("tracenorm: note: {}\n", text));
}

}  // namespace tracenorm::app
