"""Every method behind one word: the same files, the same JSON, the same rules."""

import json

import numpy
from support import NONCONVEX, ProgramTest, load_model, names_to_index, read_triplets

# A command line per method that solves the small problem of `ratings`.
COMPLETION = {
    "fwua": ["--radius", 15],
    "rdfw": ["--radius", 15],
    "corrective": ["--radius", 15],
    "sccg": ["--radius", 15],
    "sccg-sg": ["--radius", 15],
    "hcgs": ["--radius", 15],
    "genfb": ["--loss", "squared", "--trace-penalty", 3],
    "rlrmc": ["--rank", 2],
    "glrl": ["--rank", 2],
}

# What each method has to fit of a matrix, and how.
MATRIX = {
    "rdfw": ["--radius", 3, "--l1", 0.05],
    "corrective": ["--radius", 3, "--l1", 0.05],
    "genfb": ["--trace-penalty", 0.5, "--l1", 0.05],
    "rlrmc": ["--loss", "absolute", "--rank", 2],
    "glrl": ["--rank", 2],
}


class MethodTest(ProgramTest):
    def test_one_word_changes_the_method(self):
        data = self.ratings()
        zero = self.run_json("complete", data, "--radius", 1e-9, "--iterations", 1)["objective"]
        for method, options in COMPLETION.items():
            with self.subTest(method=method):
                run = self.run_json(
                    "complete", data, "--method", method, *options, "--iterations", 100, "--model", "m.npz"
                )
                self.check_run(run)
                self.assertEqual((run["method"], run["options"]["method"]), (method, method))
                self.assertEqual(load_model(self.folder / "m.npz")["matrix"].shape, (30, 20))
                self.assertEqual(len(self.succeed("predict", "m.npz", data).stdout.splitlines()), run["observed"])
                if method != "genfb":  # the same loss as that of the zero matrix
                    self.assertLess(run["objective"], 0.9 * zero)

    def test_full_matrices(self):
        data = self.matrix()
        for method, options in MATRIX.items():
            with self.subTest(method=method):
                run = self.run_json("denoise", data, "--method", method, *options)
                self.check_run(run)
                self.assertEqual((run["method"], run["observed"]), (method, 24 * 18))
                self.assertLess(run["objective"], run["trace"][0]["objective"] * (1 + 1e-9))

    def test_graphs(self):
        data = self.edges()
        for options in (["rdfw", "--radius", 40], ["corrective", "--radius", 40], ["genfb", "--trace-penalty", 2]):
            run = self.run_json("links", data, "--l1", 0.01, "--method", *options)
            self.check_run(run)
            self.assertGreater(run["test"]["auc"], 0.7)

    def test_the_rank_is_kept(self):
        data = self.ratings()
        for options in (["rlrmc"], ["glrl"], ["rdfw", "--radius", 15]):
            for rank in (1, 3):
                run = self.run_json("complete", data, "--rank", rank, "--method", *options)
                self.check_run(run)
                self.assertLessEqual(run["rank"], rank)
                self.assertIs(type(run["options"]["rank"]), int)
                self.assertEqual(run["options"]["rank"], rank)

    def test_rank_drops_keep_the_rank_low(self):
        data = self.ratings()
        ranks = {
            method: self.run_json("complete", data, "--radius", 15, "--method", method)["rank"]
            for method in ("fwua", "rdfw")
        }
        self.assertLessEqual(ranks["rdfw"], ranks["fwua"])

    def test_rdfw_has_the_options_of_fwua(self):
        run = self.run_json(
            "complete",
            self.ratings(),
            "--radius",
            15,
            "--method",
            "rdfw",
            "--width",
            "paper",
            "--epsilon",
            0.01,
            "--step",
            "line-search",
            "--oracle-tolerance",
            0.2,
            "--oracle-products",
            6,
            "--interval",
            5,
        )
        self.check_run(run)
        for name, value in (
            ("width", "paper"),
            ("epsilon", 0.01),
            ("step", "line-search"),
            ("oracle_tolerance", 0.2),
            ("oracle_products", 6),
            ("interval", 5),
        ):
            self.assertEqual(run["options"][name], value)
        run = self.run_json(
            "complete", self.ratings(), "--radius", 15, "--method", "rdfw", "--width", "hybrid", "--floor", 0.2
        )
        self.assertEqual((run["options"]["width"], run["options"]["floor"]), ("hybrid", 0.2))

    def test_held_out_entries(self):
        data = self.ratings(share=0.9)
        for method, options in COMPLETION.items():
            with self.subTest(method=method):
                run = self.run_json(
                    "complete", data, "--method", method, *options, "--split", "0.6,0.2,0.2", "--iterations", 60
                )
                self.check_run(run)
                self.assertGreater(run["test"]["rmse"], 0)
                self.assertIn("validation_rmse", run["trace"][0])
                best = min(line["validation_rmse"] for line in run["trace"])
                self.assertLessEqual(run["validation"]["rmse_prepared"], 1.1 * best)

    def test_objective_from_the_saved_model(self):
        data = self.ratings()
        rows, cols, raw = read_triplets(self.folder / data)
        for method in sorted(NONCONVEX):
            run = self.run_json(
                "complete", data, "--method", method, "--rank", 3, "--complement", 0.01, "--model", "m.npz"
            )
            model = load_model(self.folder / "m.npz")
            row, col = names_to_index(model["row_names"]), names_to_index(model["col_names"])
            observed = ([row[r] for r in rows], [col[c] for c in cols])
            loss = numpy.abs(model["matrix"][observed] - (raw - model["offset"]) / model["scale"]).sum()
            unobserved = model["matrix"].copy()
            unobserved[observed] = 0
            self.assertAlmostEqual((loss + 0.01 * numpy.square(unobserved).sum()) / run["objective"], 1, delta=1e-5)
            metadata = json.loads(str(model["metadata"]))
            self.assertEqual((metadata["method"], metadata["radius"], metadata["lower_bound"]), (method, None, None))

    def test_the_same_bits_on_any_number_of_threads(self):
        # Large enough to be cut into several shards.
        self.succeed("generate", "completion", "t.tsv", "--rows", 300, "--cols", 250, "--observed", 0.4)
        for options in (["rdfw", "--radius", 300], ["rlrmc", "--rank", 3], ["glrl", "--rank", 3]):
            self.check_same_bits(
                "complete", "t.tsv", "--iterations", 15, "--split", "0.8,0.1,0.1", "--method", *options
            )
        self.succeed("generate", "covariance", "cov.npy", "--n", 120)
        self.check_same_bits("denoise", "cov.npy", "--l1", 0.2, "--iterations", 15, "--method", "genfb")
        self.check_same_bits("denoise", "cov.npy", "--l1", 0.2, "--iterations", 15, "--method", "rdfw", "--radius", 20)


class SummaryTest(ProgramTest):
    def test_methods_without_a_certificate_say_why(self):
        data = self.ratings()
        text = self.succeed("complete", data, "--method", "rlrmc", "--rank", 2).stdout
        self.assertIn("no certificate: rlrmc is nonconvex", text)
        self.assertIn("rank at most 2", text)
        self.assertNotIn("trace norm at most", text)
        text = self.succeed("complete", data, "--method", "glrl").stdout
        self.assertIn("no certificate: glrl is nonconvex", text)
        self.assertIn("glrl (our reading)", text)

    def test_genfb_shows_the_radius(self):
        text = self.succeed("denoise", self.matrix(), "--method", "genfb", "--trace-penalty", 0.5).stdout
        self.assertNotIn("not converged", text)
        for words in (
            "0.5 times the trace norm",
            "(radius for the bounded methods)",
            "certified: ",
            "of the penalised problem",
        ):
            self.assertIn(words, text)

    def test_genfb_says_that_it_has_not_converged(self):
        text = self.succeed("denoise", self.matrix(), "--method", "genfb", "--iterations", 2).stdout
        self.assertIn("but not converged", text)

    def test_a_penalty_that_leaves_nothing(self):
        done = self.succeed("denoise", self.matrix(), "--method", "genfb", "--trace-penalty", 1e6, "--json", "r.json")
        self.assertIn("the penalty leaves nothing", done.stdout)
        run = json.loads((self.folder / "r.json").read_text())
        self.assertEqual((run["rank"], run["trace_norm"]), (0, 0))
        self.assertLess(run["relative_gap"], 1e-6)


class PenalisedProblemTest(ProgramTest):
    """GenFB's trace norm is the radius at which the bounded methods solve the same problem."""

    def solve_penalised(self, *options):
        self.succeed("generate", "covariance", "cov.npy", "--n", 60, "--blocks", 3, "--quiet")
        return self.run_json(
            "denoise",
            "cov.npy",
            "--method",
            "genfb",
            "--l1",
            0.1,
            "--trace-penalty",
            1,
            "--iterations",
            3000,
            "--tolerance",
            1e-7,
            *options,
        )

    def test_objective_from_the_saved_model(self):
        run = self.solve_penalised("--model", "m.npz")
        x = load_model(self.folder / "m.npz")["matrix"]
        noisy = numpy.load(self.folder / "cov.npy")
        bounded = 0.5 * numpy.square(x - noisy).sum() + 0.1 * numpy.abs(x).sum()
        norm = numpy.linalg.svd(x)[1].sum()
        self.assertAlmostEqual(run["trace_norm"] / norm, 1, delta=1e-6)
        self.assertEqual(run["radius_for_bounded_methods"], run["trace_norm"])
        self.assertAlmostEqual(run["objective_without_trace_penalty"] / bounded, 1, delta=1e-5)
        self.assertAlmostEqual(run["objective"] / (bounded + norm), 1, delta=1e-5)

    def test_the_bounded_methods_agree(self):
        penalised = self.solve_penalised()
        self.assertEqual(penalised["status"], "converged")
        self.assertLess(penalised["relative_gap"], 0.01)
        radius, optimum = penalised["radius_for_bounded_methods"], penalised["objective_without_trace_penalty"]
        for method in ("fwua", "rdfw"):
            bounded = self.run_json(
                "denoise", "cov.npy", "--method", method, "--l1", 0.1, "--radius", radius, "--iterations", 2000
            )
            self.check_run(bounded)
            self.assertAlmostEqual(bounded["objective"] / optimum, 1, delta=0.01)
            self.assertLessEqual(bounded["lower_bound"], optimum * (1 + 1e-4))

    def test_a_gap_takes_the_method_for_it(self):
        data = self.ratings()
        run = self.run_json("complete", data, "--radius", 15, "--gap", 0.002)
        self.assertEqual((run["method"], run["status"]), ("corrective", "gap_reached"))
        self.assertLessEqual(run["relative_gap"], 0.002)
        held_out = self.run_json("complete", data, "--radius", 15, "--gap", 0.002, "--split", "0.8,0.1,0.1")
        self.assertLessEqual(held_out["relative_gap"], 0.002)  # not an earlier iterate that predicts better
        for options in (["--width", "paper"], ["--step", "line-search"], ["--method", "fwua"]):
            self.assertEqual(self.run_json("complete", data, "--radius", 15, "--gap", 0.3, *options)["method"], "fwua")
        self.assertEqual(
            self.run_json("complete", data, "--radius", 15, "--gap", 0.01, "--steps", 5)["method"], "corrective"
        )
        self.assertEqual(self.run_json("complete", data, "--radius", 15)["method"], "fwua")

    def test_corrective_without_a_gap_has_a_tolerance(self):
        data = self.ratings()
        run = self.run_json("complete", data, "--radius", 15, "--method", "corrective", "--tolerance", 0.01)
        self.assertEqual(run["status"], "gap_reached")
        self.assertLessEqual(run["relative_gap"], 0.01)
        chosen = self.run_json("complete", data, "--method", "corrective")
        self.assertEqual(chosen["method"], "corrective")
        self.assertGreater(len(chosen["radius_path"]), 1)

    def test_a_gap_is_certified_or_exit_1(self):
        self.solve_penalised()
        command = ["denoise", "cov.npy", "--method", "genfb", "--l1", 0.1, "--trace-penalty", 1]
        run = self.run_json(*command, "--gap", 0.05, "--iterations", 3000)
        self.assertEqual(run["status"], "gap_reached")
        done = self.run_program(*command, "--gap", 1e-9, "--iterations", 3)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("was not reached", done.stderr)


class UsageTest(ProgramTest):
    def test_the_radius_belongs_to_the_bounded_methods(self):
        data = self.ratings()
        for method in ("genfb", "rlrmc", "glrl"):
            self.fail_with(
                2,
                "complete",
                data,
                "--method",
                method,
                "--radius",
                5,
                says=("--radius", f"method {method} does not use it", "fwua, rdfw"),
            )

    def test_options_of_other_methods(self):
        base = ["complete", self.ratings(), "--radius", 5]
        self.fail_with(2, *base, "--method", "fwua", "--rank", 3, says=("--rank", "fwua", "rdfw, rlrmc, glrl"))
        self.fail_with(2, *base, "--method", "fwua", "--trace-penalty", 3, says=("--trace-penalty", "genfb"))
        self.fail_with(2, *base, "--method", "fwua", "--interval", 3, says=("--interval", "rdfw"))
        self.fail_with(2, *base, "--method", "rdfw", "--mu", 3, says=("--mu", "sccg"))
        self.fail_with(2, *base, "--method", "rdfw", "--epsilon", 1, says=("--epsilon", "rdfw with width paper"))
        base = base[:2]
        self.fail_with(2, *base, "--method", "genfb", "--rank", 3, says=("--rank", "rlrmc, glrl"))
        self.fail_with(2, *base, "--method", "rlrmc", "--width", "paper", says=("--width", "fwua, rdfw"))
        self.fail_with(2, *base, "--method", "glrl", "--step", "line-search", says=("--step", "fwua, rdfw", "genfb"))
        self.fail_with(2, *base, "--method", "glrl", "--oracle-products", 4, says=("--oracle-products", "hcgs"))

    def test_values_that_cannot_be(self):
        data = self.ratings()
        for method, option, value, right in (
            ("rlrmc", "--rank", "0", "a whole number from 1"),
            ("rlrmc", "--rank", "2.5", "a whole number"),
            ("corrective", "--steps", "2.5", "a whole number from 0 to 1000000"),
            ("fwua", "--oracle-products", "4.5", "a whole number from 2"),
            ("glrl", "--rank", "many", "a whole number"),
            ("glrl", "--tolerance", "2", "a number from 0 to 1"),
            ("genfb", "--step", "line-search", "a number from 0.001 to 1.999"),
            ("genfb", "--step", "2", "a number from 0.001 to 1.999"),
            ("genfb", "--trace-penalty", "-1", "a number that is 0 or more"),
            ("rlrmc", "--shrink", "0", "a number from 1e-06 to 1"),
        ):
            with self.subTest(method=method, option=option, value=value):
                self.fail_with(2, "complete", data, "--method", method, option, value, says=(option, value, right))

    def test_a_rank_larger_than_the_matrix(self):
        data = self.ratings(rows=12, cols=8)
        for method in NONCONVEX:
            self.fail_with(2, "complete", data, "--method", method, "--rank", 9, says=("rank = 9", "12 x 8", "to 8"))
            self.check_run(self.run_json("complete", data, "--method", method, "--rank", 8))

    def test_problems_a_method_does_not_solve(self):
        data = self.ratings()
        votes = self.write_triplets("votes.tsv", "aabb", "xyxy", [1, -1, -1, 1])
        self.fail_with(
            2,
            "complete",
            votes,
            "--method",
            "rlrmc",
            "--rank",
            1,
            "--loss",
            "hinge",
            says=("rlrmc", "hinge", "absolute"),
        )
        self.fail_with(2, "complete", data, "--method", "genfb", says=("genfb", "absolute", "smooth"))
        self.fail_with(2, "complete", data, "--method", "genfb", "--loss", "squared", "--complement", 1, says="genfb")
        for method in NONCONVEX:
            self.fail_with(2, "complete", data, "--method", method, "--rank", 2, "--l1", 1, says=(method, "l1"))

    def test_no_gap_without_a_certificate(self):
        for method in NONCONVEX:
            self.fail_with(
                2, "complete", self.ratings(), "--method", method, "--gap", 0.1, says=("--gap", method, "nonconvex")
            )


if __name__ == "__main__":
    import unittest

    unittest.main()
