"""tracenorm generate: synthetic problems with known truth."""

import numpy
from support import ProgramTest, parse_strict, read_triplets


class CovarianceTest(ProgramTest):
    def test_blocks_of_rank_one(self):
        done = self.succeed("generate", "covariance", "cov.npy", "--n", 53, "--blocks", 5, "--noise", 0.2, "--truth")
        self.assertIn("cov.truth.npy", done.stdout)
        noisy, truth = numpy.load(self.folder / "cov.npy"), numpy.load(self.folder / "cov.truth.npy")
        self.assertEqual(noisy.shape, (53, 53))
        self.assertEqual(numpy.linalg.matrix_rank(truth, tol=1e-4), 5)
        numpy.testing.assert_array_equal(truth, truth.T)
        self.assertLess(numpy.count_nonzero(truth), 5 * 11 * 11 + 1)
        self.assertAlmostEqual((noisy - truth).std(), 0.2, delta=0.02)

    def test_literal_blocks(self):
        self.succeed("generate", "covariance", "cov.npy", "--n", 50, "--literal", "--noise", 0)
        matrix = numpy.load(self.folder / "cov.npy")
        self.assertEqual(numpy.linalg.matrix_rank(matrix, tol=1e-4), 50)
        self.assertEqual(numpy.count_nonzero(matrix), 5 * 10 * 10)

    def test_same_seed_same_file(self):
        for name, seed in (("a.npy", 1), ("b.npy", 1), ("c.npy", 2)):
            self.succeed("generate", "covariance", name, "--n", 20, "--seed", seed, "--quiet")
        a, b, c = ((self.folder / f"{x}.npy").read_bytes() for x in "abc")
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)


class CompletionTest(ProgramTest):
    def test_counts_and_truth(self):
        done = self.succeed(
            "generate",
            "completion",
            "t.tsv",
            "--rows",
            60,
            "--cols",
            50,
            "--rank",
            3,
            "--observed",
            0.3,
            "--outliers",
            0.1,
            "--truth",
            "truth.tsv",
            "--truth-entries",
            700,
            "--json",
            "-",
        )
        facts = parse_strict(done.stdout)
        self.assertEqual((facts["observed"], facts["outliers"], facts["truth_entries"]), (900, 90, 700))
        seen = read_triplets(self.folder / "t.tsv")
        truth = read_triplets(self.folder / "truth.tsv")
        self.assertEqual((len(seen[2]), len(truth[2])), (900, 700))
        self.assertFalse(set(zip(*seen[:2], strict=True)) & set(zip(*truth[:2], strict=True)))
        self.assertAlmostEqual(truth[2].std(), 1, delta=0.3)
        self.assertGreater(facts["trace_norm"], 0)

    def test_parts(self):
        """As many files as one likes, the same lines; numbers as they were asked for."""
        shape = ["--rows", 400, "--cols", 90, "--rank", 3]
        for parts in (1, 7):
            self.succeed("generate", "completion", f"in{parts}", *shape, "--parts", parts, "--noise", 0.5, "--quiet")
        lines = {
            parts: [path.read_text() for path in sorted((self.folder / f"in{parts}").iterdir())] for parts in (1, 7)
        }
        self.assertEqual((len(lines[7]), "".join(lines[7])), (7, lines[1][0]))
        seen = read_triplets(self.folder / "in1/part-000000.tsv")
        self.assertEqual(len(set(zip(*seen[:2], strict=True))), len(seen[2]))
        self.assertAlmostEqual(len(seen[2]) / (400 * 90), 0.2, delta=0.02)

        made = self.succeed("generate", "completion", "all", *shape, "--parts", 2, "--observed", 1, "--outliers", 0,
                            "--json", "-")  # fmt: skip
        facts = parse_strict(made.stdout)
        halves = [read_triplets(path)[2] for path in sorted((self.folder / "all").iterdir())]
        values = numpy.linalg.svd(numpy.concatenate(halves).reshape(400, 90))[1]
        self.assertAlmostEqual(facts["trace_norm"] / values.sum(), 1, delta=1e-5)
        self.assertLess(values[3], 1e-4 * values[2])
        self.assertAlmostEqual(values @ values / (400 * 90), 1, delta=0.3)
        done = self.succeed("generate", "completion", "dirty", *shape, "--parts", 1, "--observed", 1, "--outliers", 0.1,
                            "--json", "-")  # fmt: skip
        change = numpy.abs(read_triplets(self.folder / "dirty/part-000000.tsv")[2] - numpy.concatenate(halves))
        wrong = numpy.count_nonzero(change > 1e-4)
        self.assertEqual(wrong, parse_strict(done.stdout)["outliers"])
        self.assertAlmostEqual(wrong / (400 * 90), 0.1, delta=0.02)
        self.assertGreater(change[change > 1e-4].min(), 4.99)
        self.fail_with(3, "generate", "completion", "all", "--parts", 2, says="it is there already")
        self.fail_with(2, "generate", "completion", "new", "--parts", 2, "--truth", says="do not go together")

    def test_outliers_are_gross_and_the_rest_is_exact(self):
        for name, share in (("clean.tsv", 0), ("dirty.tsv", 0.2)):
            self.succeed(
                "generate", "completion", name, "--rows", 40, "--cols", 30, "--observed", 0.5, "--outliers", share
            )
        clean, dirty = read_triplets(self.folder / "clean.tsv"), read_triplets(self.folder / "dirty.tsv")
        self.assertEqual(clean[:2], dirty[:2])
        change = numpy.abs(clean[2] - dirty[2])
        self.assertEqual(numpy.count_nonzero(change > 1e-4), 120)
        self.assertGreater(change[change > 1e-4].min(), 4.99)

    def test_a_robust_loss_recovers_what_squares_do_not(self):
        self.succeed(
            "generate",
            "completion",
            "t.tsv",
            "--rows",
            120,
            "--cols",
            100,
            "--rank",
            2,
            "--observed",
            0.4,
            "--outliers",
            0.1,
            "--truth",
            "--json",
            "facts.json",
        )
        radius = parse_strict((self.folder / "facts.json").read_text())["trace_norm"]
        errors = {}
        for loss in ("absolute", "squared"):
            run = self.run_json(
                "complete",
                "t.tsv",
                "--radius",
                radius,
                "--loss",
                loss,
                "--prepare",
                "none",
                "--iterations",
                300,
                "--test",
                "t.truth.tsv",
            )
            errors[loss] = run["test"]["rmse"]
        self.assertLess(errors["absolute"], 0.5 * errors["squared"])

    def test_impossible_sizes(self):
        self.fail_with(2, "generate", "completion", "t.tsv", "--rows", 5, "--cols", 9, "--rank", 6, says="--rank")
        self.fail_with(2, "generate", "covariance", "t.npy", "--n", 5, "--blocks", 6, says="--blocks")
        self.fail_with(2, "generate", "completion", "t.tsv", "--observed", 0, says=("--observed", "'0'", "above 0"))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    import unittest

    unittest.main()
