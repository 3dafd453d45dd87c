// Which files the words of a command line mean.
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "io/messages.hpp"
#include "io/source.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || name.starts_with('_')) continue;  // what other programs keep for themselves
    if (at->is_directory()) {
      fail("'{}' holds another folder, '{}'; give the folders or files that are meant, or a pattern such as {}/*.csv",
           folder, name, folder);
    }
    files.push_back(at->path().string());
  }
  if (failure) fail_about(Topic::opening, "cannot read '{}': {}", folder, failure.message());
  if (files.empty()) fail("'{}' is a folder without files", folder);
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_ERR | GLOB_MARK, nullptr, &found);
  std::vector<std::string> files;
  for (std::size_t k = 0; code == 0 && k < found.gl_pathc; ++k) {
    const std::string path = found.gl_pathv[k];
    if (!path.ends_with('/')) files.push_back(path);
  }
  ::globfree(&found);
  if (code == GLOB_NOSPACE) throw std::bad_alloc();
  if (files.empty()) fail_about(Topic::opening, "'{}': no file has such a name", pattern);
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_of_list(const std::string& list) {
  std::vector<std::string> files;
  LineReader lines(open_source(list));
  std::string_view line;
  while (lines.next(line)) {
    if (const std::string_view path = trim(line); !path.empty())
      files.push_back((fs::path(list).parent_path() / path).string());
  }
  if (files.empty()) fail("'{}' is empty: the names of files were expected, one a line", list);
  return files;
}

std::vector<std::string> files_of(const std::string& word) {
  std::error_code ignored;
  if (fs::is_directory(word, ignored)) return files_of_folder(word);
  if (word != standard_input && !is_there(word)) {
    if (word.starts_with('@')) return files_of_list(word.substr(1));
    if (word.find_first_of("*?[") != std::string::npos) return files_like(word);
  }
  return {word};
}

/// Several files are opened several times, and one of them twice would be a mistake.
void require_several(const std::vector<std::string>& files) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& file : files) {
    if (file == standard_input) fail("'-': standard input cannot be one of several files; join them before");
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
      fail_about(Topic::opening, "cannot read '{}': {}", file, std::strerror(errno));
    if (!S_ISREG(status.st_mode))
      fail_about(Topic::opening, "'{}' is no regular file; several are opened more than once: join pipes before", file);
    const auto [at, fresh] = seen.try_emplace({status.st_dev, status.st_ino}, file);
    if (fresh) continue;
    if (at->second == file) fail("'{}' is given twice; give each file once", file);
    fail("'{}' and '{}' are the same file; give each once", at->second, file);
  }
}

}  // namespace

std::vector<std::string> data_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    const std::vector<std::string> more = files_of(word);
    files.insert(files.end(), more.begin(), more.end());
  }
  if (files.size() > 1) require_several(files);
  return files;
}

}  // namespace tracenorm::io
