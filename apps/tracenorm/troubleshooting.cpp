#include "troubleshooting.hpp"

#include "base/topic.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

std::string_view anchor_of(Topic topic) {
  switch (topic) {
    case Topic::opening:
      return "opening";
    case Topic::writing:
      return "writing";
    case Topic::unfit_values:
      return "values-that-do-not-fit";
    case Topic::too_few_entries:
      return "too-few-entries";
    case Topic::unknown_names:
      return "unknown-names";
    case Topic::memory:
      return kMemory;
    case Topic::checkpoint:
      return "checkpoint";
    case Topic::certificate:
      return "no-certificate";
    case Topic::device:
      return "backend-cuda";
    case Topic::ranks:
      return "several-ranks";
  }
  return "exit-codes";
}

}  // namespace

std::string_view troubleshooting_anchor(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return "options";
    case ErrorCode::input:
      return "reading";
    case ErrorCode::numerical:
      return "numerical_failure";
  }
  return "exit-codes";
}

std::string_view troubleshooting_anchor(const Error& error) {
  if (const auto* known = dynamic_cast<const TopicError*>(&error)) return anchor_of(known->topic());
  if (const auto* reading = dynamic_cast<const io::ReadError*>(&error)) {
    if (reading->setting() == "duplicates") return "duplicates";
    if (reading->setting() == "columns" || reading->setting() == "skip_columns") return "columns";
  }
  return error.option() == "backend" ? anchor_of(Topic::device) : troubleshooting_anchor(error.code());
}

}  // namespace tracenorm::app
