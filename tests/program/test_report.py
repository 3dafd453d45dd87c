"""--report: the page of a single run. What a browser makes of it is tests/browser's business."""

import json
import re

import numpy
from support import ProgramTest


def blocks(html):
    """{id: block} of what is on a page."""
    data = re.search(r'<script type="application/json" id="page">(.*?)</script>', html, re.S).group(1)
    return {block["id"]: block for block in json.loads(data)["blocks"] if "id" in block}


class ReportTest(ProgramTest):
    def page(self, *command):
        run = self.run_json(*command, "--report", "page.html")
        return run, (self.folder / "page.html").read_text()

    def test_numbers_are_those_of_the_run(self):
        run, html = self.page("complete", self.ratings(), "--radius", 20, "--split", "0.5,0.25,0.25")
        drawn = blocks(html)
        gap, objective, bound = drawn["convergence"]["series"]
        self.assertEqual(objective["x"][0], [line["k"] for line in run["trace"]])
        numpy.testing.assert_allclose(objective["y"][1], [line["objective"] for line in run["trace"]], rtol=1e-5)
        numpy.testing.assert_allclose(bound["y"][1], [line["lower_bound"] for line in run["trace"]], rtol=1e-5)
        shown = [
            (100 * line["relative_gap"], percent)
            for line, percent in zip(run["trace"], gap["y"][0], strict=True)
            if percent is not None
        ]
        self.assertTrue(shown)
        numpy.testing.assert_allclose([true for true, _ in shown], [percent for _, percent in shown], rtol=1e-5)
        self.assertEqual(len(drawn["singular-values"]["series"][0]["y"][0]), run["rank"])
        self.assertEqual(sum(drawn["residual-distribution"]["series"][0]["y"][0]), run["observed"])
        errors = {row[0]: row[1:] for row in drawn["errors"]["rows"]}
        self.assertEqual(errors["RMSE"], [f"{run[part]['rmse']:.4f}" for part in ("validation", "test")])
        self.assertNotIn("AUC", errors)
        self.assertIn(["rank", str(run["rank"])], drawn["summary"]["rows"])
        self.assertIn(["seed", str(run["options"]["seed"])], drawn["options"]["rows"])

    def test_outliers_stand_out(self):
        random = numpy.random.default_rng(0)
        matrix = numpy.outer(random.uniform(-1, 1, 30), random.uniform(-1, 1, 25))
        matrix[3, 4] += 50
        numpy.save(self.folder / "noisy.npy", matrix)
        _, html = self.page("denoise", "noisy.npy", "--radius", 12, "--loss", "absolute")
        worst = blocks(html)["largest-residuals"]["rows"][0]
        self.assertEqual(worst[:2], ["3", "4"])
        self.assertAlmostEqual(float(worst[4]), 50, delta=5)

    def test_links_and_quoting(self):
        data = self.edges(name="a<b>&.txt")
        _, html = self.page("links", data, "--radius", 20, "--l1", 0.01, "--iterations", 20)
        self.assertNotIn("a<b>", html)  # the data of a page end no element
        self.assertTrue(blocks(html)["summary"]["rows"][0][1].startswith("a<b>&.txt: "))
        self.assertEqual([row[0] for row in blocks(html)["errors"]["rows"]], ["entries", "AUC"])
        worst = [tuple(sorted(row[:2])) for row in blocks(html)["largest-residuals"]["rows"]]
        self.assertEqual(len(worst), len(set(worst)))  # a pair of an undirected graph is two entries

    def test_page_needs_nothing_else(self):
        _, html = self.page("complete", self.ratings(), "--radius", 20, "--iterations", 5)
        outside = re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', html)
        self.assertEqual(outside, [])
        self.assertIn("Chart.js", html)  # with its licence
        self.assertIn("MIT License", html)

    def test_path_is_checked_before_the_work(self):
        data = self.ratings()
        self.fail_with(3, "complete", data, "--report", "nowhere/page.html", says=["--report", "nowhere/page.html"])
        self.fail_with(2, "complete", data, "--report", data, says="would be overwritten")
        self.write("list.txt", f"{data}\n")
        self.fail_with(2, "complete", "@list.txt", "--report", "list.txt", says="would be overwritten")
        self.fail_with(2, "complete", "@list.txt", "--report", data, says="would be overwritten")
        self.fail_with(2, "complete", data, "--test", "@list.txt", "--report", "list.txt", says="would be overwritten")
        self.fail_with(2, "complete", data, "--report", "-", says="--report")
        self.fail_with(2, "evaluate", data, "--report", "page.html", says="--report")


if __name__ == "__main__":
    import unittest

    unittest.main()
