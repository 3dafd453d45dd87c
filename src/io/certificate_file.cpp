// Certificates as .npz files that NumPy opens as well.
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/npz.hpp"
#include "io/source.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm::io {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t certificate_schema = 1;
constexpr std::string_view real_name = sizeof(Real) == sizeof(float) ? "float32" : "float64";

bool is_full(const SparsePattern& pattern) {
  return pattern.entries() == Offset{pattern.rows()} * Offset{pattern.cols()};
}

std::string statement_of(const Claim& claim) {
  Json statement{
      {"version", TRACENORM_VERSION},
      {"rows", claim.observed.rows()},
      {"cols", claim.observed.cols()},
      {"entries", claim.observed.entries()},
      {"data", to_string(claim.kind)},
      {"weighted", claim.weighted},
      {"real", real_name},
      {"preparation", to_string(claim.preparation.kind)},
      {"offset", claim.preparation.offset},
      {"scale", claim.preparation.scale},
      {"loss", to_string(claim.loss)},
      {"penalty", to_string(claim.penalty)},
      {"radius", claim.constraint.radius},
      {"objective", claim.objective},
      {"lower_bound", claim.lower_bound},
      {"checksums",
       {{"data", claim.checksums.data}, {"answer", claim.checksums.answer}, {"dual", claim.checksums.dual}}}};
  if (claim.constraint.symmetric()) statement["symmetry"] = to_string(claim.constraint.symmetry);
  return statement.dump();
}

/// What the statement says goes into the claim; what it says about sizes is returned.
struct Sizes {
  Index rows;
  Index cols;
};
Sizes read_statement(const std::string& text, const std::string& path, Claim& claim) {
  const Json statement = Json::parse(text, nullptr, false);
  if (!statement.is_object()) fail("'{}': 'statement' is not a JSON object: {}", path, excerpt(text));
  try {
    if (const auto real = statement.at("real").get<std::string>(); real != real_name) {
      fail("'{}' was made by a build that keeps entries in {}; this one keeps them in {}", path, real, real_name);
    }
    claim.kind = parse_data_kind(statement.at("data").get<std::string>());
    claim.weighted = statement.at("weighted").get<bool>();
    claim.preparation.kind = parse_preparation(statement.at("preparation").get<std::string>());
    claim.preparation.offset = statement.at("offset").get<double>();
    claim.preparation.scale = statement.at("scale").get<double>();
    claim.loss = parse_loss(statement.at("loss").get<std::string>());
    claim.penalty = parse_penalty(statement.at("penalty").get<std::string>());
    claim.constraint.radius = statement.at("radius").get<double>();
    claim.constraint.symmetry = parse_symmetry(statement.value("symmetry", "none"));
    claim.objective = statement.at("objective").get<double>();
    claim.lower_bound = statement.at("lower_bound").get<double>();
    const Json& checksums = statement.at("checksums");
    claim.checksums = {checksums.at("data").get<std::uint32_t>(), checksums.at("answer").get<std::uint32_t>(),
                       checksums.at("dual").get<std::uint32_t>()};
    return {statement.at("rows").get<Index>(), statement.at("cols").get<Index>()};
  } catch (const Json::exception& error) {
    fail("'{}': 'statement' is damaged: {}", path, error.what());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::input) throw;
    fail("'{}': 'statement': {}", path, error.what());
  }
}

SparsePattern full_pattern(const Sizes& sizes) {
  std::vector<Offset> begin{0};
  std::vector<Index> col;
  col.reserve(static_cast<std::size_t>(sizes.rows) * static_cast<std::size_t>(sizes.cols));
  for (Index i = 0; i < sizes.rows; ++i) {
    for (Index j = 0; j < sizes.cols; ++j) col.push_back(j);
    begin.push_back(static_cast<Offset>(col.size()));
  }
  return {sizes.rows, sizes.cols, std::move(begin), std::move(col)};
}

}  // namespace

void write_certificate(const std::string& path, const Claim& claim) {
  AtomicFile file(path);
  ArchiveWriter archive([&](std::string_view bytes) { file.write(bytes); });
  const auto add = [&](const std::string& name, const std::string& bytes, bool compress = false) {
    archive.add(name + ".npy", bytes, compress);
  };
  add("schema", integer_bytes(certificate_schema));
  add("statement", text_bytes(statement_of(claim)), true);
  const SparsePattern& observed = claim.observed;
  std::vector<Offset> begin;
  std::vector<Index> col;
  if (!is_full(observed)) {
    begin.assign(observed.begin(), observed.begin() + observed.rows() + 1);
    observed.col().visit([&](const auto* from) { col.assign(from, from + observed.entries()); });
  }
  add("row_begin", vector_bytes(begin), true);
  add("col", vector_bytes(col), true);
  add("slope", vector_bytes(claim.dual.slope));
  add_factors(archive, "elsewhere_", claim.dual.elsewhere);
  add("row_weight", vector_bytes(claim.constraint.row_weight));
  add("col_weight", vector_bytes(claim.constraint.col_weight));
  add("row_offset", vector_bytes(claim.preparation.row_offset));
  add("col_offset", vector_bytes(claim.preparation.col_offset));
  add("replaced_row", vector_bytes(claim.replaced.row), true);
  add("replaced_col", vector_bytes(claim.replaced.col), true);
  add("replaced_value", vector_bytes(claim.replaced.value), true);
  add("row_ridge", vector_bytes(claim.row_ridge));
  add("col_ridge", vector_bytes(claim.col_ridge));
  add("row_shift", vector_bytes(claim.row_shift));
  add("col_shift", vector_bytes(claim.col_shift));
  archive.finish();
  file.commit();
}

Claim read_certificate(const std::string& path) {
  NpzArrays arrays(path, "a certificate of this program");
  if (arrays.has("metadata")) fail("'{}' is a model, not a certificate", path);
  const std::int64_t schema = arrays.integer("schema");
  if (schema != certificate_schema)
    fail("'{}' was made by another version: schema {}, this program reads {}", path, schema, certificate_schema);
  Claim claim;
  const Sizes sizes = read_statement(arrays.text("statement"), path, claim);
  claim.dual.slope = arrays.list<Real>("slope");
  std::vector<Offset> begin = arrays.list<Offset>("row_begin");
  std::vector<Index> col = arrays.list<Index>("col");
  if (begin.empty()) {
    // What is made from two numbers must be vouched for by what the file holds.
    const double slopes = static_cast<double>(sizes.rows) * sizes.cols;
    if (sizes.rows < 0 || sizes.cols < 0 || static_cast<double>(claim.dual.slope.size()) != slopes) {
      fail("'{}': the shapes do not fit together: {} slopes for {} x {}", path, claim.dual.slope.size(), sizes.rows,
           sizes.cols);
    }
    claim.observed = full_pattern(sizes);
  } else {
    claim.observed = SparsePattern(sizes.rows, sizes.cols, std::move(begin), std::move(col));
  }
  claim.dual.elsewhere = arrays.factors("elsewhere_");
  claim.constraint.row_weight = arrays.list("row_weight");
  claim.constraint.col_weight = arrays.list("col_weight");
  claim.preparation.row_offset = arrays.list("row_offset");
  claim.preparation.col_offset = arrays.list("col_offset");
  claim.replaced = {arrays.list<Index>("replaced_row"), arrays.list<Index>("replaced_col"),
                    arrays.list<Real>("replaced_value")};
  claim.row_ridge = arrays.list("row_ridge");
  claim.col_ridge = arrays.list("col_ridge");
  claim.row_shift = arrays.list("row_shift");
  claim.col_shift = arrays.list("col_shift");
  return claim;
}

}  // namespace tracenorm::io
