// Data whose rows ranks share: everything comes out with the bits that one process gives, which has all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/random.hpp"
#include "base/rank_share.hpp"
#include "fit/split.hpp"
#include "model/shared_rows.hpp"
#include "support/thread_ranks.hpp"
#include "tracenorm/fit.hpp"
#include "tracenorm/fold_in.hpp"
#include "tracenorm/mpi.hpp"

namespace tracenorm {
namespace {

constexpr Index kRows = 2600;
constexpr Index kCols = 80;

/// Ratings of low rank with offsets, in no order, rows of very different lengths.
FitData some_data(bool weighted = false) {
  Random random(7);
  const Eigen::MatrixXd left = Eigen::MatrixXd::NullaryExpr(kRows, 3, [&] { return random.normal(); });
  const Eigen::MatrixXd right = Eigen::MatrixXd::NullaryExpr(kCols, 3, [&] { return random.normal(); });
  FitData data{kRows, kCols, {}};
  for (Index j = 0; j < kCols; ++j) {
    for (Index i = 0; i < kRows; ++i) {
      if (random.uniform() > 0.6 * (i + 1) / kRows) continue;
      data.entries.row.push_back(i);
      data.entries.col.push_back(j);
      data.entries.value.push_back(
          Real(std::round(2 * (0.3 * right(j, 0) + left.row(i).dot(right.row(j)) + 0.5 * random.normal())) / 2));
      if (weighted) data.weight.push_back(Real(0.5 + random.uniform()));
    }
  }
  return data;
}

/// What one rank has of them: rows cut anyhow.
FitData dealt(const FitData& all, Ranks& ranks) {
  FitData mine{all.rows, all.cols, {}};
  const auto cut = [&](int r) {
    return r == ranks.size() ? all.rows : all.rows * r * r / (ranks.size() * ranks.size());
  };
  mine.dealt = DealtEntries{&ranks, cut(ranks.rank()), cut(ranks.rank() + 1), {}, all.entries.size()};
  for (std::size_t e = 0; e < all.entries.row.size(); ++e) {
    if (all.entries.row[e] < mine.dealt->first || all.entries.row[e] >= mine.dealt->last) continue;
    mine.entries.row.push_back(all.entries.row[e]);
    mine.entries.col.push_back(all.entries.col[e]);
    mine.entries.value.push_back(all.entries.value[e]);
    if (!all.weight.empty()) mine.weight.push_back(all.weight[e]);
    mine.dealt->place.push_back(static_cast<Offset>(e));
  }
  mine.validation = all.validation;
  return mine;
}

void on_ranks(const std::function<void(Ranks&)>& work) {
  if (mpi_ranks() != nullptr) return work(*mpi_ranks());
  for (const int size : {2, 3, 4, 7}) test::ThreadRanks::run(size, work);
}

void expect_same(const std::vector<double>& a, const std::vector<double>& b) { EXPECT_EQ(a, b); }
void expect_same(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_TRUE(a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * 8) == 0)
      << "they differ by up to " << (a - b).cwiseAbs().maxCoeff();
}

void expect_same_fit(const Fit& shared, const Fit& alone) {
  EXPECT_EQ(shared.result.status, alone.result.status) << shared.result.message;
  EXPECT_EQ(shared.result.objective, alone.result.objective);
  EXPECT_EQ(shared.result.lower_bound, alone.result.lower_bound);
  EXPECT_EQ(shared.problem.radius(), alone.problem.radius());
  EXPECT_EQ(shared.path.size(), alone.path.size());
  const Model a = shared.model();
  const Model b = alone.model();
  expect_same(a.factors.left(), b.factors.left());
  expect_same(Eigen::MatrixXd(a.factors.values()), Eigen::MatrixXd(b.factors.values()));
  expect_same(a.factors.right(), b.factors.right());
  EXPECT_EQ(a.preparation.offset, b.preparation.offset);
  EXPECT_EQ(a.preparation.scale, b.preparation.scale);
  EXPECT_EQ(a.preparation.range.lower, b.preparation.range.lower);
  EXPECT_EQ(a.preparation.range.upper, b.preparation.range.upper);
  expect_same(a.preparation.row_offset, b.preparation.row_offset);
  expect_same(a.preparation.col_offset, b.preparation.col_offset);
  ASSERT_EQ(a.spread.has_value(), b.spread.has_value());
  if (a.spread) {
    expect_same(a.spread->row, b.spread->row);
    expect_same(a.spread->col, b.spread->col);
    expect_same(a.spread->scores, b.spread->scores);
  }
  const RowPrice mine = row_price(shared);
  const RowPrice other = row_price(alone);
  EXPECT_EQ(mine.multiplier, other.multiplier);
  EXPECT_EQ(mine.mean_count, other.mean_count);
}

void expect_same_fit(const FitData& data, FitOptions options) {
  options.run.iterations = 15;
  options.run.threads = 1;
  const Fit alone = fit(data, options);
  std::mutex one_at_a_time;
  on_ranks([&](Ranks& ranks) {
    const Fit shared = fit(dealt(data, ranks), options, {.ranks = &ranks});
    const std::lock_guard lock(one_at_a_time);
    SCOPED_TRACE(testing::Message() << "rank " << ranks.rank() << " of " << ranks.size());
    const auto& sparse = std::get<SparseObservations>(shared.problem.observations);
    ASSERT_TRUE(sparse.shared);
    EXPECT_LE(sparse.pattern.entries(), data.entries.size() / ranks.size() + data.entries.size() / 8);
    expect_same_fit(shared, alone);
  });
}

TEST(SharedRows, WithARadius) { expect_same_fit(some_data(), {.radius = 300}); }

TEST(SharedRows, WithEveryPreparation) {
  using Kind = Preparation::Kind;
  for (const Kind kind : {Kind::none, Kind::center, Kind::rows, Kind::columns}) {
    expect_same_fit(some_data(), {.radius = 300, .prepare = kind, .clip = true, .method = methods::FrankWolfe{}});
  }
}

TEST(SharedRows, WithOffsetsAndWeights) {
  expect_same_fit(some_data(true),
                  {.radius = 300, .norm_power = 0.5, .loss = losses::Huber{}, .prepare = Preparation::Kind::both});
  expect_same_fit(some_data(true), {.radius = 300, .loss = losses::Squared{}, .method = methods::RankDrop{}});
}

TEST(SharedRows, WithEverythingChosen) { expect_same_fit(some_data(), {}); }

TEST(SharedRows, WithEverythingChosenOnEntriesThatAreGiven) {
  FitData data = some_data(true);
  Split split = split_entries(data.entries, {0.9, 0.1, 0}, 3, data.weight, 1);
  data.entries = std::move(split.train);
  data.weight = std::move(split.train_weight);
  data.validation = std::move(split.validation);
  expect_same_fit(data, {});
}

TEST(SharedRows, RefuseWhatNeedsAllOfThem) {
  on_ranks([](Ranks& ranks) {
    EXPECT_THROW(fit(dealt(some_data(), ranks), {.radius = 10, .penalty = L1Penalty{1}}, {.ranks = &ranks}), Error);
  });
}

TEST(SharedRows, PartWhereLargeBranchesOfTheirSumsEnd) {
  // Two shards stay together; the last of 33 is alone.
  ShardCuts cuts{{}, 2};
  for (Index row = 0; row <= 33; ++row) cuts.rows.push_back(row);
  on_ranks([&](Ranks& ranks) {
    const std::vector<int> found = make_share(cuts, ranks).shard_cuts;
    if (ranks.size() == 2) {
      EXPECT_EQ(found, (std::vector{0, 16, 33}));
    } else if (ranks.size() == 4) {
      EXPECT_EQ(found, (std::vector{0, 8, 16, 24, 33}));
    }
  });
}

TEST(SharedRows, AreCutAsOneProcessCutsThem) {
  const FitData data = some_data();
  const Shares shares{0.5, 0.3, 0.2};
  const Split alone = split_entries(data.entries, shares, 5, {}, 1);
  const SparseObservations train = make_sparse(kRows, kCols, alone.train, {}, 1);
  std::mutex one_at_a_time;
  on_ranks([&](Ranks& ranks) {
    FitData mine = dealt(data, ranks);
    Split split = split_entries(std::move(mine.entries), *mine.dealt, shares, 5, {}, 1);
    const DealtEntries& rest = *split.dealt;
    const SparseObservations shared = make_shared(rest.first, rest.last, kCols, split.train, {}, 1, ranks);
    const Counts counts = count_observed(shared);
    const std::uint64_t print = fingerprint(Observations(shared));
    const std::lock_guard lock(one_at_a_time);
    EXPECT_EQ(split.validation.row, alone.validation.row);
    EXPECT_EQ(split.validation.value, alone.validation.value);
    EXPECT_EQ(split.test.col, alone.test.col);
    EXPECT_EQ(rest.all, alone.train.size());
    for (std::size_t e = 0; e < rest.place.size(); ++e) {
      ASSERT_EQ(split.train.row[e], alone.train.row[static_cast<std::size_t>(rest.place[e])]);
      ASSERT_EQ(split.train.value[e], alone.train.value[static_cast<std::size_t>(rest.place[e])]);
    }
    EXPECT_EQ(counts.row, count_observed(train).row);
    EXPECT_EQ(counts.col, count_observed(train).col);
    EXPECT_EQ(print, fingerprint(Observations(train)));
    EXPECT_EQ(rows(Observations(shared)), kRows);
    EXPECT_EQ(observed(Observations(shared)), train.pattern.entries());
  });
}

TEST(ExactSum, IsTheSameInAnyOrder) {
  Random random(3);
  std::vector<double> terms;
  for (int k = 0; k < 3000; ++k) {
    terms.push_back(std::ldexp(random.normal(), static_cast<int>(random.below(2000)) - 1000));
    terms.push_back(std::ldexp(random.normal(), static_cast<int>(random.below(40)) - 1074));
  }
  const std::size_t half = terms.size() / 2;
  ExactSum forth;
  ExactSum back;
  ExactSum rest;
  for (const double term : terms) forth.add(term);
  for (std::size_t k = terms.size(); k-- > half;) back.add(terms[k]);
  for (std::size_t k = 0; k < half; ++k) rest.add(terms[k]);
  back += rest;
  EXPECT_EQ(forth.value(), back.value());
  for (const double term : terms) back.add(-term);
  EXPECT_EQ(back.value(), 0);
}

TEST(ExactSum, LosesNothing) {
  ExactSum sum;
  for (const double term : {1e300, 1.0, -1e300, 5e-324, 3.0, -5e-324}) sum.add(term);
  EXPECT_EQ(sum.value(), 4.0);
  sum.add(-4.25);
  EXPECT_EQ(sum.value(), -0.25);
  sum.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(sum.value(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tracenorm
