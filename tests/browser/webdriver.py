"""A headless Chromium by the WebDriver protocol (W3C), with nothing but Python's own library.

Started with `with Browser() as browser:`; needs Debian's chromium and chromium-driver. Network requests and console
errors are taken from Chromium's performance and browser logs.
"""

import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request


class Browser:
    def __init__(self, width=1200, height=900, dark=False):
        self.width, self.height, self.dark = width, height, dark

    def __enter__(self):
        if not shutil.which("chromedriver") or not shutil.which("chromium"):
            raise RuntimeError("chromium and chromedriver are needed (Debian: chromium, chromium-driver)")
        self.profile = tempfile.TemporaryDirectory(prefix="tracenorm-browser-")
        # Port 0: the driver takes a free one and says which.
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            self.base += "/session/" + self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if "/session/" in getattr(self, "base", ""):
                self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=20)
            self.driver.stdout.close()
            self.profile.cleanup()

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip(".\n ").split()[-1])
        raise RuntimeError("chromedriver did not start")

    def _start(self):
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            f"--window-size={self.width},{self.height}", f"--user-data-dir={self.profile.name}",
        ]  # fmt: skip
        options = {"binary": shutil.which("chromium"), "args": arguments}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        return session

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def command(self, name, **parameters):
        """A command of Chromium's own protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        """Opens a file as a window of exactly the given size would show it."""
        self.command("Emulation.setDeviceMetricsOverride", width=self.width, height=self.height, deviceScaleFactor=1,
                     mobile=self.width < 600)  # fmt: skip
        theme = "dark" if self.dark else "light"
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self._call("POST", "/url", {"url": "about:blank"})
        self.errors(), self.requests()  # what the browser did before is not the page's
        self._call("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        """The value that the body of a JavaScript function returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector, text=None):
        """A real click, as by a mouse, on the first element that matches (and has this text)."""
        element = self.run(
            "const all = [...document.querySelectorAll(arguments[0])];"
            "return all.find(e => !arguments[1] || e.textContent === arguments[1])",
            selector, text,
        )  # fmt: skip
        if element is None:
            raise RuntimeError(f"nothing to click: {selector} {text or ''}")
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        self._call("POST", f"/element/{next(iter(element.values()))}/click", {})

    def drag(self, selector, begin, end, clicks=1):
        """Presses the mouse at a share of the element's width, moves, lets go; two clicks: a double one."""
        self.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector
        )
        box = self.run("const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                       "return [b.x, b.y, b.width, b.height]", selector)  # fmt: skip
        place = [
            {"x": box[0] + share * box[2], "y": box[1] + 0.4 * box[3]} for share in (begin, (begin + end) / 2, end)
        ]
        mouse = {"button": "left", "pointerType": "mouse"}
        for click in range(1, clicks + 1):
            self.command("Input.dispatchMouseEvent", type="mousePressed", clickCount=click, **place[0], **mouse)
            for at in place[1:]:
                self.command("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, **at, **mouse)
            self.command("Input.dispatchMouseEvent", type="mouseReleased", clickCount=click, **place[2], **mouse)

    def wait(self, script, seconds=20):
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise RuntimeError(f"did not happen: {script}")
            time.sleep(0.05)

    def errors(self):
        """What scripts complained about."""
        return [line["message"] for line in self._call("POST", "/se/log", {"type": "browser"})
                if line["level"] in ("SEVERE", "WARNING")]  # fmt: skip

    def requests(self):
        """Addresses that were asked for since the last call."""
        lines = [
            json.loads(line["message"])["message"] for line in self._call("POST", "/se/log", {"type": "performance"})
        ]
        return [line["params"]["request"]["url"] for line in lines if line["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path, whole=False):
        """Of the window, or of the whole page."""
        options = {"format": "png"}
        if whole:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            options |= {
                "captureBeyondViewport": True,
                "clip": {"x": 0, "y": 0, "scale": 1, **{k: size[k] for k in ("width", "height")}},
            }
        pathlib.Path(path).write_bytes(base64.b64decode(self.command("Page.captureScreenshot", **options)["data"]))
