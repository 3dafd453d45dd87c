// A stranger's program with files and a problem of its own.
#include <cstdio>
#include <tracenorm/tracenorm.hpp>

int main() {
  using namespace tracenorm;
  io::write_file("ratings.csv", "user,item,rating\na,x,1\na,y,2\nb,x,2\nb,y,4\nc,x,3\n");
  io::NamedEntries ratings = io::read_entries("ratings.csv");
  const Problem problem{make_sparse(ratings.rows, ratings.cols, ratings.entries), losses::Huber{0.5}, NoPenalty{},
                        TraceNormBall{9}};
  io::write_model("ratings.npz", {solve(problem).solution, ratings.row_labels, ratings.col_labels, {}, "{}"});
  const Model model = io::read_model("ratings.npz");
  std::printf("row %s, column %s: %.3f\n", model.rows.name(2).c_str(), model.cols.name(1).c_str(), model.predict(2, 1));
  return model.rows.name(2) == "c" ? 0 : 1;
}
