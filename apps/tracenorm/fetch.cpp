// tracenorm fetch: the data sets of the experiments, from their publishers.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "checksum.hpp"
#include "commands.hpp"
#include "data_sets.hpp"
#include "outputs.hpp"
#include "tracenorm/error.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX wants the program to declare it

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

struct FetchOptions {
  std::vector<std::string> names;
  std::string data;
  std::string mirror;
  std::string datasets;
  bool quiet = false;
};

constexpr const char* kFooter = R"(Examples:
  tracenorm fetch ml-100k --data DIR
  tracenorm fetch all --data DIR

Downloads with curl (or wget), verifies the SHA-256 checksum, and only then gives the file its name. A data set that is already
there is verified and left as it is. Mind the publishers' terms: MovieLens may not be redistributed.

Exit codes: 0 everything is there, 2 usage, 3 a download failed or a file is not what it should be.)";

/// Runs a program and waits for it; nothing when there is no such program.
std::optional<int> run_tool(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ);
  if (error == ENOENT) return std::nullopt;
  if (error != 0)
    throw Error(ErrorCode::input, fmt::format("cannot start {}: {}", words.front(), std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void download(const std::string& url, const std::string& path, bool quiet) {
  const std::string noise = quiet ? "--silent" : "--progress-bar";
  std::optional<int> code = run_tool({"curl", "--fail", "--location", "--show-error", noise, "--output", path, url});
  if (!code) code = run_tool({"wget", quiet ? "--quiet" : "--no-verbose", "--output-document", path, url});
  if (!code) {
    throw Error(ErrorCode::input,
                fmt::format("neither curl nor wget is there; download {} by hand into the data folder", url));
  }
  if (*code != 0) {
    throw Error(ErrorCode::input,
                fmt::format("the download of {} failed (exit code {} of the downloader)", url, *code));
  }
}

std::string checksum(const DataSet& data, const std::string& path) {
  return data.of_content ? sha256_of_content(path, data.member) : sha256_of_file(path);
}

std::string source(const DataSet& data, const std::string& mirror) {
  if (mirror.empty()) return data.url;
  return mirror + (mirror.ends_with('/') ? "" : "/") + data.saved_as;
}

void fetch(const DataSet& data, const FetchOptions& options) {
  const std::string target = (fs::path(options.data) / data.saved_as).string();
  if (fs::exists(target)) {
    if (checksum(data, target) != data.sha256) {
      throw Error(ErrorCode::input, fmt::format("'{}' is not what {} publishes (SHA-256); remove it and fetch it again",
                                                target, data.publisher));
    }
    note(options.quiet, fmt::format("{}: there already, checksum right", data.name));
    return;
  }
  // Beside its name, with the same suffix (compression is told by it).
  const std::string part = (fs::path(options.data) / fmt::format(".part-{}-{}", ::getpid(), data.saved_as)).string();
  try {
    download(source(data, options.mirror), part, options.quiet);
    if (const std::string sum = checksum(data, part); sum != data.sha256) {
      throw Error(ErrorCode::input, fmt::format("{}: the download is not what it should be: SHA-256 {} instead of {}",
                                                data.name, sum, data.sha256));
    }
    fs::rename(part, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
  note(options.quiet, fmt::format("{}: {} from {}, checksum right", data.name, target, data.publisher));
}

int run(const FetchOptions& options) {
  const std::vector<DataSet> all = options.datasets.empty() ? data_sets() : read_data_sets(options.datasets);
  std::vector<const DataSet*> wanted;
  for (const std::string& name : options.names) {
    if (name == "all") {
      for (const DataSet& data : all) {
        if (!data.url.empty()) wanted.push_back(&data);
      }
      continue;
    }
    const DataSet& data = find_data_set(name, all);
    if (data.url.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: nobody publishes it for download; see docs/results.md", data.name));
    }
    wanted.push_back(&data);
  }
  std::error_code problem;
  fs::create_directories(options.data, problem);
  if (problem) {
    throw Error(ErrorCode::input, fmt::format("--data: cannot make '{}': {}", options.data, problem.message()));
  }
  for (const DataSet* data : wanted) fetch(*data, options);
  return 0;
}

std::string names_help() {
  std::string text = "what to get, or all";
  for (const DataSet& data : data_sets()) {
    if (!data.url.empty()) text += fmt::format("\n{}: {}", data.name, data.title);
  }
  return text;
}

}  // namespace

void add_fetch(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("fetch", "download and verify the data sets of the experiments");
  const auto options = std::make_shared<FetchOptions>();
  app->add_option("NAME", options->names, names_help())->required()->type_name("NAME ...");
  app->add_option("--data", options->data, "folder to put them in; is made where it is missing")
      ->required()
      ->type_name("DIR");
  app->add_option("--mirror", options->mirror, "take the files from this address instead of their publishers")
      ->type_name("URL");
  app->add_option("--datasets", options->datasets, "other data sets than the built-in ones, declared as these are")
      ->type_name("FILE.json");
  app->add_flag("--quiet,-q", options->quiet, "no progress, no notes");
  app->footer(kFooter);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
