"""tracenorm complete: robust matrix completion."""

import gzip
import json

import numpy
from support import ProgramTest, load_model, names_to_index, read_triplets


class CompleteTest(ProgramTest):
    def test_summary_and_json_file(self):
        data = self.ratings()
        done = self.succeed(
            "complete", data, "--radius", 15, "--method", "fwua", "--iterations", 50, "--json", "run.json"
        )
        self.assertEqual(done.stderr, "")
        for words in (
            "objective",
            "lower bound",
            "rank",
            "trace norm",
            "iterations",
            "seconds",
            "certified: objective is at most ",
            " % above the optimum (proof: ",
        ):
            self.assertIn(words, done.stdout)
        run = json.loads((self.folder / "run.json").read_text())
        self.check_run(run)
        self.assertEqual(run["status"], "iteration_limit")
        self.assertEqual((run["method"], run["loss"], run["iterations"]), ("fwua", "absolute", 50))
        self.assertEqual((run["rows"], run["cols"]), (30, 20))
        self.assertIsNone(run["test"])
        self.assertEqual(run["options"]["prepare"], "zscore")
        self.assertEqual((run["options"]["width"], run["options"]["step"]), ("balanced", "measured"))

    def test_objective_from_the_saved_model(self):
        data = self.ratings()
        for loss, value in (("absolute", numpy.abs), ("squared", numpy.square)):
            run = self.run_json(
                "complete", data, "--radius", 15, "--loss", loss, "--model", "m.npz", "--iterations", 80
            )
            model = load_model(self.folder / "m.npz")
            rows, cols, raw = read_triplets(self.folder / data)
            row, col = names_to_index(model["row_names"]), names_to_index(model["col_names"])
            prepared = (raw - model["offset"]) / model["scale"]
            fitted = model["matrix"][[row[r] for r in rows], [col[c] for c in cols]]
            self.assertAlmostEqual(value(fitted - prepared).sum() / run["objective"], 1, delta=1e-5)
            self.assertAlmostEqual(model["offset"], raw.mean(), places=5)
            self.assertAlmostEqual(model["scale"], raw.std(ddof=1), places=5)
            self.assertAlmostEqual(numpy.linalg.svd(model["matrix"])[1].sum() / run["trace_norm"], 1, delta=1e-9)
            metadata = json.loads(str(model["metadata"]))
            self.assertEqual(metadata["objective"], run["objective"])
            self.assertEqual(metadata["radius"], 15)

    def test_penalty_on_unobserved_entries(self):
        data = self.ratings()
        run = self.run_json("complete", data, "--radius", 15, "--complement", 0.05, "--model", "m.npz")
        self.check_run(run)
        model = load_model(self.folder / "m.npz")
        rows, cols, raw = read_triplets(self.folder / data)
        row, col = names_to_index(model["row_names"]), names_to_index(model["col_names"])
        observed = ([row[r] for r in rows], [col[c] for c in cols])
        loss = numpy.abs(model["matrix"][observed] - (raw - model["offset"]) / model["scale"]).sum()
        unobserved = model["matrix"].copy()
        unobserved[observed] = 0
        self.assertAlmostEqual((loss + 0.05 * numpy.square(unobserved).sum()) / run["objective"], 1, delta=1e-5)

    def test_l1_penalty(self):
        run = self.run_json("complete", self.ratings(), "--radius", 15, "--l1", 0.1)
        self.check_run(run)
        self.assertEqual(run["penalty"], "l1:0.1")

    def test_split_holds_out_and_selects(self):
        data = self.ratings(share=0.9)
        entries = len((self.folder / data).read_text().splitlines())
        run = self.run_json("complete", data, "--radius", 60, "--split", "0.5,0.25,0.25", "--iterations", 100)
        self.check_run(run)
        parts = run["observed"], run["validation"]["entries"], run["test"]["entries"]
        self.assertEqual(sum(parts), entries)
        self.assertAlmostEqual(parts[0] / entries, 0.5, delta=0.01)
        for name in ("rmse", "mae", "rmse_prepared", "mae_prepared"):
            self.assertGreater(run["test"][name], 0)
        scale = run["preparation"]["scale"]
        self.assertAlmostEqual(run["test"]["rmse"], run["test"]["rmse_prepared"] * scale, places=9)
        best = min(line["validation_rmse"] for line in run["trace"] if line["k"] % 10 == 0)
        self.assertAlmostEqual(run["validation"]["rmse_prepared"] / best, 1, delta=1e-4)
        percent = self.run_json("complete", data, "--radius", 60, "--split", "50,25,25", "--iterations", 100)
        self.assertEqual(percent["test"], run["test"])

    def test_patience_stops_early(self):
        run = self.run_json(
            "complete", self.ratings(), "--radius", 500, "--split", "0.6,0.4,0", "--iterations", 3000, "--patience", 40
        )
        self.assertEqual(run["status"], "validation_limit")
        self.assertLess(run["iterations"], 3000)

    def test_test_file_in_raw_units(self):
        data = self.ratings()
        rows, cols, raw = read_triplets(self.folder / data)
        self.write_triplets("test.tsv", [*rows[:50], "stranger"], [*cols[:50], cols[0]], [*raw[:50], 3])
        done = self.succeed(
            "complete", data, "--radius", 15, "--test", "test.tsv", "--model", "m.npz", "--json", "r.json"
        )
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"RMSE .*51 entries; 1 of them of a row or column without training data")
        run = json.loads((self.folder / "r.json").read_text())
        self.assertEqual((run["test"]["entries"], run["test"]["unknown"]), (51, 1))
        model = load_model(self.folder / "m.npz")
        row, col = names_to_index(model["row_names"]), names_to_index(model["col_names"])
        fitted = model["matrix"][[row[r] for r in rows[:50]], [col[c] for c in cols[:50]]]
        errors = numpy.append(model["offset"] + model["scale"] * fitted - raw[:50], model["offset"] - 3)
        self.assertAlmostEqual(run["test"]["rmse"], numpy.sqrt(numpy.square(errors).mean()), places=5)
        self.assertAlmostEqual(run["test"]["mae"], numpy.abs(errors).mean(), places=5)

    def test_labels_are_judged_by_their_ranking(self):
        random = numpy.random.default_rng(3)
        scores = numpy.outer(random.normal(size=20), random.normal(size=15))
        rows, cols = numpy.nonzero(numpy.ones_like(scores))
        data = self.write_triplets("votes.tsv", rows, cols, numpy.where(scores > 0, 1, -1).ravel())
        for loss in ("logistic", "hinge"):
            run = self.run_json("complete", data, "--radius", 30, "--loss", loss, "--split", "0.7,0,0.3")
            self.check_run(run)
            self.assertEqual(run["options"]["prepare"], "none")
            self.assertGreater(run["test"]["auc"], 0.8)
            self.assertNotIn("rmse", run["test"])

    def test_every_method_and_its_options(self):
        data = self.ratings()
        for options in (
            ["fwua", "--width", "paper", "--epsilon", "0.01"],
            ["fwua", "--width", "hybrid", "--floor", "0.2"],
            ["fwua", "--share", "0.5"],
            ["fwua", "--step", "line-search"],
            ["sccg", "--mu", "0.05"],
            ["sccg-sg"],
            ["hcgs", "--beta", "0.5"],
        ):
            run = self.run_json("complete", data, "--radius", 15, "--method", *options)
            self.check_run(run)
            self.assertEqual(run["method"], options[0])
            for name, value in zip(options[1::2], options[2::2], strict=True):
                self.assertEqual(str(run["options"][name[2:].replace("-", "_")]), value)

    def test_gap_is_certified_or_exit_1(self):
        data = self.ratings()
        run = self.run_json("complete", data, "--radius", 15, "--gap", 0.05, "--iterations", 5000)
        self.assertEqual(run["status"], "gap_reached")
        self.assertLessEqual(run["relative_gap"], 0.05)
        done = self.run_program("complete", data, "--radius", 15, "--gap", 1e-8, "--iterations", 5)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("was not reached", done.stderr)
        self.assertIn("certified:", done.stdout)

    def test_a_single_row_and_a_single_entry(self):
        row = self.write_triplets("row.tsv", ["only"] * 4, "abcd", [1, 2, 3, 5])
        self.check_run(self.run_json("complete", row, "--radius", 3))
        entry = self.write_triplets("entry.tsv", ["r"], ["c"], [7])
        run = self.run_json("complete", entry, "--radius", 100, "--prepare", "none", "--model", "m.npz")
        self.assertEqual((run["rows"], run["cols"], run["observed"]), (1, 1, 1))

    def test_all_entries_equal_work_without_z_scores(self):
        data = self.write_triplets("same.tsv", "aabb", "cdcd", [3, 3, 3, 3])
        run = self.run_json("complete", data, "--radius", 5, "--prepare", "center")
        self.assertLess(run["objective"], 0.1)  # the optimum is 0

    def test_compressed_data(self):
        data = self.ratings()
        (self.folder / "r.tsv.gz").write_bytes(gzip.compress((self.folder / data).read_bytes()))
        plain = self.run_json("complete", data, "--radius", 15)
        packed = self.run_json("complete", "r.tsv.gz", "--radius", 15)
        self.assertEqual(plain["objective"], packed["objective"])

    def test_a_profile_says_where_time_and_memory_went(self):
        self.ratings("ratings.tsv", rows=60, cols=50, share=0.6)
        run = self.run_json("complete", "ratings.tsv", "--split", "0.8,0,0.2")
        phases = [phase["phase"] for phase in run["profile"]]
        expected = ["read", "split", "prepare", "search", "iterations", "certificate", "answer", "test"]
        self.assertEqual(phases, expected)
        for phase in run["profile"]:
            self.assertGreaterEqual(phase["seconds"], 0)
            self.assertGreater(phase["peak_bytes"], 1e6)
        passes = {phase["phase"]: phase["passes"] for phase in run["profile"]}
        self.assertGreater(passes["search"], 10)
        self.assertAlmostEqual(passes["iterations"] + passes["certificate"], run["counters"]["passes"], places=6)
        run = self.run_json("complete", "ratings.tsv", "--radius", 20, "--iterations", 5)
        phases = [phase["phase"] for phase in run["profile"]]
        self.assertEqual(phases, ["read", "split", "prepare", "iterations", "certificate", "answer"])
        said = self.succeed("complete", "ratings.tsv", "--radius", 20).stdout
        self.assertRegex(said, r"profile +read .* s.*; at most .*[MG]B")

    def test_duplicates_as_asked(self):
        data = self.write("twice.tsv", "a\tx\t1\na\tx\t3\nb\tx\t2\nb\ty\t4\na\ty\t1\n")
        offsets = {}
        for rule in ("first", "last", "mean"):
            run = self.run_json("complete", data, "--radius", 1, "--duplicates", rule)
            offsets[rule] = run["preparation"]["offset"]
            self.assertEqual(run["observed"], 4)
        self.assertEqual(offsets, {"first": 2.0, "last": 2.5, "mean": 2.25})

    def test_outliers(self):
        data = self.ratings(rows=60, cols=40)
        command = ["complete", data, "--radius", 40, "--split", "0.5,0.25,0.25", "--seed", 3]
        clean = self.run_json(*command)
        spoilt = self.run_json(*command, "--outliers", 0.2)
        # The unit is that of the clean training part; the preparation sees the shifts: variance 1 + 0.2 * 25.
        self.assertEqual(clean["options"]["train_deviation"], spoilt["options"]["train_deviation"])
        self.assertAlmostEqual(clean["preparation"]["scale"], clean["options"]["train_deviation"], delta=1e-6)
        ratio = spoilt["preparation"]["scale"] / clean["preparation"]["scale"]
        self.assertAlmostEqual(ratio, 6**0.5, delta=0.15)
        self.assertEqual(clean["test"]["entries"], spoilt["test"]["entries"])
        self.assertGreater(spoilt["test"]["rmse"], clean["test"]["rmse"])
        self.fail_with(2, *command, "--outliers", 2, says="--outliers")


if __name__ == "__main__":
    import unittest

    unittest.main()
