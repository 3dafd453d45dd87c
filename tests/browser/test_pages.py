"""The HTML pages in headless Chromium: everything is there and drawn, nothing complains, nothing asks the network."""

import json
import os
import pathlib

from paper_data import write_paper_data
from support import ProgramTest
from webdriver import Browser

# Whether a canvas shows more than a few colours, pixel by pixel (on a copy: reading changes how a canvas is kept).
DRAWN = """
const canvas = document.querySelector(arguments[0] + ' canvas');
const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
copy.drawImage(canvas, 0, 0);
const pixels = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
return canvas.width > 50 && new Set(pixels).size > 10"""

IDS = "return [...document.querySelectorAll(arguments[0])].map(e => e.id)"
EMPTY_TABLES = """
return [...document.querySelectorAll('table')].filter(t => {
  const numbers = [...t.querySelectorAll('td.number')].map(c => c.textContent);
  const words = [...t.querySelectorAll('td.words')].map(c => c.textContent);
  return !t.querySelector('tbody tr') || (numbers.length ? !numbers.some(x => x) : !words.some(x => x));
}).map(t => t.id)"""
# Kind and title of both axes.
AXES = """
const {x, y} = Chart.getChart(document.querySelector(arguments[0] + ' canvas')).scales;
return [x.type, y.type, x.options.title.text, y.options.title.text]"""
OVERFLOW = "return document.documentElement.scrollWidth > innerWidth"


class PagesTest(ProgramTest):
    def shown(self, browser, page):
        """Opens a page and checks what holds for every page."""
        browser.open(self.folder / page)
        browser.wait("return document.readyState === 'complete'")
        figures = browser.run(IDS, "figure.chart")
        self.assertTrue(figures)
        for figure in figures:
            self.assertTrue(browser.run(DRAWN, f"#{figure}"), f"{figure} is blank")
        self.assertEqual(browser.run(EMPTY_TABLES), [])
        self.assertEqual(
            browser.run("return [...document.images].filter(i => !(i.complete && i.naturalWidth)).length"), 0
        )
        self.assertFalse(browser.run(OVERFLOW), "the page is wider than the window")
        self.unspoilt(browser, page)
        return figures

    def unspoilt(self, browser, page):
        self.assertEqual(browser.errors(), [])
        asked = [url for url in browser.requests() if not url.startswith("data:")]
        self.assertEqual(asked, [(self.folder / page).resolve().as_uri()])

    def keep(self, browser, name):
        """Pictures for a person to look at, where TRACENORM_SCREENSHOTS names a folder."""
        if folder := os.environ.get("TRACENORM_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            browser.screenshot(pathlib.Path(folder, name + ".png"))
            browser.screenshot(pathlib.Path(folder, name + "-whole.png"), whole=True)

    def check_axes(self, browser, figure, x_types, y_types):
        """Clicks change the kind of an axis and what is on it."""
        place = f"#{figure} .controls"
        before = browser.run(AXES, f"#{figure}")
        self.assertEqual(before[0], x_types[0])
        browser.click(f"{place} span:nth-of-type(1) button:nth-of-type(2)")  # seconds instead of iterations
        self.assertEqual(browser.run(AXES, f"#{figure}")[2], "seconds")
        browser.click(f"{place} span:nth-of-type(2) button[aria-pressed=false]")
        self.assertEqual(browser.run(AXES, f"#{figure}")[0], x_types[1])
        browser.click(f"{place} span:nth-of-type(4) button[aria-pressed=false]")
        self.assertEqual(browser.run(AXES, f"#{figure}")[1], y_types[1])
        browser.click(f"{place} span:nth-of-type(3) button:nth-of-type(2)")  # another ordinate
        self.assertNotEqual(browser.run(AXES, f"#{figure}")[3], before[3])
        self.assertTrue(browser.run(DRAWN, f"#{figure}"))

    def check_zoom(self, browser, figure):
        """Dragging shows a part of the x axis, a double click all of it again."""
        width = """
            const {min, max} = Chart.getChart(document.querySelector(arguments[0])).scales.x;
            return Math.log(max / Math.max(min, 1e-9))"""
        canvas = f"#{figure} canvas"
        before = browser.run(width, canvas)
        browser.drag(canvas, 0.4, 0.6)
        self.assertLess(browser.run(width, canvas), 0.5 * before)
        browser.drag(canvas, 0.5, 0.5, clicks=2)
        self.assertEqual(browser.run(width, canvas), before)

    def check_theme(self, browser):
        paper = "return getComputedStyle(document.body).backgroundColor"
        before = browser.run(paper)
        browser.click("#theme")
        self.assertNotEqual(browser.run(paper), before)

    def test_page_of_a_run(self):
        self.succeed(
            "complete", self.ratings(), "--radius", 20, "--split", "0.5,0.25,0.25", "--report", "run.html", "--quiet"
        )
        with Browser() as browser:
            figures = self.shown(browser, "run.html")
            self.assertEqual(set(figures), {"convergence", "progress", "singular-values", "residual-distribution"})
            self.check_zoom(browser, "convergence")
            self.check_axes(browser, "convergence", ("logarithmic", "linear"), ("linear", "logarithmic"))
            self.keep(browser, "run-light")
            self.check_theme(browser)
            self.unspoilt_after_clicks(browser)
        with Browser(390, 800, dark=True) as phone:
            self.shown(phone, "run.html")
            self.keep(phone, "run-phone-dark")

    def unspoilt_after_clicks(self, browser):
        self.assertEqual(browser.errors(), [])
        self.assertEqual([url for url in browser.requests() if not url.startswith("data:")], [])

    def test_page_of_the_reproduction(self):
        write_paper_data(self.folder / "data")
        self.succeed("reproduce", "all", "--quick", "--data", "data", "--out", "out", "--quiet")
        page = "out/index.html"
        declared = {json.loads(path.read_text())["name"] for path in self.experiments()}
        with Browser() as browser:
            figures = self.shown(browser, page)
            for name in declared:
                self.assertTrue(any(figure.startswith(name) for figure in figures), f"no chart of {name}")
                tables = browser.run(IDS, "table")
                self.assertLessEqual({f"{name}-results", f"{name}-protocol"}, set(tables))
            self.assertIn("component-functions", figures)
            self.assertIn("comparisons", tables)
            self.assertTrue(browser.run(IDS, "figure.gallery"))
            self.check_axes(browser, "covariance-200-convergence", ("logarithmic", "linear"), ("logarithmic", "linear"))
            self.keep(browser, "reproduction-light")
            self.check_theme(browser)
            self.unspoilt_after_clicks(browser)
        with Browser(390, 800, dark=True) as phone:
            self.shown(phone, page)
            self.keep(phone, "reproduction-phone-dark")

    def experiments(self):
        folder = pathlib.Path(__file__).resolve().parents[2] / "experiments"
        return [path for path in folder.glob("*.json") if path.name != "datasets.json"]


if __name__ == "__main__":
    import unittest

    unittest.main()
