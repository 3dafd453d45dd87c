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

    def linked(self, data):
        lines = (self.folder / data).read_text().splitlines()
        return {frozenset(line.split()) for line in lines if not line.startswith("#")}

    def test_likely_links(self):
        data = self.edges()
        outputs = ("--scores", "likely.tsv", "--model", "m.npz")
        run = self.run_json("links", data, "--radius", 40, "--iterations", 100, "--top", 30, *outputs)
        self.assertEqual((run["options"]["hide"], run["options"]["zeros"]), (0.1, None))
        self.assertEqual(run["observed"], 40 * 39)
        links = run["likely_links"]
        self.assertEqual(len(links), 30)
        pairs = [frozenset(link["nodes"]) for link in links]
        self.assertEqual(len(set(pairs)), 30)
        self.assertTrue(all(len(pair) == 2 for pair in pairs), "a node and itself")
        self.assertFalse(set(pairs) & self.linked(data), "these are links already")
        scores = [link["score"] for link in links]
        self.assertEqual(scores, sorted(scores, reverse=True))
        shares = [link["share"] for link in links]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertTrue(all(0 <= share <= 1 for share in shares))
        model = load_model(self.folder / "m.npz")
        names = model["row_names"] if model["row_names"].size else [str(k) for k in range(40)]
        index = names_to_index(names)
        matrix = model["matrix"]
        for link in links:
            a, b = sorted(index[name] for name in link["nodes"])
            self.assertAlmostEqual(link["score"], matrix[a, b], places=6)
        # Nothing better was left out.
        known = {tuple(sorted(index[name] for name in pair)) for pair in self.linked(data)}
        others = [matrix[a, b] for a in range(40) for b in range(a + 1, 40) if (a, b) not in known]
        self.assertAlmostEqual(sorted(others)[-30], scores[-1], places=6)
        lines = (self.folder / "likely.tsv").read_text().splitlines()
        self.assertEqual(lines[0], "node\tnode\tscore\tshare")
        self.assertEqual([tuple(line.split("\t")[:2]) for line in lines[1:]], [tuple(link["nodes"]) for link in links])
        # Most of what is missing is within a community.
        self.assertGreater(numpy.mean([(int(a) - int(b)) % 2 == 0 for a, b in map(tuple, pairs)]), 0.9)

    def test_hidden_links_judge(self):
        data = self.edges(nodes=60)
        run = self.run_json("links", data, "--radius", 30, "--hide", 0.2, "--iterations", 100)
        hidden = run["test"]["entries"] / 2
        self.assertAlmostEqual(hidden / len(self.linked(data)), 0.2, delta=0.05)
        self.assertGreater(run["test"]["auc"], 0.75)  # between communities 0.05 of the pairs are links, within 0.7
        self.assertGreater(run["test"]["average_precision"], 0.7)
        self.assertNotIn("likely_links", run)
        self.run_json("links", data, "--radius", 30, "--hide", 0.2, "--model", "m.npz", "--certificate", "c.npz")
        self.succeed("verify", data, "m.npz", "c.npz")

    def test_links_of_a_node(self):
        data = self.edges()
        run = self.run_json("links", data, "--radius", 40, "--node", 7, "--top", 5)
        self.assertEqual(len(run["likely_links"]), 5)
        self.assertTrue(all("7" in link["nodes"] for link in run["likely_links"]))
        self.fail_with(3, "links", data, "--radius", 40, "--node", "nobody", says=("--node", "'nobody'", "40 nodes"))

    def test_nothing_hidden_has_no_shares(self):
        run = self.run_json("links", self.edges(), "--radius", 40, "--hide", 0, "--top", 3)
        self.assertEqual([link["share"] for link in run["likely_links"]], [None] * 3)
        self.assertIsNone(run["test"]["auc"])

    def test_protocols_exclude_each_other(self):
        self.fail_with(2, "links", self.edges(), "--hide", 0.1, "--observed", 0.5, says="--hide")
        self.fail_with(2, "links", self.edges(), "--zeros", 3, "--observed", 0.5, says="--zeros")
        run = self.run_json("links", self.edges(), "--observed", 0.5, "--radius", 40, "--top", 5)
        self.assertEqual((len(run["likely_links"]), run["options"]["hide"]), (5, None))

    def test_sampled_pairs(self):
        data = self.edges(nodes=60)
        run = self.run_json("links", data, "--radius", 30, "--zeros", 1, "--top", 10, "--iterations", 100)
        links = len(self.linked(data))
        self.assertEqual(run["options"]["zeros"], 1)
        self.assertLess(run["observed"], 4 * links)
        self.assertGreater(run["observed"], 2 * 0.85 * links)
        self.assertGreater(run["test"]["auc"], 0.7)
        self.assertFalse({frozenset(link["nodes"]) for link in run["likely_links"]} & self.linked(data))

    def ordered_links(self, data, separator=None):
        lines = (self.folder / data).read_text().splitlines()[1:]
        return {tuple(line.split(separator)) for line in lines}

    def check_list(self, run, links, names, loops):
        """The list holds the best pairs without a link, ordered, each once."""
        model = load_model(self.folder / "m.npz")
        rows, cols = (names_to_index(model[side]) for side in ("row_names", "col_names"))
        self.assertEqual((len(rows), len(cols)), names)
        listed = [tuple(link["nodes"]) for link in run["likely_links"]]
        self.assertEqual(len(set(listed)), len(listed))
        self.assertFalse(set(listed) & links, "these are links already")
        absent = {
            (a, b): model["matrix"][i, j]
            for a, i in rows.items()
            for b, j in cols.items()
            if (a, b) not in links and (loops or a != b)
        }
        best = sorted(absent.values(), reverse=True)[: len(listed)]
        for link, score in zip(run["likely_links"], best, strict=True):
            self.assertAlmostEqual(link["score"], score, places=6)
            self.assertAlmostEqual(absent[tuple(link["nodes"])], score, places=6)
        return listed

    def test_a_directed_graph(self):
        data = self.directed_edges()
        links = self.ordered_links(data)
        outputs = ("--scores", "likely.tsv", "--model", "m.npz", "--certificate", "c.npz")
        run = self.run_json("links", data, "--directed", "--radius", 30, "--iterations", 100, "--top", 40, *outputs)
        self.assertEqual((run["options"]["graph"], run["observed"]), ("directed", 45 * 44))
        listed = self.check_list(run, links, (45, 45), loops=False)
        # What is missing goes from a group to the next, not back.
        self.assertGreater(numpy.mean([(int(a) + 1) % 3 == int(b) % 3 for a, b in listed]), 0.9)
        self.assertGreater(run["test"]["auc"], 0.75)
        self.assertAlmostEqual(run["test"]["entries"] / 2 / len(links), 0.1, delta=0.04)
        lines = (self.folder / "likely.tsv").read_text().splitlines()
        self.assertEqual(lines[0], "from\tto\tscore\tshare")
        self.assertEqual([tuple(line.split("\t")[:2]) for line in lines[1:]], listed)
        self.succeed("verify", data, "m.npz", "c.npz")
        a, b = listed[0]
        self.write("pairs.tsv", f"{a}\t{b}\n{b}\t{a}\n")
        forth, back = (line.split("\t") for line in self.succeed("predict", "m.npz", "pairs.tsv").stdout.splitlines())
        self.assertAlmostEqual(float(forth[2]), run["likely_links"][0]["score"], places=5)
        self.assertLess(float(back[2]), float(forth[2]))
        self.assertIn(f"{a} -> {b}", self.succeed("links", data, "--directed", "--radius", 30, "--top", 3).stdout)

    def test_loops_of_a_directed_graph_count_where_it_has_them(self):
        data = self.write("loops.txt", (self.folder / self.directed_edges()).read_text() + "4 4\n")
        run = self.run_json("links", data, "--directed", "--radius", 30, "--hide", 0, "--top", 2000, "--model", "m.npz")
        self.assertEqual(run["observed"], 45 * 45)
        links = self.ordered_links(data)
        listed = self.check_list(run, links, (45, 45), loops=True)
        self.assertEqual(len(listed), 45 * 45 - len(links))

    def test_a_bipartite_graph(self):
        data = self.bipartite_edges()
        links = self.ordered_links(data, ",")
        outputs = ("--scores", "likely.tsv", "--model", "m.npz", "--certificate", "c.npz")
        run = self.run_json("links", data, "--bipartite", "--radius", 20, "--iterations", 100, "--top", 25, *outputs)
        self.assertEqual((run["options"]["graph"], run["rows"], run["cols"]), ("bipartite", 40, 30))
        self.assertEqual(run["observed"], 40 * 30)
        listed = self.check_list(run, links, (40, 30), loops=True)
        self.assertGreater(numpy.mean([int(a) % 2 == int(b) % 2 for a, b in listed]), 0.9)
        self.assertGreater(run["test"]["auc"], 0.75)
        self.assertEqual((self.folder / "likely.tsv").read_text().split("\n")[0], "left\tright\tscore\tshare")
        self.succeed("verify", data, "m.npz", "c.npz")
        # An id of both sides is either node; 35 is a user alone.
        for node, right in (("7", True), ("35", False)):
            run = self.run_json("links", data, "--bipartite", "--radius", 20, "--node", node, "--top", 15)
            listed = [link["nodes"] for link in run["likely_links"]]
            self.assertTrue(all(node in pair for pair in listed))
            self.assertEqual(any(pair[1] == node for pair in listed), right)
        self.fail_with(3, "links", data, "--bipartite", "--node", "nobody", says=("'nobody'", "40 and 30 nodes"))

    def test_other_protocols_of_ordered_pairs(self):
        for kind, data, pairs in (
            ("--directed", self.directed_edges(), 45 * 44),
            ("--bipartite", self.bipartite_edges(), 40 * 30),
        ):
            run = self.run_json("links", data, kind, "--radius", 30, "--observed", 0.6, "--flip", 0.05, "--top", 5)
            self.assertEqual(run["observed"] + run["test"]["entries"], pairs)
            self.assertAlmostEqual(run["observed"] / pairs, 0.6, delta=0.05)
            self.assertGreater(run["test"]["auc"], 0.7)
            self.assertEqual(len(run["likely_links"]), 5)
            links = len((self.folder / data).read_text().splitlines()) - 1
            run = self.run_json("links", data, kind, "--radius", 30, "--zeros", 1, "--top", 5, "--iterations", 100)
            self.assertLess(run["observed"], 2 * links)
            self.assertGreater(run["observed"], 1.2 * links)
            self.assertGreater(run["test"]["auc"], 0.65)
            run = self.run_json("links", data, kind, "--radius", 30, "--nodes", 20)
            self.assertEqual((run["rows"], run["cols"]), (20, 20))

    def test_kinds_of_graphs_exclude_each_other(self):
        self.fail_with(2, "links", self.edges(), "--directed", "--bipartite", says="--bipartite")
        self.fail_with(2, "links", self.edges(), "--directed", "--unsymmetric-mask", says="--unsymmetric-mask")

    def test_the_list_is_the_same_on_any_threads(self):
        data = self.edges(nodes=150)
        options = ("--radius", 60, "--iterations", 20, "--top", 500)
        one, three = (self.run_json("links", data, *options, "--threads", threads) for threads in (1, 3))
        self.assertEqual(one["likely_links"], three["likely_links"])

    def test_the_list_does_not_share_a_file(self):
        data = self.edges()
        self.fail_with(2, "links", data, "--scores", "x", "--json", "x", says=("--scores", "--json"))
        self.fail_with(2, "links", data, "--scores", data, says="--scores")

    def test_seed_draws_another_mask(self):
        data = self.edges()
        first = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 1)
        second = self.run_json("links", data, "--radius", 40, "--l1", 0.01, "--seed", 2)
        self.assertNotEqual(first["objective"], second["objective"])


if __name__ == "__main__":
    import unittest

    unittest.main()
