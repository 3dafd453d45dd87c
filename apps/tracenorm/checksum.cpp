#include "checksum.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <functional>
#include <memory>
#include <vector>

#include "io/archive.hpp"
#include "io/source.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

/// `read` fills a buffer and returns how many bytes it got; zero at the end.
std::string digest(const std::function<std::size_t(char*, std::size_t)>& read) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const auto check = [](int code) {
    if (code != 1) throw Error(ErrorCode::numerical, "the checksum could not be computed (OpenSSL)");
  };
  check(context == nullptr ? 0 : EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr));
  std::vector<char> buffer(1 << 20);
  while (const std::size_t got = read(buffer.data(), buffer.size())) {
    check(EVP_DigestUpdate(context.get(), buffer.data(), got));
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context.get(), bytes.data(), &size));
  std::string text;
  for (unsigned int k = 0; k < size; ++k) text += fmt::format("{:02x}", bytes[k]);
  return text;
}

std::string digest(io::ByteSource source) {
  return digest([&](char* into, std::size_t size) { return source.read(into, size); });
}

}  // namespace

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::input, fmt::format("cannot read '{}'", path));
  return digest([&](char* into, std::size_t size) {
    file.read(into, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(file.gcount());
  });
}

std::string sha256_of_content(const std::string& path, const std::string& member) {
  io::ByteSource source = io::open_source(path);
  if (!path.ends_with(".zip")) return digest(std::move(source));
  io::ArchiveReader archive(std::move(source));
  while (archive.next()) {
    if (archive.member() == member) return digest(archive.content());
  }
  throw Error(ErrorCode::input, fmt::format("'{}' holds no '{}'", path, member));
}

}  // namespace tracenorm::app
