#include "fit/memory_need.hpp"

#include <gtest/gtest.h>

#include "tracenorm/error.hpp"

namespace tracenorm {
namespace {

FitOptions automatic() { return settle({}); }
FitOptions fixed() { return settle({.radius = 100.0}); }

TEST(MemoryNeed, GrowsWithEntriesRowsAndWhatIsAsked) {
  constexpr Offset many = 100'000'000;
  const double plain = bytes_needed(480'189, 17'770, many, false, fixed(), false);
  const double all = bytes_needed(480'189, 17'770, many, false, automatic(), false);
  EXPECT_GT(plain, 0.6e9);
  EXPECT_LT(plain, 2.4e9) << "24 bytes an entry, the lists that are freed included";
  EXPECT_GT(all, plain + 0.8e9) << "factors of the method that is chosen";
  EXPECT_LT(bytes_needed(480'189, 17'770, many, false, automatic(), true), all) << "few are held out";
  EXPECT_LT(all, 2.8e9) << "40 bytes an entry, the lists that are freed included";
  EXPECT_GT(bytes_needed(480'189, 17'770, many, true, automatic(), false), all - 1);
  EXPECT_GT(bytes_needed(48'018'900, 17'770, many, false, automatic(), false), 50 * 1.2e9);
}

TEST(MemoryNeed, CountsBeyondTwoToTheThirtyOne) {
  constexpr Offset entries = Offset{1} << 32U;
  const double one = bytes_needed(1'000'000, 65'536, entries, false, fixed(), false);
  EXPECT_NEAR(bytes_needed(1'000'000, 65'536, 4 * entries, false, fixed(), false) / one, 4, 0.1);
  const double wide = bytes_needed(1'000'000, 65'537, entries, false, fixed(), false);
  EXPECT_NE(wide, one) << "columns in 32 bits, in one order";
  constexpr Index most = std::numeric_limits<Index>::max();
  EXPECT_GT(bytes_needed(most, most, 20, false, automatic(), false), 1e12);
}

TEST(MemoryNeed, IsRefusedBeforeTheWork) {
  FitData data{1000, 1000, {{0}, {0}, {1}}};
  const double needed = bytes_needed(1000, 1000, 1, false, automatic(), false);
  EXPECT_NO_THROW(require_memory(data, automatic(), needed));
  try {
    require_memory(data, automatic(), needed / 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    EXPECT_NE(std::string(error.what()).find("for 1 entries of a 1000 x 1000 matrix"), std::string::npos);
  }
}

}  // namespace
}  // namespace tracenorm
