"""tracenorm denoise: sparse and low-rank estimation of a matrix."""

import numpy
from support import ProgramTest, load_model


class DenoiseTest(ProgramTest):
    def test_full_matrix_and_objective_from_the_model(self):
        data = self.matrix()
        run = self.run_json("denoise", data, "--radius", 3, "--l1", 0.05, "--model", "m.npz")
        self.check_run(run)
        self.assertEqual((run["loss"], run["observed"]), ("squared:0.5", 24 * 18))
        x = load_model(self.folder / "m.npz")["matrix"]
        noisy = numpy.load(self.folder / data)
        objective = 0.5 * numpy.square(x - noisy).sum() + 0.05 * numpy.abs(x).sum()
        self.assertAlmostEqual(objective / run["objective"], 1, delta=1e-5)

    def test_holes(self):
        data = self.matrix()
        noisy = numpy.load(self.folder / data)
        noisy[::3, ::2] = numpy.nan
        numpy.save(self.folder / "holes.npy", noisy)
        run = self.run_json(
            "denoise", "holes.npy", "--radius", 3, "--l1", 0.05, "--model", "m.npz", "--prepare", "center"
        )
        self.check_run(run)
        self.assertEqual(run["observed"], int(numpy.isfinite(noisy).sum()))
        model = load_model(self.folder / "m.npz")
        self.assertAlmostEqual(float(model["offset"]), numpy.nanmean(noisy), places=6)
        x = model["matrix"]
        objective = 0.5 * numpy.nansum(numpy.square(x - (noisy - numpy.nanmean(noisy)))) + 0.05 * numpy.abs(x).sum()
        self.assertAlmostEqual(objective / run["objective"], 1, delta=1e-5)

    def test_against_the_truth(self):
        self.succeed("generate", "covariance", "cov.npy", "--n", 40, "--blocks", 2, "--truth")
        run = self.run_json("denoise", "cov.npy", "--radius", 15, "--l1", 0.1, "--test", "cov.truth.npy")
        self.assertEqual(run["test"]["entries"], 1600)
        self.assertLess(run["test"]["rmse"], 0.2)  # the noise

    def test_symmetric_and_semidefinite_answers(self):
        random = numpy.random.default_rng(3)
        factors = random.standard_normal((50, 3))
        noisy = (factors * [1, 1, -1]) @ factors.T + 0.2 * random.standard_normal((50, 50))
        numpy.save(self.folder / "any.npy", noisy)
        numpy.save(self.folder / "symmetric.npy", (noisy + noisy.T) / 2)
        for option in ("--symmetric", "--psd"):
            files = ("--model", "m.npz", "--certificate", "c.npz")
            run = self.run_json("denoise", "symmetric.npy", option, "--radius", 30, "--gap", 1e-3, *files)
            self.check_run(run)
            self.assertLessEqual(run["relative_gap"], 1e-3)
            model = load_model(self.folder / "m.npz")
            terms = (model["left"] * model["right"]).sum(axis=0)
            self.assertTrue(numpy.array_equal(model["left"], model["right"] * numpy.sign(terms)))
            self.assertEqual(bool((terms > 0).all()), option == "--psd")
            self.assertIn("proved", self.succeed("verify", "symmetric.npy", "m.npz", "c.npz").stdout)
        says = "symmetry = psd wants symmetric data, but the value at row 0, column 1"
        self.fail_with(3, "denoise", "any.npy", "--psd", "--radius", 30, says=says)
        self.check_run(self.run_json("denoise", "any.npy", "--psd", "--symmetrize", "--radius", 30))

    def test_the_answer_as_a_file(self):
        data = self.matrix()
        self.succeed("denoise", data, "--radius", 3, "--model", "m.npz", "--output", "clean.npy")
        clean = numpy.load(self.folder / "clean.npy")
        numpy.testing.assert_allclose(clean, load_model(self.folder / "m.npz")["matrix"], atol=1e-6)
        self.succeed("denoise", data, "--radius", 3, "--output", "clean.csv", "-q")
        numpy.testing.assert_allclose(numpy.loadtxt(self.folder / "clean.csv", delimiter=","), clean, atol=1e-5)
        self.succeed("denoise", data, "--radius", 3, "--output", "clean.mtx", "-q")
        lines = (self.folder / "clean.mtx").read_text().splitlines()
        self.assertEqual(lines[:2], ["%%MatrixMarket matrix array real general", "24 18"])
        numpy.testing.assert_allclose(numpy.array(lines[2:], dtype=float).reshape(18, 24).T, clean, atol=1e-5)
        self.succeed("denoise", "clean.mtx", "--radius", 3, "-q")  # what was written can be read
        self.fail_with(
            2, "denoise", data, "--radius", 3, "--output", "clean.txt", says=("--output", "clean.txt", ".npy")
        )

    def test_names_and_holes_of_a_table(self):
        table = self.write("t.csv", "who,a,b,c\nx,1,2,3\ny,2,4,\nz,3,6,9\n")
        self.succeed("denoise", table, "--radius", 14, "--iterations", 2000, "--output", "full.csv", "-q")
        lines = [line.split(",") for line in (self.folder / "full.csv").read_text().splitlines()]
        self.assertEqual(lines[0], ["", "a", "b", "c"])
        self.assertEqual([line[0] for line in lines[1:]], ["x", "y", "z"])
        self.assertAlmostEqual(float(lines[2][3]), 6, delta=1)  # the radius is that of rank one

    def test_a_matrix_too_large_to_write(self):
        lines = "".join(f"r{k}\tc{k}\t{k % 7}\n" for k in range(70000))
        data = self.write("wide.tsv", lines)
        self.fail_with(
            3, "complete", data, "--radius", 5, "--output", "filled.npy", says=("--output", "19.6 GB", "--model")
        )

    def test_without_a_penalty(self):
        run = self.run_json("denoise", self.matrix(), "--radius", 3, "--loss", "absolute")
        self.check_run(run)
        self.assertEqual(run["penalty"], "none")


if __name__ == "__main__":
    import unittest

    unittest.main()
