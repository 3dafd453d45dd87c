"""The HTML pages in headless Chromium: everything is there and drawn, nothing complains, nothing asks the network."""

import os
import pathlib

from browser import OVERFLOW, errors, open_browser, requests, screenshot
from paper_data import write_paper_data
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from support import EXPERIMENTS, ProgramTest

# Whether a canvas shows more than a few colours, pixel by pixel (on a copy: reading changes how a canvas is kept).
DRAWN = """
const canvas = document.querySelector(arguments[0]);
const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
copy.drawImage(canvas, 0, 0);
const pixels = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
return canvas.width > 50 && new Set(pixels).size > arguments[1]"""

IDS = "return [...document.querySelectorAll(arguments[0])].map(e => e.id)"
EMPTY_TABLES = """
return [...document.querySelectorAll('table')].filter(t => {
  const numbers = [...t.querySelectorAll('td.number')].map(c => c.textContent);
  const words = [...t.querySelectorAll('td.words')].map(c => c.textContent);
  return !t.querySelector('tbody tr') || (numbers.length ? !numbers.some(x => x) : !words.some(x => x));
}).map(t => t.id)"""
EMPTY_COLUMNS = """
return [...document.querySelectorAll('table')].filter(t => [...t.querySelectorAll('thead th')].some((_, i) =>
  [...t.querySelectorAll('tbody tr')].every(row => row.children[i].textContent === ''))).map(t => t.id)"""
SIDEWAYS = "return [...document.querySelectorAll('.wide')].some(e => e.scrollWidth > e.clientWidth + 1)"
# Kind and title of both axes.
AXES = """
const {x, y} = Chart.getChart(document.querySelector(arguments[0] + ' canvas')).scales;
return [x.type, y.type, x.options.title.text, y.options.title.text]"""


class PagesTest(ProgramTest):
    def shown(self, browser, page):
        """Opens a page and checks what holds for every page."""
        errors(browser), requests(browser)  # what the browser did before is not the page's
        address = (self.folder / page).resolve().as_uri()
        browser.get(address)
        figures = browser.execute_script(IDS, "figure.chart")
        self.assertTrue(figures)
        for figure in figures:
            self.assertTrue(browser.execute_script(DRAWN, f"#{figure} canvas", 10), f"{figure} is blank")
        self.assertEqual(browser.execute_script(EMPTY_TABLES), [])
        self.assertFalse(browser.execute_script(OVERFLOW), "the page is wider than the window")
        self.assertEqual(errors(browser), [])
        self.assertEqual(requests(browser), [address])
        return figures

    def find(self, browser, selector):
        """The element, scrolled to the middle of the window."""
        element = browser.find_element(By.CSS_SELECTOR, selector)
        browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        return element

    def click(self, browser, selector):
        self.find(browser, selector).click()

    def keep(self, browser, name):
        """Pictures for a person to look at, where TRACENORM_SCREENSHOTS names a folder."""
        if folder := os.environ.get("TRACENORM_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            screenshot(browser, pathlib.Path(folder, name + ".png"), whole=False)
            screenshot(browser, pathlib.Path(folder, name + "-whole.png"), whole=True)

    def check_axes(self, browser, figure, x_types, y_types):
        """Clicks change the kind of an axis and what is on it."""
        place = f"#{figure} .controls"
        before = browser.execute_script(AXES, f"#{figure}")
        self.assertEqual(before[0], x_types[0])
        self.click(browser, f"{place} span:nth-of-type(1) button:nth-of-type(2)")  # seconds instead of iterations
        self.assertIn("seconds", browser.execute_script(AXES, f"#{figure}")[2])
        self.click(browser, f"{place} span:nth-of-type(2) button[aria-pressed=false]")
        self.assertEqual(browser.execute_script(AXES, f"#{figure}")[0], x_types[1])
        self.click(browser, f"{place} span:nth-of-type(4) button[aria-pressed=false]")
        self.assertEqual(browser.execute_script(AXES, f"#{figure}")[1], y_types[1])
        self.click(browser, f"{place} span:nth-of-type(3) button:nth-of-type(2)")  # another ordinate
        self.assertNotEqual(browser.execute_script(AXES, f"#{figure}")[3], before[3])
        self.assertTrue(browser.execute_script(DRAWN, f"#{figure} canvas", 10))

    def check_zoom(self, browser, figure):
        """Dragging shows a part of the x axis, a double click all of it again."""
        width = """
            const {min, max} = Chart.getChart(document.querySelector(arguments[0])).scales.x;
            return Math.log(max / Math.max(min, 1e-9))"""
        selector = f"#{figure} canvas"
        before = browser.execute_script(width, selector)
        canvas = self.find(browser, selector)
        aside = int(0.1 * canvas.size["width"])  # from the middle, each way
        mouse = ActionChains(browser)
        mouse.move_to_element_with_offset(canvas, -aside, 0).click_and_hold().move_by_offset(2 * aside, 0).release()
        mouse.perform()
        self.assertLess(browser.execute_script(width, selector), 0.5 * before)
        ActionChains(browser).double_click(canvas).perform()
        self.assertEqual(browser.execute_script(width, selector), before)

    def check_theme(self, browser):
        paper = "return getComputedStyle(document.body).backgroundColor"
        before = browser.execute_script(paper)
        self.click(browser, "#theme")
        self.assertNotEqual(browser.execute_script(paper), before)
        self.assertEqual((errors(browser), requests(browser)), ([], []))

    def test_page_of_a_run(self):
        self.succeed(
            "complete", self.ratings(), "--radius", 20, "--split", "0.5,0.25,0.25", "--report", "run.html", "--quiet"
        )
        with open_browser() as browser:
            figures = self.shown(browser, "run.html")
            self.assertEqual(set(figures), {"convergence", "progress", "singular-values", "residual-distribution"})
            self.check_zoom(browser, "convergence")
            self.assertEqual(browser.execute_script(AXES, "#convergence")[3], "certified gap, %")
            self.check_axes(browser, "convergence", ("logarithmic", "linear"), ("logarithmic", "linear"))
            self.assertIn("the optimum lies between", self.find(browser, "#convergence figcaption").text)
            self.assertEqual(browser.execute_script(EMPTY_COLUMNS), [])
            self.keep(browser, "run-light")
            self.check_theme(browser)
        with open_browser(390, 800, dark=True) as phone:
            self.shown(phone, "run.html")
            self.assertFalse(phone.execute_script(SIDEWAYS), "a table has to be scrolled sideways")
            self.keep(phone, "run-phone-dark")

    def test_the_path_is_a_chart(self):
        self.succeed("complete", self.ratings(), "--report", "run.html", "--quiet")
        with open_browser(1400, 900) as browser:
            self.assertIn("radius-path", self.shown(browser, "run.html"))
            self.assertNotIn("##", self.find(browser, "#summary").text)
            self.keep(browser, "path-wide")
        with open_browser(390, 800) as phone:
            self.shown(phone, "run.html")
            self.assertFalse(phone.execute_script(SIDEWAYS), "a table has to be scrolled sideways")
            self.keep(phone, "path-phone")

    def test_page_of_links(self):
        self.succeed("links", self.edges(), "--radius", 30, "--report", "run.html", "--quiet")
        with open_browser() as browser:
            self.assertIn("roc", self.shown(browser, "run.html"))
            rows = browser.find_elements(By.CSS_SELECTOR, "#top-links tbody tr")
            self.assertEqual(len(rows), 20)
            scores = [float(row.find_elements(By.TAG_NAME, "td")[2].text) for row in rows]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.keep(browser, "links-light")

    def test_page_of_a_denoised_matrix(self):
        self.succeed("denoise", self.matrix(rows=300, cols=240), "--radius", 60, "--report", "run.html", "--quiet")
        for dark in (False, True):
            with open_browser(dark=dark) as browser:
                self.shown(browser, "run.html")
                for place in range(1, 4):
                    picture = f"#matrix figure:nth-of-type({place}) canvas"
                    self.assertTrue(browser.execute_script(DRAWN, picture, 10), f"picture {place} is blank")
                self.keep(browser, "denoise-dark" if dark else "denoise-light")

    def test_page_of_the_reproduction(self):
        write_paper_data(self.folder / "data")
        done = self.reproduce("all", "--quick", "--data", "data", "--out", "out", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = "out/index.html"
        declared = {path.stem for path in EXPERIMENTS.glob("*.json")} - {"datasets"}
        with open_browser() as browser:
            figures = self.shown(browser, page)
            tables = browser.execute_script(IDS, "table")
            for name in declared:
                self.assertTrue(any(figure.startswith(name) for figure in figures), f"no chart of {name}")
                self.assertLessEqual({f"{name}-results", f"{name}-protocol"}, set(tables))
            self.assertIn("component-functions", figures)
            self.assertIn("comparisons", tables)
            pictures = f"#{browser.execute_script(IDS, 'figure.gallery')[0]} figure"
            self.assertEqual(len(browser.find_elements(By.CSS_SELECTOR, pictures)), 1 + 6)  # the truth and six methods
            self.assertTrue(browser.execute_script(DRAWN, f"{pictures} canvas", 1), "the pattern is blank")
            self.check_axes(browser, "covariance-200-convergence", ("logarithmic", "linear"), ("logarithmic", "linear"))
            self.keep(browser, "reproduction-light")
            self.check_theme(browser)
        with open_browser(390, 800, dark=True) as phone:
            self.shown(phone, page)
            self.keep(phone, "reproduction-phone-dark")


if __name__ == "__main__":
    import unittest

    unittest.main()
