"""tracenorm predict: predictions undo the preparation."""

import numpy
from support import ProgramTest, load_model, names_to_index, read_triplets


class PredictTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.ratings()
        self.succeed("complete", self.data, "--radius", 40, "--model", "m.npz", "--quiet")

    def test_predictions_are_in_raw_units(self):
        rows, cols, _ = read_triplets(self.folder / self.data)
        model = load_model(self.folder / "m.npz")
        row, col = names_to_index(model["row_names"]), names_to_index(model["col_names"])
        expected = model["offset"] + model["scale"] * model["matrix"][[row[r] for r in rows], [col[c] for c in cols]]
        done = self.succeed("predict", "m.npz", self.data)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], rows)
        self.assertEqual([line[1] for line in lines], cols)
        numpy.testing.assert_allclose([float(line[2]) for line in lines], expected, rtol=1e-5)
        self.assertEqual(done.stderr, "")
        self.succeed("predict", "m.npz", self.data, "--output", "p.tsv")
        self.assertEqual((self.folder / "p.tsv").read_text(), done.stdout)

    def test_many_pairs_come_in_their_order_on_any_number_of_threads(self):
        pairs = [f"user{1 + k % 7}\titem{1 + k % 5}\n" for k in range(70_000)]  # more than are predicted at once
        self.write("pairs.tsv", "".join(pairs))
        one = self.succeed("predict", "m.npz", "pairs.tsv", "--threads", 1).stdout
        self.assertEqual(self.succeed("predict", "m.npz", "pairs.tsv", "--threads", 3).stdout, one)
        self.assertEqual([line.rpartition("\t")[0] + "\n" for line in one.splitlines()], pairs)

    def test_unknown_names_get_the_mean(self):
        self.write("pairs.tsv", "user1\titem2\nnobody\titem2\nuser1\tnothing\n")
        done = self.succeed("predict", "m.npz", "pairs.tsv")
        mean = float(load_model(self.folder / "m.npz")["offset"])
        predictions = [float(line.split("\t")[2]) for line in done.stdout.splitlines()]
        self.assertAlmostEqual(predictions[1], mean, places=5)
        self.assertAlmostEqual(predictions[2], mean, places=5)
        self.assertIn("2 of 3 pairs", done.stderr)
        self.assertEqual(self.succeed("predict", "m.npz", "pairs.tsv", "--quiet").stderr, "")

    def test_strict_refuses_unknown_names(self):
        self.write("pairs.tsv", "user1\titem2\nuser1\tnothing\n")
        done = self.fail_with(
            3, "predict", "m.npz", "pairs.tsv", "--strict", "--output", "p.tsv", says=("pairs.tsv", "column 'nothing'")
        )
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "p.tsv").exists())

    def test_a_model_of_another_version(self):
        with numpy.load(self.folder / "m.npz") as file:
            arrays = dict(file)
        arrays["schema"] = numpy.int64(99)
        numpy.savez(self.folder / "future.npz", **arrays)
        self.fail_with(3, "predict", "future.npz", self.data, says=("future.npz", "version", "99"))

    def test_not_a_model(self):
        numpy.savez(self.folder / "other.npz", something=numpy.zeros(3))
        self.fail_with(3, "predict", "other.npz", self.data, says="other.npz")
        self.fail_with(
            3,
            "predict",
            self.data,
            self.data,
            says=(self.data, "is not a model of this program", f"tracenorm complete {self.data} --model m.npz"),
        )
        self.fail_with(3, "predict", "missing.npz", self.data, says="missing.npz")
        whole = (self.folder / "m.npz").read_bytes()
        self.write("cut.npz", whole[: len(whole) // 2])
        self.fail_with(3, "predict", "cut.npz", self.data, says="cut.npz")


if __name__ == "__main__":
    import unittest

    unittest.main()
