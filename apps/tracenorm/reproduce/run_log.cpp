#include "reproduce/run_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

[[noreturn]] void fail_writing(const std::string& path) {
  throw Error(ErrorCode::input, fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail_writing(path_);
  }
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  ~AppendedFile() { ::close(descriptor_); }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_writing(path_);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail_writing(path_);
  }

 private:
  std::string path_;
  int descriptor_;
};

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

RunLog::RunLog(std::string path) : path_(std::move(path)) {
  const std::string text = read_all(path_);
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {  // cut off: forget it, so that the next line starts on its own
      if (::truncate(path_.c_str(), static_cast<off_t>(begin)) != 0) fail_writing(path_);
      break;
    }
    const Json run = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                 text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!run.is_object() || !run.contains("key") || !run["key"].is_string()) {
      throw Error(ErrorCode::input,
                  fmt::format("{}:{}: not a finished run; remove the line, and it is run again", path_, line));
    }
    runs_[run["key"]] = run;
    begin = end + 1;
  }
}

const Json* RunLog::find(const std::string& key) const {
  const auto at = runs_.find(key);
  return at == runs_.end() ? nullptr : &at->second;
}

void RunLog::append(const Json& run) {
  const std::string line = run.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  AppendedFile(path_).write(line);
  runs_[run["key"]] = run;
}

}  // namespace tracenorm::app
