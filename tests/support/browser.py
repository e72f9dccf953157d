"""A page in a real browser: a Chromium named by the environment variable CHROMIUM, or on the PATH."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NEEDS_BROWSER = pytest.mark.skipif(
    CHROMIUM is None, reason="no browser: set CHROMIUM, or put chromium, chromium-browser or google-chrome on the PATH"
)
WIDE, HIGH, NARROW = 1440, 900, 400
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"

# Every text of the page with its contrast: [text, ratio].
CONTRASTS = """() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
  };
  return [...document.body.querySelectorAll("*")]
    .filter(node => !node.closest("script") && [...node.childNodes].some(one => one.nodeType === 3 && one.data.trim()))
    .map(node => {
      const style = getComputedStyle(node);
      const ink = luminance(channels(node.closest("svg") ? style.fill : style.color)), paper = luminance(behind(node));
      return [node.textContent.trim().slice(0, 40), (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
    });
}"""


@contextmanager
def launched() -> Iterator[Any]:
    """Give a browser, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium's own sandbox needs what a container does not give; the only page that it opens is ours.
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Opened:
    """A page and what its console said; `with` gives the page alone, whose console stays empty."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        settings = {"viewport": {"width": WIDE, "height": HIGH}} | options
        self.page = browser.new_context(**settings).new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked(request.url))
        self.page.goto(address)

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, kind: object, *failed: object) -> None:
        self.page.context.close()
        assert kind is not None or self.complaints == []

    def asked(self, address: str) -> None:
        if not address.startswith(("file:", "data:", "blob:")):
            self.complaints.append(f"asked for {address}")


def follow(page: Any, link: Any) -> None:
    """Click a link to another part or state of the page, and return when the page's script has followed it."""
    heard = "addEventListener('hashchange', () => { followed = true; }, {once: true})"
    page.evaluate(f"() => {{ followed = false; {heard}; }}")
    link.click()
    page.wait_for_function("followed")
