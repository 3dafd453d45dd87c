"""tracenorm links: link prediction on a graph."""

import numpy

from support import ProgramTest, load_model, names_to_index


def area_under_curve(scores, labels):
    """By definition: the share of (positive, negative) pairs in the right order, ties counted half."""
    positive, negative = scores[labels][:, None], scores[~labels][None, :]
    return ((positive > negative).mean() + 0.5 * (positive == negative).mean())


class LinksTest(ProgramTest):
    def test_communities_are_found(self):
        run = self.run_json("links", self.edges(), "--radius", 40, "--l1", 0.01, "--iterations", 200)
        self.check_run(run)
        self.assertEqual((run["loss"], run["rows"], run["cols"]), ("squared:1", 40, 40))
        self.assertGreater(run["test"]["auc"], 0.7)
        self.assertAlmostEqual(run["observed"] / 1600, 0.5, delta=0.06)

    def test_area_under_curve_when_everything_is_scored(self):
        """With hardly anything observed nearly all pairs are scored, so the area can be recomputed from the model."""
        data = self.edges(nodes=30)
        run = self.run_json("links", data, "--radius", 10, "--observed", 0.3, "--model", "m.npz", "--unsymmetric-mask")
        self.assertTrue(run["options"]["unsymmetric_mask"])
        model = load_model(self.folder / "m.npz")
        graph = numpy.zeros((30, 30), bool)
        index = names_to_index(model["row_names"]) if model["row_names"].size else {str(i): i for i in range(30)}
        for line in (self.folder / data).read_text().splitlines()[1:]:
            a, b = line.split()
            graph[index[a], index[b]] = graph[index[b], index[a]] = True
        off = ~numpy.eye(30, dtype=bool)
        everything = area_under_curve(model["matrix"][off], graph[off])
        self.assertAlmostEqual(run["test"]["entries"] / off.sum(), 0.7, delta=0.06)
        self.assertAlmostEqual(run["test"]["auc"], everything, delta=0.15)

    def test_flips_make_it_harder_but_keep_the_mask(self):
        data = self.edges()
        clean = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 3)
        flipped = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 3, "--flip", 0.2)
        self.assertEqual(clean["observed"], flipped["observed"])
        self.assertEqual(clean["test"]["entries"], flipped["test"]["entries"])
        self.assertLess(flipped["test"]["auc"], clean["test"]["auc"])

    def test_everything_observed_leaves_nothing_to_score(self):
        run = self.run_json("links", self.edges(), "--radius", 40, "--l1", 0.01, "--observed", 1)
        self.assertEqual(run["test"]["entries"], 0)
        self.assertIsNone(run["test"]["auc"])

    def test_seed_draws_another_mask(self):
        data = self.edges()
        first = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 1)
        second = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 2)
        self.assertNotEqual(first["objective"], second["objective"])


if __name__ == "__main__":
    import unittest

    unittest.main()
