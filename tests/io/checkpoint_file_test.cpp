#include <unistd.h>

#include <bit>
#include <cmath>
#include <limits>

#include "helpers.hpp"

namespace tracenorm::io {
namespace {

Checkpoint small_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.run.texts = {{"folder", "/somewhere"}, {"word0", "complete"}, {"word1", "ét\"é\n"}};
  for (int k = 0; k < 2; ++k) {
    State& state = checkpoint.answers.emplace_back();
    state.texts["data"] = "0123";
    state.numbers["result.left"] = Eigen::MatrixXd::Random(4, 3);
    state.numbers["nothing"] = Eigen::MatrixXd(5, 0);
  }
  Eigen::MatrixXd odd(2, 2);
  odd << std::numeric_limits<double>::infinity(), -0.0, std::numeric_limits<double>::quiet_NaN(), 5e-324;
  checkpoint.current.numbers["odd.numbers"] = odd;
  checkpoint.current.entries["average"] = {Real(1.5), Real(-2), Real(0)};
  checkpoint.current.entries["none"] = {};
  return checkpoint;
}

void expect_same(const State& a, const State& b) {
  EXPECT_EQ(a.texts, b.texts);
  EXPECT_EQ(a.entries, b.entries);
  ASSERT_EQ(a.numbers.size(), b.numbers.size());
  for (const auto& [name, matrix] : a.numbers) {
    const Eigen::MatrixXd& other = b.numbers.at(name);
    ASSERT_EQ(matrix.rows(), other.rows()) << name;
    ASSERT_EQ(matrix.cols(), other.cols()) << name;
    for (Eigen::Index k = 0; k < matrix.size(); ++k) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(matrix.data()[k]), std::bit_cast<std::uint64_t>(other.data()[k])) << name;
    }
  }
}

class CheckpointFile : public FolderTest {
 protected:
  /// The message about a file of these bytes.
  [[nodiscard]] std::string refusal(std::string_view bytes) const {
    const std::string file = make("damaged.npz", bytes);
    return error_of([&] { read_checkpoint(file); });
  }
};

TEST_F(CheckpointFile, RoundTripToTheBit) {
  const Checkpoint checkpoint = small_checkpoint();
  write_checkpoint(path("c.npz"), checkpoint);
  EXPECT_EQ(files(), 1U);
  const Checkpoint again = read_checkpoint(path("c.npz"));
  expect_same(again.run, checkpoint.run);
  ASSERT_EQ(again.answers.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) expect_same(again.answers[k], checkpoint.answers[k]);
  expect_same(again.current, checkpoint.current);
}

TEST_F(CheckpointFile, WhatKilledProcessesLeftBesideIsRemoved) {
  const std::string own = fmt::format(".c.npz.{}-7.tmp", getpid());
  make(own, "of a living process");
  make(".c.npz.2147483646-0.tmp", "of one that is no more");
  make(".d.npz.2147483646-0.tmp", "of another file");
  write_checkpoint(path("c.npz"), small_checkpoint());
  EXPECT_EQ(files(), 3U);
  EXPECT_EQ(content(own), "of a living process");
  EXPECT_EQ(content(".d.npz.2147483646-0.tmp"), "of another file");
}

TEST_F(CheckpointFile, OneThatIsCutAnywhereIsRefused) {
  write_checkpoint(path("c.npz"), small_checkpoint());
  const std::string whole = content("c.npz");
  const std::size_t directory = whole.find("PK\x01\x02");  // behind all members: what follows says nothing new
  ASSERT_NE(directory, std::string::npos);
  for (std::size_t size = 0; size < directory; size += 7) EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
}

TEST_F(CheckpointFile, OneWithAFlippedBitIsRefused) {
  write_checkpoint(path("c.npz"), small_checkpoint());
  const std::string whole = content("c.npz");
  const std::size_t numbers = whole.find("NUMPY", whole.find("result.left")) + 128;
  for (std::size_t at = numbers; at < numbers + 64; at += 5) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    expect_says(refusal(damaged), {"damaged.npz"});
  }
}

TEST_F(CheckpointFile, OneWithAWrongSizeBehindAMemberIsRefused) {
  // libarchive only warns of it, in the place of a number of bytes.
  write_checkpoint(path("c.npz"), small_checkpoint());
  std::string damaged = content("c.npz");
  const std::size_t behind = damaged.find("PK\x07\x08");
  ASSERT_NE(behind, std::string::npos);
  damaged[behind + 10] = 0x50;
  expect_says(refusal(damaged), {"damaged.npz", "is not a valid zip archive"});
}

TEST_F(CheckpointFile, OthersAreRefusedWithAReason) {
  write_model(path("model.npz"), Model{LowRankMatrix(3, 2), {}, {}, {}});
  expect_says(error_of([&] { read_checkpoint(path("model.npz")); }),
              {"model.npz", "is not a checkpoint of this program"});
  expect_says(refusal("1 2 3\n"), {"damaged.npz"});
  expect_says(refusal(""), {"is empty"});
  const std::int64_t later = 99;
  expect_says(refusal(zipped({{"checkpoint_schema.npy", npy<std::int64_t>("<i8", {}, {later})}})),
              {"another version", "schema 99", "reads 1"});
  expect_says(error_of([&] { read_checkpoint(path("absent.npz")); }), {"absent.npz"});
}

}  // namespace
}  // namespace tracenorm::io
