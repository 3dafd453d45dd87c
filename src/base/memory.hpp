// How much memory there is, and how much of it this process has had.
#pragma once

#include <string>

namespace tracenorm {

/// Bytes that could be taken now without anything being written to disk or killed: what the machine says, or less where
/// the process lives in a control group with a limit. Infinite where nobody says. `root` is in front of the files that
/// tell.
double available_memory(const std::string& root = "");

/// The most bytes that the process has had in memory so far.
double peak_memory();

/// "3.1 GB".
std::string bytes_text(double bytes);

/// Throws an input error where more is needed than there is: before the work, instead of an end in the middle of it.
/// `what` is a sentence up to there: "this run takes 100 entries, and".
void require_memory(double needed, double available, const std::string& what);

}  // namespace tracenorm
