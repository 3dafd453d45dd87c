// What travels among ranks and comes back.
#include "base/mail.hpp"

#include <gtest/gtest.h>

#include "base/row_blocks.hpp"
#include "support/thread_ranks.hpp"

namespace tracenorm {
namespace {

/// The remainder says who is asked, and the answer is the length of the text and what the number is.
void ask(int rank, int ranks_here, Ranks* ranks) {
  std::vector<int> to;
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  for (int k = 0; k < 50 * rank; ++k) {  // the first one asks nothing
    to.push_back(k * k % ranks_here);
    texts.emplace_back(static_cast<std::size_t>(k % 7), 'x');
    numbers.push_back(1000 * rank + k);
  }
  const Mail mail(to, ranks);
  const std::vector<std::int64_t> came = mail.deliver(numbers);
  const std::vector<std::string> names = mail.deliver(std::span<const std::string>(texts));
  ASSERT_EQ(came.size(), names.size());
  EXPECT_TRUE(std::is_sorted(came.begin(), came.end()));
  std::vector<std::int64_t> answers;
  for (std::size_t k = 0; k < came.size(); ++k)
    answers.push_back(came[k] * 10 + static_cast<std::int64_t>(names[k].size()));
  const std::vector<std::int64_t> replies = mail.reply(answers);
  ASSERT_EQ(replies.size(), numbers.size());
  for (std::size_t k = 0; k < replies.size(); ++k)
    EXPECT_EQ(replies[k], numbers[k] * 10 + static_cast<std::int64_t>(texts[k].size()));
}

TEST(Mail, AnswersComeBackToTheirQuestions) {
  ask(3, 1, nullptr);
  for (const int size : {1, 2, 5}) test::ThreadRanks::run(size, [&](Ranks& ranks) { ask(ranks.rank(), size, &ranks); });
}

TEST(Mail, RoundsAreAsManyOnEveryRank) {
  test::ThreadRanks::run(3, [](Ranks& ranks) {
    std::vector<std::size_t> counts;
    const std::size_t size = 10 * static_cast<std::size_t>(ranks.rank());
    in_rounds(size, 8, &ranks, [&](std::size_t first, std::size_t count) {
      EXPECT_EQ(first, std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
      counts.push_back(count);
    });
    EXPECT_EQ(counts.size(), 3U);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), size);
  });
}

TEST(RowBlocks, NumberTheRowsOfEveryRank) {
  for (const Index block : {0, 1, 3, 100}) {
    for (const int ranks : {1, 2, 4}) {
      std::vector<RowBlocks> all;
      Index counted = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        all.push_back({.rank = rank, .ranks = ranks, .block = block});
        all.back().settle(11);
        counted += all.back().count();
      }
      EXPECT_EQ(counted, 11);
      for (Index row = 0; row < 11; ++row) {
        const RowBlocks& owner = all[static_cast<std::size_t>(all.front().owner(row))];
        EXPECT_TRUE(owner.has(row));
        EXPECT_EQ(owner.here(row), owner.before(row));
        EXPECT_EQ(owner.whole(owner.here(row)), row);
      }
    }
  }
  RowBlocks none{.ranks = 2};
  none.settle(0);
  EXPECT_EQ(none.count(), 0);
}

}  // namespace
}  // namespace tracenorm
