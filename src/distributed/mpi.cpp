#include "distributed/mpi.hpp"

// MPI's C functions alone: the C++ ones are gone from the standard, and need another library.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>

#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// Fewer numbers than this travel at once, to everybody; of more, each rank adds up a part.
constexpr std::size_t kFewNumbers = 128;

/// How long a rank that failed waits for the others to fail as well.
constexpr std::chrono::milliseconds kPatience{1500};

/// MPI counts by int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

MPI_Datatype type_of(double /*number*/) { return MPI_DOUBLE; }
MPI_Datatype type_of(float /*number*/) { return MPI_FLOAT; }

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

  void sum(std::span<double> numbers) override { add_up(numbers, doubles_); }
  void sum(std::span<float> numbers) override { add_up(numbers, floats_); }

  void largest(std::span<double> numbers) override {
    const std::size_t count = numbers.size();
    doubles_.resize(count * ranks());
    exchange(numbers.data(), count, doubles_.data());
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t from = 0; from < ranks(); ++from) {
        const double other = doubles_[from * count + k];
        if (!(other <= numbers[k])) numbers[k] = other;  // a NaN wins: everybody shall see it
      }
    }
  }

  void broadcast(std::span<std::byte> bytes) override { send_from(0, bytes); }

  [[nodiscard]] bool all_failed() {
    MPI_Request everybody = MPI_REQUEST_NULL;
    MPI_Ibarrier(failed_, &everybody);
    const auto begin = std::chrono::steady_clock::now();
    int done = 0;
    while (done == 0 && std::chrono::steady_clock::now() - begin < kPatience) {
      MPI_Test(&everybody, &done, MPI_STATUS_IGNORE);
      if (done == 0) ::usleep(1000);
    }
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

  /// What every rank has, in their order.
  template <class Number>
  void exchange(const Number* mine, std::size_t each, Number* all) {
    MPI_Allgather(mine, static_cast<int>(each), type_of(Number()), all, static_cast<int>(each), type_of(Number()),
                  all_);
    count(each * sizeof(Number) * (ranks() - 1));
  }

  /// MPI's own reductions may add in any order, and in another one on each rank.
  template <class Number>
  void add_up(std::span<Number> numbers, std::vector<Number>& buffer) {
    if (numbers.size() <= kFewNumbers) {
      buffer.resize(numbers.size() * ranks());
      exchange(numbers.data(), numbers.size(), buffer.data());
      std::copy_n(buffer.begin(), numbers.size(), numbers.begin());
      for (std::size_t from = 1; from < ranks(); ++from) add(buffer.data() + from * numbers.size(), numbers);
      return;
    }
    const std::size_t most = kMostBytes / sizeof(Number);
    for (std::size_t place = 0; place < numbers.size(); place += most) {
      add_up_parts(numbers.subspan(place, std::min(most, numbers.size() - place)), buffer);
    }
  }

  template <class Number>
  static void add(const Number* more, std::span<Number> to) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += more[k];
  }

  /// Every rank adds up one part of the numbers and gives the sum to all.
  template <class Number>
  void add_up_parts(std::span<Number> numbers, std::vector<Number>& buffer) {
    std::vector<int>& counts = counts_;
    std::vector<int>& places = places_;
    std::vector<int>& mine = mine_;
    std::vector<int>& stacked = stacked_;
    for (std::vector<int>* list : {&counts, &places, &mine, &stacked}) list->resize(ranks());
    for (std::size_t r = 0; r < ranks(); ++r) {
      places[r] = static_cast<int>(numbers.size() * r / ranks());
      counts[r] = static_cast<int>(numbers.size() * (r + 1) / ranks()) - places[r];
    }
    const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]);
    for (std::size_t r = 0; r < ranks(); ++r) {
      mine[r] = static_cast<int>(own);
      stacked[r] = static_cast<int>(own * r);
    }
    buffer.resize(own * ranks());
    const MPI_Datatype type = type_of(Number());
    MPI_Alltoallv(numbers.data(), counts.data(), places.data(), type, buffer.data(), mine.data(), stacked.data(), type,
                  all_);
    for (std::size_t from = 1; from < ranks(); ++from) add(buffer.data() + from * own, std::span(buffer.data(), own));
    MPI_Allgatherv(buffer.data(), static_cast<int>(own), type, numbers.data(), counts.data(), places.data(), type,
                   all_);
    count((numbers.size() - own) * sizeof(Number));
    count(own * (ranks() - 1) * sizeof(Number));
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Comm failed_ = MPI_COMM_NULL;  // whoever fails meets the others here, whatever these are doing elsewhere
  int rank_ = 0;
  int size_ = 1;
  int neighbours_ = 1;
  std::vector<double> doubles_;
  std::vector<float> floats_;
  std::vector<int> counts_;
  std::vector<int> places_;
  std::vector<int> mine_;
  std::vector<int> stacked_;
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
