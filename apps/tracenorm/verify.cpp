// tracenorm verify: checks a certificate against data and answer, from scratch.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "commands.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "reading_options.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/verify.hpp"

namespace tracenorm::app {

namespace {

struct VerifyCommand {
  std::string data;
  std::string model;
  std::string certificate;
  std::string weights;
  std::string json;
  io::ReadOptions read;
  VerifyOptions verify;
  bool quiet = false;
};

constexpr int kRefuted = 1;

constexpr const char* kVerifyExamples = R"(Examples:
  tracenorm complete u.data --radius 600 --gap 0.01 --model m.npz --certificate c.npz
  tracenorm verify u.data m.npz c.npz

DATA is what the run read (several files as a folder, a pattern or @LIST), and is read in the same way: give the same options about its columns, format, missing values and weights.
Objective, trace norm and lower bound are computed anew in double, with every rounding error bounded; docs/certificates.md has the proofs.
Exit codes: 0 proved (or proved up to the probability that is printed), 1 refuted, 2 usage, 3 bad input.)";

/// Weights of a file of their own, in the order of the entries; NaN where it has none.
std::vector<Real> weights_from(const VerifyCommand& command, const Model& model, const Entries& entries) {
  const Entries weights =
      io::read_entries_like(io::data_files({command.weights}), model.rows, model.cols, model.factors.rows(),
                            model.factors.cols(), io::Strangers::leave_out,
                            {.duplicates = command.read.duplicates, .threads = command.read.threads})
          .entries;
  const auto key = [&](const Entries& of, std::size_t e) {
    return Offset{of.row[e]} * model.factors.cols() + of.col[e];
  };
  std::unordered_map<Offset, Real> known;
  for (std::size_t e = 0; e < weights.row.size(); ++e) known[key(weights, e)] = weights.value[e];
  std::vector<Real> out(entries.row.size(), std::numeric_limits<Real>::quiet_NaN());
  for (std::size_t e = 0; e < out.size(); ++e) {
    if (const auto found = known.find(key(entries, e)); found != known.end()) out[e] = found->second;
  }
  return out;
}

GivenData read_entries(const VerifyCommand& command, const Model& model) {
  const Index rows = model.factors.rows();
  const Index cols = model.factors.cols();
  const io::NamedEntries table = io::read_entries_like(io::data_files({command.data}), model.rows, model.cols, rows,
                                                       cols, io::Strangers::keep, command.read);
  GivenData data{rows, cols};
  for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
    if (table.entries.row[e] < 0 || table.entries.col[e] < 0) continue;
    data.entries.row.push_back(table.entries.row[e]);
    data.entries.col.push_back(table.entries.col[e]);
    data.entries.value.push_back(table.entries.value[e]);
    if (!table.weight.empty()) data.weight.push_back(table.weight[e]);
  }
  if (const Offset unknown = table.entries.size() - data.entries.size(); unknown > 0) {
    note(command.quiet,
         fmt::format("{}: {} entries have a row or column that the model does not know", command.data, unknown));
  }
  if (!command.weights.empty()) data.weight = weights_from(command, model, data.entries);
  return data;
}

GivenData read_matrix(const VerifyCommand& command) {
  const io::Matrix matrix = io::read_matrix(command.data, command.read);
  GivenData data{matrix.rows, matrix.cols};
  std::size_t place = 0;
  for (Index i = 0; i < matrix.rows; ++i) {
    for (Index j = 0; j < matrix.cols; ++j, ++place) {
      if (std::isnan(matrix.value[place])) continue;
      data.entries.row.push_back(i);
      data.entries.col.push_back(j);
      data.entries.value.push_back(matrix.value[place]);
    }
  }
  return data;
}

/// The part of the graph that the model is about: `links` may have taken the first nodes only.
GivenData read_graph(const VerifyCommand& command, io::GraphKind kind, const Model& model) {
  const io::Graph graph = io::read_graph(command.data, command.read, kind);
  GivenData data{model.factors.rows(), model.factors.cols()};
  data.unstored = Real(0);
  const auto add = [&](Index a, Index b) {
    if (a >= data.rows || b >= data.cols) return;
    data.entries.row.push_back(a);
    data.entries.col.push_back(b);
    data.entries.value.push_back(1);
  };
  for (const auto& [a, b] : graph.edges) {
    add(a, b);
    if (kind == io::GraphKind::undirected) add(b, a);
  }
  return data;
}

GivenData read_data(const VerifyCommand& command, DataKind kind, const Model& model) {
  switch (kind) {
    case DataKind::matrix:
      return read_matrix(command);
    case DataKind::graph:
      return read_graph(command, io::GraphKind::undirected, model);
    case DataKind::directed:
      return read_graph(command, io::GraphKind::directed, model);
    case DataKind::bipartite:
      return read_graph(command, io::GraphKind::bipartite, model);
    default:
      return read_entries(command, model);
  }
}

std::string to_json(const Verification& found) {
  const auto number = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
  nlohmann::json json{{"verdict", to_string(found.verdict)},
                      {"failure_probability", found.failure_probability},
                      {"trace_norm", number(found.trace_norm)},
                      {"objective", number(found.objective)},
                      {"norm", number(found.norm)},
                      {"lower_bound", number(found.lower_bound)},
                      {"relative_gap", number(found.relative_gap)},
                      {"steps", nlohmann::json::array()}};
  for (const VerificationStep& step : found.steps) {
    json["steps"].push_back({{"name", step.name}, {"holds", step.holds}, {"says", step.says}});
  }
  return json.dump(2) + "\n";
}

int run(const VerifyCommand& command) {
  check_outputs({{"--json", command.json}}, {command.data, command.model, command.certificate, command.weights});
  const Claim claim = io::read_certificate(command.certificate);
  const Model model = io::read_model(command.model);
  const Verification found = verify(claim, read_data(command, claim.kind, model), model, command.verify);
  if (!command.json.empty()) write_output(command.json, to_json(found));
  if (!command.quiet && command.json != kStdout) write_output(std::string(kStdout), to_text(found));
  return found.verdict == Verification::Verdict::refuted ? kRefuted : 0;
}

}  // namespace

void add_verify(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("verify", "check a certificate against data and answer, from scratch");
  const auto options = std::make_shared<VerifyCommand>();
  app->add_option("DATA", options->data, "what the run read")->required()->type_name("FILE");
  app->add_option("MODEL", options->model, "a file that --model wrote")->required()->type_name("FILE.npz");
  app->add_option("CERTIFICATE", options->certificate, "a file that --certificate wrote")
      ->required()
      ->type_name("FILE.npz");
  add_reading_options(*app, options->read);
  app->add_option("--weights", options->weights, "how much each entry counts: row, column, weight above 0")
      ->type_name("FILE")
      ->group("Data");
  add_integer(*app, "--threads", options->verify.threads, 0, 4096, "0: all cores; the verdict does not depend on it");
  add_integer(*app, "--largest-gram", options->verify.largest_gram, 0, 100000,
              "up to this many rows or columns (whichever are fewer) the largest singular value of the slopes is "
              "bounded by a factorisation, which takes 8 bytes times the square of it; above it by a random start");
  app->add_option_function<std::string>(
         "--seed",
         [options](const std::string& text) {
           options->verify.seed =
               static_cast<std::uint64_t>(to_integer("--seed", text, 0, std::numeric_limits<std::int64_t>::max()));
         },
         "of the random start (default: from the system, so that nobody can know it before)")
      ->type_name("N");
  app->add_option("--json", options->json, "the verdict, every step and every number; - for standard output")
      ->type_name("FILE");
  app->add_flag("--quiet,-q", options->quiet, "no notes, no steps: the exit code says it");
  app->footer(kVerifyExamples);
  app->callback([options, &action] {
    options->read.threads = options->verify.threads;
    action = [options] { return run(*options); };
  });
}

}  // namespace tracenorm::app
