// "Did you mean ...?"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracenorm::app {

/// The known word nearest to `word`, if one is near enough to have been meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace tracenorm::app
