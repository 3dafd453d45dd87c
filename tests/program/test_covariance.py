"""tracenorm covariance: from samples to a covariance."""

import numpy
from support import ProgramTest

NAMES = [f"v{k}" for k in range(12)]


class CovarianceTest(ProgramTest):
    def samples(self, count=80, seed=2):
        """Three groups of four variables."""
        random = numpy.random.default_rng(seed)
        factors = numpy.repeat(random.standard_normal((count, 3)), 4, axis=1)
        return (factors + 0.6 * random.standard_normal((count, 12))) * numpy.linspace(1, 4, 12) + 10

    def table(self, samples, name="samples.csv"):
        rows = [",".join(NAMES)]
        rows += [",".join("" if numpy.isnan(x) else f"{x:.7g}" for x in row) for row in samples]
        return self.write(name, "\n".join(rows) + "\n")

    def named(self, name):
        lines = [line.split(",") for line in (self.folder / name).read_text().splitlines()]
        self.assertEqual(lines[0], ["", *NAMES])
        self.assertEqual([line[0] for line in lines[1:]], NAMES)
        return numpy.array([line[1:] for line in lines[1:]], dtype=float)

    def test_covariance_correlation_and_precision(self):
        samples = self.samples()
        data = self.table(samples)
        run = self.run_json("covariance", data, "--output", "c.csv", "--precision", "p.csv", "--report", "page.html")
        self.check_run(run)
        self.assertEqual((run["rows"], run["observed"], run["loss"]), (12, 132, "squared:0.5"))
        self.assertEqual((run["covariance"]["samples"], run["covariance"]["pairs"]), (80, 66))
        self.assertLessEqual(run["relative_gap"], 0.01)
        self.assertEqual(sum(step["chosen"] for step in run["radius_path"]), 1)
        covariance = self.named("c.csv")
        empirical = numpy.cov(samples.T)
        numpy.testing.assert_allclose(numpy.diag(covariance), numpy.diag(empirical), rtol=1e-4)
        groups = numpy.kron(numpy.eye(3), numpy.ones((4, 4)))
        self.assertEqual(int((covariance == 0).sum()), 2 * run["covariance"]["zero_pairs"])
        self.assertGreater((covariance[groups == 0] == 0).mean(), 0.5)
        self.assertGreater(numpy.linalg.eigvalsh(covariance)[0], 0)
        numpy.testing.assert_allclose(self.named("p.csv") @ covariance, numpy.eye(12), atol=1e-3)
        page = (self.folder / "page.html").read_text()
        self.assertIn('"strongest"', page)
        self.assertIn('"images"', page)
        self.succeed("covariance", data, "--correlation", "--output", "r.csv", "-q")
        deviation = numpy.sqrt(numpy.diag(covariance))
        numpy.testing.assert_allclose(self.named("r.csv"), covariance / numpy.outer(deviation, deviation), atol=1e-5)
        self.succeed("covariance", data, "--threads", 1, "--output", "one.csv", "-q")
        self.assertEqual((self.folder / "one.csv").read_bytes(), (self.folder / "c.csv").read_bytes())

    def test_holes_and_outliers(self):
        groups = numpy.kron(numpy.eye(3), numpy.ones((4, 4)))
        truth = numpy.where(numpy.eye(12) > 0, 1, groups / 1.36)
        random = numpy.random.default_rng(0)

        def error(samples, estimate):
            data = self.table(samples)
            run = self.run_json("covariance", data, "--estimate", estimate, "--correlation", "--output", "r.csv")
            self.assertEqual(run["covariance"]["missing_values"], int(numpy.isnan(samples).sum()))
            self.assertGreaterEqual(run["covariance"]["far_values"], int((samples == 1000).sum()))
            return numpy.linalg.norm(self.named("r.csv") - truth) / numpy.linalg.norm(truth)

        # Means of draws: of one, folds may choose an l1 a step further than of another, which is worth a tenth.
        errors = []
        for seed in range(2, 7):
            clean = self.samples(200, seed)
            spoiled = clean.copy()
            spoiled[random.random(clean.shape) < 0.02] = 1000
            spoiled[random.random(clean.shape) < 0.1] = numpy.nan
            errors.append([error(clean, "plain"), error(spoiled, "trimmed"), error(spoiled, "plain")])
        best, trimmed, plain = numpy.mean(errors, axis=0)
        self.assertLess(best, 0.2)
        self.assertLess(trimmed, best + 0.1)
        self.assertGreater(plain, best + 0.4)

    def test_given_settings_and_other_losses(self):
        data = self.table(self.samples())
        for loss in ("absolute", "huber:0.1"):
            run = self.run_json("covariance", data, "--radius", 8, "--l1", 0.05, "--loss", loss)
            self.check_run(run)
            self.assertEqual((run["loss"], run["radius"], run["radius_path"]), (loss, 8, None))

    def test_the_certificate_is_verified(self):
        samples = self.samples()
        for holes in (False, True):
            if holes:
                samples[numpy.random.default_rng(5).random(samples.shape) < 0.1] = numpy.nan
            data = self.table(samples)
            files = ("--pairs", "pairs.tsv", "--model", "m.npz", "--certificate", "c.npz")
            run = self.run_json("covariance", data, *files)
            self.check_run(run)
            lines = (self.folder / "pairs.tsv").read_text().splitlines()
            self.assertEqual(lines[0].split("\t")[:2], ["row", "column"] if holes else ["v0", "v1"])
            self.assertIn("proved", self.succeed("verify", "pairs.tsv", "m.npz", "c.npz").stdout)

    def test_names_of_samples_and_files_of_numpy(self):
        samples = self.samples()
        numpy.save(self.folder / "samples.npy", samples)
        self.succeed("covariance", "samples.npy", "--radius", 8, "--output", "c.npy", "-q")
        covariance = numpy.load(self.folder / "c.npy")
        self.assertEqual(covariance.dtype, numpy.float64)
        dated = [",".join(["day", *NAMES])]
        dated += [",".join([f"2026-01-{k + 1:02d}", *(f"{x:.9g}" for x in row)]) for k, row in enumerate(samples)]
        self.write("dated.csv", "\n".join(dated) + "\n")
        self.succeed("covariance", "dated.csv", "--radius", 8, "--output", "c.csv", "-q")
        numpy.testing.assert_allclose(self.named("c.csv"), covariance, atol=1e-4)

    def test_one_factor_and_nothing_else_is_no_failure(self):
        factor = numpy.random.default_rng(1).standard_normal((40, 1))
        numpy.save(self.folder / "exact.npy", factor * numpy.linspace(1, 2, 5))  # every correlation is one
        self.succeed("covariance", "exact.npy", "--output", "c.npy", "-q")
        self.assertTrue(numpy.isfinite(numpy.load(self.folder / "c.npy")).all())

    def test_bad_input(self):
        self.write("constant.csv", "a,b,c\n1,5,2\n2,5,1\n3,5,3\n4,5,2\n")
        self.fail_with(3, "covariance", "constant.csv", says=("'constant.csv'", "variable 'b' is 5 in every sample"))
        self.write("word.csv", "a,b,c\n1,5,2\n2,many,1\n")
        self.fail_with(3, "covariance", "word.csv", says=("line 3", "column 'b'", "'many' is not a number"))
        self.write("one.csv", "a,b,c\n1,5,2\n")
        self.fail_with(3, "covariance", "one.csv", says="one sample of 3 variables")
        self.write("two.csv", "a,b,c\n1,5,2\n2,3,4\n")
        self.fail_with(3, "covariance", "two.csv", says="give a radius, or more samples")
        self.fail_with(2, "covariance", "two.csv", "--precision", "p.txt", says=("--precision", ".npy"))
        self.fail_with(2, "covariance", "two.csv", "--estimate", "best", says=("--estimate", "plain|trimmed"))
        self.fail_with(2, "covariance", "two.csv", "--prepare", "none", says="--prepare")


if __name__ == "__main__":
    import unittest

    unittest.main()
