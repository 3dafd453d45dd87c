#include "tracenorm/mpi.hpp"

// MPI's C functions alone: the C++ ones are gone from the standard, and need another library.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// How long a rank that failed waits for the others to fail as well.
constexpr std::chrono::milliseconds kPatience{1500};

/// MPI counts by int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(MPI_Comm whose) {
    MPI_Comm_dup(whose, &all_);
    MPI_Comm_dup(whose, &failed_);
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &neighbours_);
    MPI_Comm_free(&here);
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;
  ~MpiRanks() override {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    MPI_Comm_free(&all_);
    MPI_Comm_free(&failed_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int neighbours() const override { return neighbours_; }

  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    auto count = static_cast<unsigned long long>(mine.size());
    std::vector<unsigned long long> counts(ranks());
    MPI_Allgather(&count, 1, MPI_UNSIGNED_LONG_LONG, counts.data(), 1, MPI_UNSIGNED_LONG_LONG, all_);
    std::size_t total = 0;
    for (const unsigned long long one : counts) total += one;
    std::vector<std::byte> everything(total);
    std::size_t place = 0;
    for (int from = 0; from < size_; ++from) {  // one after the other, in pieces that MPI can count
      const std::span<std::byte> part = std::span(everything).subspan(place, counts[static_cast<std::size_t>(from)]);
      if (from == rank_) std::copy(mine.begin(), mine.end(), part.begin());
      send_from(from, part);
      place += part.size();
    }
    return everything;
  }

  void collect(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const auto each = static_cast<int>(mine.size());
    MPI_Allgather(mine.data(), each, MPI_BYTE, all.data(), each, MPI_BYTE, all_);
    count(mine.size() * (ranks() - 1));
  }

  void collect(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const std::size_t> begin) override {
    const Pieces pieces = pieces_of(begin, to_);
    MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), pieces.counts, pieces.places,
                   MPI_BYTE, all_);
    count(mine.size() * (ranks() - 1));
  }

  void trade(std::span<const std::byte> mine, std::span<const std::size_t> mine_begin, std::span<std::byte> all,
             std::span<const std::size_t> all_begin) override {
    const Pieces from = pieces_of(mine_begin, from_);
    const Pieces to = pieces_of(all_begin, to_);
    MPI_Alltoallv(mine.data(), from.counts, from.places, MPI_BYTE, all.data(), to.counts, to.places, MPI_BYTE, all_);
    count(mine.size() - static_cast<std::size_t>(from.counts[rank_]));
  }

  void sum(std::span<double> numbers) override {
    meet(numbers);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = numbers_[k];
      for (std::size_t from = 1; from < ranks(); ++from) numbers[k] += numbers_[from * numbers.size() + k];
    }
  }

  void largest(std::span<double> numbers) override {
    const std::size_t count = numbers.size();
    meet(numbers);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t from = 0; from < ranks(); ++from) {
        const double other = numbers_[from * count + k];
        if (!(other <= numbers[k])) numbers[k] = other;  // a NaN wins: everybody shall see it
      }
    }
  }

  void broadcast(std::span<std::byte> bytes, int from) override { send_from(from, bytes); }

  void send(int to, std::span<const std::byte> bytes) override {
    for (std::size_t place = 0; place < bytes.size(); place += kMostBytes) {
      const std::size_t now = std::min(kMostBytes, bytes.size() - place);
      MPI_Send(bytes.data() + place, static_cast<int>(now), MPI_BYTE, to, 0, all_);
      count(now);
    }
  }

  void receive(int from, std::span<std::byte> bytes) override {
    for (std::size_t place = 0; place < bytes.size(); place += kMostBytes) {
      const std::size_t now = std::min(kMostBytes, bytes.size() - place);
      MPI_Recv(bytes.data() + place, static_cast<int>(now), MPI_BYTE, from, 0, all_, MPI_STATUS_IGNORE);
    }
  }

  [[nodiscard]] bool all_failed() {
    MPI_Request everybody = MPI_REQUEST_NULL;
    MPI_Ibarrier(failed_, &everybody);
    for (int later = rank_ + 1; later < size_; ++later) {  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
      MPI_Request told = MPI_REQUEST_NULL;
      MPI_Isend(nullptr, 0, MPI_BYTE, later, 0, failed_, &told);
      MPI_Request_free(&told);  // nothing waits for it: it has no bytes
    }
    const auto begin = std::chrono::steady_clock::now();
    auto patience = kPatience;
    int done = 0;
    while (done == 0 && std::chrono::steady_clock::now() - begin < patience) {
      MPI_Test(&everybody, &done, MPI_STATUS_IGNORE);
      int earlier = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, failed_, &earlier, MPI_STATUS_IGNORE);
      if (earlier != 0) patience = 3 * kPatience;  // that rank will report, and end this one
      if (done == 0) ::usleep(1000);
    }
    for (int earlier = 0; done != 0 && earlier < rank_; ++earlier)
      MPI_Recv(nullptr, 0, MPI_BYTE, earlier, 0, failed_, MPI_STATUS_IGNORE);
    return done != 0;
  }

 private:
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size_); }

  void count(std::size_t bytes) {
    ++traffic_.calls;
    traffic_.bytes += static_cast<std::int64_t>(bytes);
  }

  void send_from(int from, std::span<std::byte> bytes) {
    for (std::size_t place = 0; place < bytes.size(); place += kMostBytes) {
      const std::size_t now = std::min(kMostBytes, bytes.size() - place);
      MPI_Bcast(bytes.data() + place, static_cast<int>(now), MPI_BYTE, from, all_);
      count(from == rank_ ? now : 0);
    }
  }

  /// The numbers of all ranks, in their order.
  void meet(std::span<const double> mine) {
    numbers_.resize(mine.size() * ranks());
    collect(std::as_bytes(mine), std::as_writable_bytes(std::span(numbers_)));
  }

  /// As MPI takes them.
  struct Pieces {
    const int* counts;
    const int* places;
  };
  Pieces pieces_of(std::span<const std::size_t> begin, std::vector<int>& buffer) const {
    buffer.resize(2 * ranks());
    for (std::size_t r = 0; r < ranks(); ++r) {
      buffer[r] = static_cast<int>(begin[r + 1] - begin[r]);
      buffer[ranks() + r] = static_cast<int>(begin[r]);
    }
    return {buffer.data(), buffer.data() + ranks()};
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Comm failed_ = MPI_COMM_NULL;  // whoever fails meets the others here, whatever these are doing elsewhere
  int rank_ = 0;
  int size_ = 1;
  int neighbours_ = 1;
  std::vector<double> numbers_;  // kept so that iterations do not allocate
  std::vector<int> from_;
  std::vector<int> to_;
};

MpiRanks* begin_mpi() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) {  // by somebody else, as mpi4py, it is theirs to end
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    std::atexit([] { MPI_Finalize(); });
  }
  return new MpiRanks(MPI_COMM_WORLD);  // as long as the process
}

}  // namespace

std::string why_no_mpi() { return {}; }

Ranks* mpi_ranks() {
  if (!started_among_ranks()) return nullptr;
  static MpiRanks* const ranks = begin_mpi();
  return ranks;
}

std::unique_ptr<Ranks> ranks_of(int communicator) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) throw Error(ErrorCode::usage, "a communicator without MPI, which has not begun");
  return std::make_unique<MpiRanks>(MPI_Comm_f2c(communicator));
}

bool all_failed(Ranks& ranks) { return static_cast<MpiRanks&>(ranks).all_failed(); }

void end_all_ranks(int code) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace tracenorm
