// Writes the inputs that fuzzing begins with, a folder a target: fuzz_seeds FOLDER. They are committed as corpus/.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/archive.hpp"
#include "io/npz.hpp"
#include "io/source.hpp"
#include "member_names.hpp"
#include "tracenorm/io.hpp"

namespace {

using namespace tracenorm;
namespace fs = std::filesystem;

class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) {}

  /// One more for a target.
  void add(const std::string& target, const std::string& bytes) {
    fs::create_directories(folder_ / target);
    const auto count = std::distance(fs::directory_iterator(folder_ / target), {});
    std::ofstream(folder_ / target / ("seed" + std::to_string(count)), std::ios::binary) << bytes;
  }
  /// A file behind the byte that chooses options.
  void add_file(const std::string& target, const std::string& bytes, char options = 0) { add(target, options + bytes); }

  /// The members of an archive that a function writes.
  template <class Write>
  void add_archive(const std::string& target, const fuzz::Names& names, Write&& write) {
    const std::string path = (folder_ / "made.npz").string();
    write(path);
    io::ArchiveReader archive(io::open_source(path));
    std::string seed(1, '\x01');
    while (archive.next()) {
      const std::string name = archive.member().substr(0, archive.member().size() - std::strlen(".npy"));
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) continue;
      std::string bytes(1 << 16, '\0');
      bytes.resize(archive.content().read(bytes.data(), bytes.size()));
      seed += static_cast<char>(at - names.begin());
      seed += static_cast<char>(bytes.size() & 0xffU);
      seed += static_cast<char>(bytes.size() >> 8U);
      seed += bytes;
    }
    add(target, seed);
    std::ifstream whole(path, std::ios::binary);
    add(target, std::string(1, '\0') + std::string(std::istreambuf_iterator<char>(whole), {}));
    fs::remove(path);
  }

 private:
  fs::path folder_;
};

void add_texts(Seeds& seeds) {
  for (const char* text :
       {"alice\tmatrix\t5\nbob\tmatrix\t3.5\nalice\talien\t1\n", "1,2,3\n2,1,-4e-2\n",
        "userId,movieId,rating,timestamp\n1,10,4.0,964982703\n2,10,NA,964982931\n",
        "1::2::5::978300760\n1::3::4::978302109\n", "# note\n\"a b\";\"c\";99\n", "1 1 1\r\n1 1 2\r\n"}) {
    seeds.add_file("triplets", text);
    seeds.add_file("triplets", text, 15);
    seeds.add_file("auto", text);
    seeds.add_file("parts", text);
    seeds.add_file("parts", std::string(text) + "\f" + text, 9);
  }
  seeds.add_file("parts", "a,x,1\nb,y,2\na,y,2.5\n\fc,x,4\nb,x,1", 16);
  seeds.add_file("parts", "user,item,rating\na,x,1\n\fuser,item,rating\nb,x,1\nb,y,2\n\fuser,item,rating\na,z,3", 0);
  seeds.add_file("libmf", "0 0 1\n5 3 -2.5\n");
  seeds.add_file("edges", "# a graph\n1 2\n2 3\n3 3\n2 1\n");
  for (const char* text : {"%%MatrixMarket matrix coordinate real general\n% note\n3 2 2\n1 1 1.5\n3 2 -4\n",
                           "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
                           "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n"}) {
    seeds.add_file("matrix-market", text);
    seeds.add_file("whole", text, 0);
    seeds.add_file("whole", text, 1);
    seeds.add_file("auto", text);
  }
  for (const char* text : {"a,b,c\n1,2,3\n4,,6\n", "1 2 3\n4 nan 6\n", "name;x;y\nr;1,5;2\n"}) {
    seeds.add_file("matrix", text);
    seeds.add_file("whole", text, 1);
  }
  const std::string zscore = "fwua\nwidth\npaper\nstep\nline-search\nhuber:0.5\nl1:0.1\nzscore\nmatrix-market\nx.npy\n";
  seeds.add("options", zscore);
  seeds.add("options", "rlrmc\nrank\n3\ngap\n0.01\niterations\n100\n");
  for (int k = 0; k < 8; ++k) {
    std::string bytes;
    for (int b = 0; b < 150; ++b) bytes += static_cast<char>((b * (37 + 2 * k) + k * 11) & 0xff);
    seeds.add("solve", bytes);
  }
}

void add_arrays(Seeds& seeds) {
  const std::vector<double> numbers{1, 2, 3, std::numeric_limits<double>::quiet_NaN(), 5, 6};
  for (const bool columns : {false, true}) {
    const std::string bytes =
        io::npy_header("<f8", columns, {2, 3}) +
        std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    seeds.add_file("npy", bytes);
    seeds.add_file("whole", bytes, 1);
    seeds.add_file("auto", bytes);
  }
  for (const char* format : {"csr", "csc", "coo"}) {
    seeds.add_archive("scipy", fuzz::scipy_names(), [&](const std::string& path) {
      std::ofstream file(path, std::ios::binary);
      io::ArchiveWriter archive([&](std::string_view bytes) { file << bytes; });
      archive.add("format.npy", io::array_bytes("|S3", {}, format, 3), false);
      archive.add("shape.npy", io::vector_bytes(std::vector<Offset>{2, 3}), false);
      archive.add("data.npy", io::vector_bytes(std::vector<double>{1, 2, 3}), false);
      if (std::string(format) == "coo") {
        archive.add("row.npy", io::vector_bytes(std::vector<Index>{0, 1, 1}), false);
        archive.add("col.npy", io::vector_bytes(std::vector<Index>{2, 0, 1}), false);
      } else {
        archive.add("indices.npy", io::vector_bytes(std::vector<Index>{0, 1, 1}), false);
        archive.add("indptr.npy",
                    io::vector_bytes(std::string(format) == "csr" ? std::vector<Index>{0, 1, 3}
                                                                  : std::vector<Index>{0, 1, 2, 3}),
                    false);
      }
      archive.finish();
    });
  }
}

void add_results(Seeds& seeds) {
  Checkpoint last;
  const Result result = fuzz::small_run({}, &last);
  for (const char* target : {"model", "model-rows"}) {
    seeds.add_archive(target, fuzz::model_names(), [&](const std::string& path) {
      Model model{result.solution, {}, {}, {}};
      model.rows.names = {"a", "b", "c", "d", "e", "f"};
      model.metadata = "{}";
      io::write_model(path, model);
    });
  }
  seeds.add_archive("certificate", fuzz::certificate_names(), [&](const std::string& path) {
    RunOptions run;
    run.iterations = 5;
    run.keep_dual = true;
    const Problem& problem = fuzz::small_problem();
    io::write_certificate(path, claim_of(problem, {}, solve(problem, methods::FrankWolfe{}, run)));
  });
  seeds.add_archive("checkpoint", fuzz::checkpoint_names(),
                    [&](const std::string& path) { io::write_checkpoint(path, fuzz::small_checkpoint()); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  fs::create_directories(argv[1]);
  Seeds seeds(argv[1]);
  add_texts(seeds);
  add_arrays(seeds);
  add_results(seeds);
  return 0;
}
