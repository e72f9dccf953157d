"""A page in Firefox: one named by the environment variable FIREFOX, or on the PATH. It speaks WebDriver BiDi."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PATIENCE, started

FIREFOX = os.environ.get("FIREFOX") or next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
NEEDS_FIREFOX = pytest.mark.skipif(
    FIREFOX is None, reason="no Firefox: set FIREFOX, or put firefox-esr or firefox on the PATH"
)


class FirefoxPage:
    """The only tab of a Firefox: a part of playwright's page."""

    def __init__(self, address: str) -> None:
        import websocket

        self.socket = websocket.create_connection(f"{address}/session", timeout=PATIENCE, suppress_origin=True)
        self.numbers = count(1)
        self.ask("session.new", capabilities={})
        self.tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """Return the result of a command. Raises AssertionError with Firefox's answer where it fails."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv())).get("id") != number:
            pass  # an event
        assert answer["type"] == "success", answer
        return answer["result"]

    def goto(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        self.ask("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def evaluate(self, function: str, given: object = None) -> Any:
        """Return what a JavaScript function returns, or what its promise does."""
        expression = f"(async () => JSON.stringify(await ({function})({json.dumps(given)})))()"
        told = self.ask("script.evaluate", expression=expression, target={"context": self.tab}, awaitPromise=True)
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return json.loads(told["result"].get("value", "null"))


@contextmanager
def launched(profile: Path) -> Iterator[FirefoxPage]:
    """Give a tab of a Firefox without a screen, closed at the end. profile: a folder that it may write to."""
    command: list[str | Path] = [
        str(FIREFOX),
        "--headless",
        "--no-remote",
        "--profile",
        profile,
        "--remote-debugging-port",
        "0",
    ]
    log = profile.with_suffix(".log")
    profile.mkdir()
    with log.open("w") as written, started(command, stdout=written, stderr=written) as process:
        while (address := re.search(r"listening on (ws://\S+)", log.read_text())) is None:
            assert process.poll() is None, log.read_text()
        page = FirefoxPage(address[1])
        yield page
        page.socket.close()
