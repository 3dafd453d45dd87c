"""tracenorm links: link prediction on a graph."""

import numpy
from random_stream import observe_links
from support import ProgramTest, load_model, names_to_index


def area_under_curve(scores, labels):
    """By definition: the share of (positive, negative) pairs in the right order, ties counted half."""
    positive, negative = scores[labels][:, None], scores[~labels][None, :]
    return (positive > negative).mean() + 0.5 * (positive == negative).mean()


class LinksTest(ProgramTest):
    def test_communities_are_found(self):
        run = self.run_json("links", self.edges(), "--radius", 40, "--l1", 0.01, "--iterations", 200)
        self.check_run(run)
        self.assertEqual((run["loss"], run["rows"], run["cols"]), ("squared:1", 40, 40))
        self.assertGreater(run["test"]["auc"], 0.7)
        self.assertAlmostEqual(run["observed"] / 1600, 0.5, delta=0.06)

    def clean_graph(self, data, model, nodes):
        names = model["row_names"] if model["row_names"].size else range(nodes)
        index = names_to_index(names)
        graph = numpy.zeros((nodes, nodes), bool)
        for line in (self.folder / data).read_text().splitlines()[1:]:
            a, b = (index[name] for name in line.split())
            graph[a, b] = graph[b, a] = True
        return graph

    def check_protocol(self, *options, flip, unsymmetric):
        """Redraws mask and flips, and recomputes the objective and the area under the curve from the saved model."""
        nodes = 30
        data = self.edges(nodes=nodes)
        run = self.run_json(
            "links",
            data,
            "--radius",
            15,
            "--l1",
            0.02,
            "--observed",
            0.4,
            "--seed",
            7,
            "--flip",
            flip,
            "--model",
            "m.npz",
            *options,
        )
        model = load_model(self.folder / "m.npz")
        graph = self.clean_graph(data, model, nodes)
        seen = observe_links(graph, 0.4, flip, 7, unsymmetric)
        self.assertEqual(run["observed"], numpy.isfinite(seen).sum())
        x = model["matrix"]
        objective = numpy.nansum((x - seen) ** 2) + 0.02 * numpy.abs(x).sum()
        self.assertAlmostEqual(objective / run["objective"], 1, delta=1e-5)
        scored = numpy.isnan(seen) & (~numpy.eye(nodes, dtype=bool) if unsymmetric else numpy.triu(graph | True, 1))
        self.assertEqual(run["test"]["entries"], scored.sum())
        area = area_under_curve(x.astype(numpy.float32)[scored], graph[scored])
        self.assertAlmostEqual(run["test"]["auc"], area, places=6)

    def test_protocol(self):
        self.check_protocol(flip=0, unsymmetric=False)
        self.check_protocol(flip=0.1, unsymmetric=False)

    def test_protocol_with_an_unsymmetric_mask(self):
        self.check_protocol("--unsymmetric-mask", flip=0.1, unsymmetric=True)

    def test_flips_keep_the_mask(self):
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

    def test_the_first_nodes(self):
        data = self.edges(nodes=50)
        run = self.run_json("links", data, "--nodes", 30, "--radius", 20, "--l1", 0.01)
        self.assertEqual((run["rows"], run["options"]["nodes"]), (30, 30))
        kept = [line for line in (self.folder / data).read_text().splitlines()[1:] if max(map(int, line.split())) < 30]
        self.write("part.txt", "".join(line + "\n" for line in kept))
        part = self.run_json("links", "part.txt", "--radius", 20, "--l1", 0.01)
        self.assertEqual(run["objective"], part["objective"])
        self.assertEqual(self.run_json("links", data, "--nodes", 99, "--radius", 20, "--l1", 0.01)["rows"], 50)
        self.write("late.txt", "0 0\n1 1\n2 3\n")
        self.fail_with(3, "links", "late.txt", "--nodes", 2, "--radius", 1, says="--nodes")

    def test_seed_draws_another_mask(self):
        data = self.edges()
        first = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 1)
        second = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 2)
        self.assertNotEqual(first["objective"], second["objective"])


if __name__ == "__main__":
    import unittest

    unittest.main()
