#include "troubleshooting.hpp"

#include <array>

#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

struct Topic {
  ErrorCode code;
  std::string_view words;  ///< that a message holds; none: every message with this code
  std::string_view anchor;
};

/// The first that fits counts, so what is special stands above what is general.
constexpr std::array kTopics{
    Topic{ErrorCode::usage, "unknown option", "unknown-option-or-command"},
    Topic{ErrorCode::usage, "unknown command", "unknown-option-or-command"},
    Topic{ErrorCode::usage, "cuda", "backend-cuda"},
    Topic{ErrorCode::usage, "CUDA", "backend-cuda"},
    Topic{ErrorCode::usage, " rank", "several-ranks"},
    Topic{ErrorCode::usage, " convex", "a-loss-of-your-own"},
    Topic{ErrorCode::usage, "checkpoint", "checkpoint"},
    Topic{ErrorCode::usage, "--resume", "checkpoint"},
    Topic{ErrorCode::usage, "", "options"},
    Topic{ErrorCode::input, "memory", "memory"},
    Topic{ErrorCode::input, "checkpoint", "checkpoint"},
    Topic{ErrorCode::input, "was made with other options", "checkpoint"},
    Topic{ErrorCode::input, "belongs to other data", "checkpoint"},
    Topic{ErrorCode::input, "twice", "duplicates"},
    Topic{ErrorCode::input, "cannot write", "writing"},
    Topic{ErrorCode::input, "too few", "too-few-entries"},
    Topic{ErrorCode::input, "part is empty", "too-few-entries"},
    Topic{ErrorCode::input, "does not know", "unknown-names"},
    Topic{ErrorCode::input, "in common", "unknown-names"},
    Topic{ErrorCode::input, "same names", "unknown-names"},
    Topic{ErrorCode::input, "cannot read", "opening"},
    Topic{ErrorCode::input, "columns", "columns"},
    Topic{ErrorCode::input, " wants ", "values-that-do-not-fit"},
    Topic{ErrorCode::input, "", "reading"},
    Topic{ErrorCode::numerical, "CUDA", "backend-cuda"},
    Topic{ErrorCode::numerical, "certificate", "no-certificate"},
    Topic{ErrorCode::numerical, "", "numerical_failure"},
};

}  // namespace

std::string_view troubleshooting_anchor(int code, std::string_view message) {
  for (const Topic& topic : kTopics) {
    if (static_cast<int>(topic.code) == code && message.find(topic.words) != std::string_view::npos)
      return topic.anchor;
  }
  return "exit-codes";
}

}  // namespace tracenorm::app
