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
        run = self.run_json("denoise", "holes.npy", "--radius", 3, "--l1", 0.05, "--model", "m.npz",
                            "--prepare", "center")
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

    def test_without_a_penalty(self):
        run = self.run_json("denoise", self.matrix(), "--radius", 3, "--loss", "absolute")
        self.check_run(run)
        self.assertEqual(run["penalty"], "none")


if __name__ == "__main__":
    import unittest

    unittest.main()
