"""A headless Chromium for the tests of the HTML page: Debian's package, without downloads."""

from __future__ import annotations

import base64
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


def find_chromium() -> tuple[str, str] | None:
    """The browser and its driver."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser is not None and driver is not None else None


class Browser:
    """A browser window with the operations that tests need."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=_WATCH)

    def cdp(self, command: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def open(self, file: Path, address: str = "", *, width: int = 1280, height: int = 900, dark: bool = False,
             scripts: bool = True, touch: bool = False) -> None:  # fmt: skip
        """Open a file anew, as a window of this size shows it."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.cdp("Emulation.setEmulatedMedia", media="", features=features)
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.visit(f"{file.as_uri()}{address}")

    def visit(self, url: str) -> None:
        """Open an address, and wait until it is loaded."""
        self.driver.get("about:blank")
        self.driver.get(url)
        while self.js("return document.readyState") != "complete":  # the driver does not always wait for it
            time.sleep(0.02)

    def complaints(self) -> list[str]:
        """Messages of the console and violations of the page's policy since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")] + self.js("return window.refused || []")

    def pause(self) -> None:
        """Wait until the page has run its pending work."""
        self.driver.execute_async_script("setTimeout(arguments[0], 100)")

    def pdf(self) -> bytes:
        return base64.b64decode(self.cdp("Page.printToPDF", printBackground=True)["data"])

    def screenshot(self) -> bytes:
        return base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"])


_WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
addEventListener("error", (event) => window.refused.push(String(event.message)));
"""


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with a new profile; skips the test where none is installed."""
    found = find_chromium()
    if found is None:
        pytest.skip("no chromium and chromedriver in PATH")
    binary, program = found
    os.environ["SE_OFFLINE"] = "true"  # Selenium would look for drivers elsewhere
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(program))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


def visible(browser: Browser) -> list[str]:
    return browser.js("return [...document.querySelectorAll('.item:not([hidden])')].map((item) => item.id)")


def shown(browser: Browser) -> str:
    return browser.js("return document.getElementById('shown').textContent")


def tick(browser: Browser, facet: str, value: str) -> None:
    browser.js("document.querySelector(`[data-facet=${arguments[0]}] [value='${arguments[1]}']`).click()", facet, value)


def choose(browser: Browser, facet: str, value: str) -> None:
    browser.js(
        "const list = document.querySelector(`[data-facet=${arguments[0]}]`); list.value = arguments[1];"
        "list.dispatchEvent(new Event('change', {bubbles: true}))", facet, value,
    )  # fmt: skip


def address(browser: Browser) -> str:
    return browser.js("return location.hash")
