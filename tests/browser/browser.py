"""A headless Chromium, and what the tests of pages ask of it."""

import base64
import json
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

OVERFLOW = "return document.documentElement.scrollWidth > innerWidth"


def open_browser(width=1200, height=900, dark=False):
    """A window of exactly this size; what scripts say and ask for is kept in its logs."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
    return browser


def errors(browser):
    """What scripts complained about since the last call."""
    return [line["message"] for line in browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]


def requests(browser):
    """Addresses that were asked for since the last call, data inside the page left out."""
    lines = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    sent = [line["params"]["request"]["url"] for line in lines if line["method"] == "Network.requestWillBeSent"]
    return [url for url in sent if not url.startswith("data:")]


def screenshot(browser, path, whole):
    """Of the window, or of the whole page."""
    options = {"format": "png", "captureBeyondViewport": whole}
    if whole:
        size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        options["clip"] = {"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]}
    path.write_bytes(base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))
