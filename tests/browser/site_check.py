"""The documentation site in headless Chromium, from its folder: nothing complains or asks the network, search finds.

Not among the tests of `make test`, which builds no site: `make test-docs` runs it, with TRACENORM_SITE.
"""

import os
import pathlib
import time
import unittest

from browser import OVERFLOW, errors, open_browser, requests, screenshot
from selenium.webdriver.common.by import By

SITE = pathlib.Path(os.environ.get("TRACENORM_SITE", "build/site")).resolve()
PAGES = [
    "index",
    "start/program",
    "tutorials/ratings",
    "program",
    "reference/cpp",
    "reference/python",
    "choosing",
    "how-to",
    "paper",
    "results",
    "troubleshooting",
]
BACKGROUND = "return getComputedStyle(document.body).backgroundColor"
BROKEN = "return [...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)"


class SiteTest(unittest.TestCase):
    def show(self, browser, page):
        errors(browser), requests(browser)
        browser.get((SITE / f"{page}.html").as_uri())
        self.assertEqual(browser.execute_script(BROKEN), [], page)
        self.assertEqual(errors(browser), [], page)
        abroad = [url for url in requests(browser) if not url.startswith(("file:", "about:", "blob:"))]
        self.assertEqual(abroad, [], page)

    def keep(self, browser, name):
        if folder := os.environ.get("TRACENORM_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            screenshot(browser, pathlib.Path(folder, f"site-{name}.png"), whole=False)

    def test_pages_in_light_dark_and_on_a_phone(self):
        grounds = set()
        for size, dark in (((1300, 900), False), ((1300, 900), True), ((390, 800), False)):
            with open_browser(*size, dark=dark) as browser:
                for page in PAGES:
                    self.show(browser, page)
                    self.assertFalse(browser.execute_script(OVERFLOW), f"{page} is wider than the window {size}")
                    self.keep(browser, f"{page.replace('/', '-')}-{size[0]}{'-dark' if dark else ''}")
                grounds.add((dark, browser.execute_script(BACKGROUND)))
        self.assertEqual(len({ground for _, ground in grounds}), 2, grounds)

    def test_search_finds_without_a_server(self):
        with open_browser(1300, 900) as browser:
            self.show(browser, "index")
            browser.find_element(By.CSS_SELECTOR, ".md-search__input").send_keys("duplicates")
            until = time.monotonic() + 30
            while time.monotonic() < until:
                found = browser.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
                if any("troubleshooting" in link.get_attribute("href") for link in found):
                    break
                time.sleep(0.2)
            else:
                self.fail("the search found nothing")
            self.keep(browser, "search")


if __name__ == "__main__":
    unittest.main()
