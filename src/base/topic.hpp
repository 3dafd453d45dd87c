// What an error is about, where there is more to say of it than its message does: the documentation has a place for
// each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tracenorm/error.hpp"

namespace tracenorm {

enum class Topic : std::uint8_t {
  opening,
  writing,
  unfit_values,
  too_few_entries,
  unknown_names,
  memory,
  checkpoint,
  certificate,
  device,
  ranks
};

class TopicError : public Error {
 public:
  TopicError(ErrorCode code, Topic topic, const std::string& message, std::string option = {})
      : Error(code, message, std::move(option)), topic_(topic) {}
  [[nodiscard]] Topic topic() const { return topic_; }

 private:
  Topic topic_;
};

/// What `work` throws is about this.
template <class Work>
decltype(auto) about(Topic topic, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw TopicError(error.code(), topic, error.what(), error.option());
  }
}

}  // namespace tracenorm
