"""The reader's own noise in docs/explorer.html: its laws are those of its bits, and it runs shut in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.explorer import firefox
from tests.acceptance.explorer.firefox import NEEDS_FIREFOX
from tests.support.browser import NEEDS_BROWSER, Opened
from tests.support.paths import ROOT

pytestmark = NEEDS_BROWSER

PAGE = (ROOT / "docs" / "explorer.html").as_uri()
LAW = """([code, value, bits]) => {
  const release = new Function("value", "uniform", "coin", code);
  const { counts, rest } = explorer.lawOfCode(release, value, bits);
  return [[...counts].map(([output, count]) => [output, count]), rest];
}"""
OWN = "code => explorer.exploreOwn({code, with: 1, without: 0, epsilon: %s, bits: 4}).naive"
RESPONSE = "if (coin()) return value;\nreturn coin() ? 1 : 0;"
GEOMETRIC = "let size = 0;\nwhile (coin()) size++;\nreturn value + (coin() ? size : -size);"

# Code that asks an address in each way that a worker has.
ESCAPES = """const address = "%s";
try { fetch(address + "fetch").catch(() => 0); } catch {}
try { const asked = new XMLHttpRequest(); asked.open("GET", address + "xhr", false); asked.send(); } catch {}
try { importScripts(address + "script"); } catch {}
try { import(address + "module").catch(() => 0); } catch {}
try { new EventSource(address + "events"); } catch {}
try { new WebSocket(address.replace("http", "ws")); } catch {}
return value;"""


def law(page: Any, code: str, value: int, bits: int = 4) -> tuple[dict[Any, Fraction], Fraction]:
    """Return the probabilities that the page finds, and the rest."""
    counts, rest = page.evaluate(LAW, [code, value, bits])
    return {output: Fraction(int(count), 2**48) for output, count in counts}, Fraction(int(rest), 2**48)


def test_its_laws_are_those_of_the_bits(explorer: Any) -> None:
    """By hand: randomized response, uniforms, an error, and geometric noise, which is cut off after 48 bits."""
    assert law(explorer, RESPONSE, 1) == ({1: Fraction(3, 4), 0: Fraction(1, 4)}, 0)
    assert law(explorer, "return uniform();", 0) == ({k / 16: Fraction(1, 16) for k in range(1, 17)}, 0)
    both, rest = law(explorer, "return uniform() + uniform();", 0, bits=2)
    assert rest == 0
    assert both == {k / 4: Fraction(4 - abs(k - 5), 16) for k in range(2, 9)}
    found, _ = law(explorer, "if (coin()) throw Error('x'); return value;", 5)
    assert found == {"error: x": Fraction(1, 2), 5: Fraction(1, 2)}
    noise, rest = law(explorer, GEOMETRIC, 0)
    assert rest == Fraction(1, 2**47)  # 47 heads and more need the 49th bit
    assert noise[0] == Fraction(1, 2)
    assert all(noise[sign * k] == Fraction(1, 2 ** (k + 2)) for k in range(1, 47) for sign in (-1, 1))


@pytest.mark.parametrize(
    ("code", "epsilon", "violated", "loss"),
    [
        (RESPONSE, 1.0, True, math.log(3)),
        (RESPONSE, 1.0986, True, math.log(3)),
        (RESPONSE, 1.0987, False, math.log(3)),
        (GEOMETRIC, 1.5, False, 0),  # the ends may differ: not resolved
        (GEOMETRIC, 1.3, True, math.log(4)),
        ("while (coin());\nreturn value;", 1.0, True, 48 * math.log(2)),
        ("return value;", 9.0, True, "Infinity"),
    ],
)
def test_a_verdict_is_that_of_the_bounds(explorer: Any, code: str, epsilon: float, violated: bool, loss: Any) -> None:
    found = explorer.evaluate(OWN % epsilon, code)
    assert found["violated"] is violated
    assert found["loss"] == (math.inf if loss == "Infinity" else pytest.approx(loss, abs=0.02))
    assert bool(found["partial"]) is ("while" in code)


def test_code_whose_runs_are_all_cut_off_has_no_law(explorer: Any) -> None:
    with pytest.raises(Exception, match="no run ends within 48 bits"):
        explorer.evaluate(
            "() => explorer.exploreOwn({code: 'for (;;) uniform();', with: 1, without: 0, epsilon: 1, bits: 14})"
        )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("return value +;", "Unexpected token"),
        ("return Math.random();", "call uniform() or coin() instead of Math.random()"),
        ("globalThis.n = (globalThis.n ?? 0) + 1;\nreturn globalThis.n;", "different outputs for the same bits"),
        ("return vaule;", "The code fails in every run (error: vaule is not defined)"),
        ("while (true);", "stopped after 5 seconds"),
    ],
)
def test_code_without_a_verdict_says_why(browser: Any, code: str, told: str) -> None:
    with Opened(browser, f"{PAGE}#mechanism=own") as page:
        page.locator("#code").fill(code)
        page.locator("#says", has_text=told).wait_for()
        assert page.locator("#says b").inner_text() == "NO VERDICT"
        page.get_by_role("link", name="Fair coins alone").click()
        page.locator("#says", has_text="HOLDS for this pair").wait_for()
        assert page.locator("#epsilon, [data-path=epsilon][type=text]").input_value() == "1.4"


def test_a_page_that_computes_for_long_does_not_stop_the_code(browser: Any) -> None:
    with Opened(browser, f"{PAGE}#mechanism=own") as page:
        page.locator("#says", has_text="VIOLATED").wait_for()
        page.evaluate(
            """() => {  // a tenth of every wait, and a page that is busy for longer than code may take
              const [wait, repeat] = [window.setTimeout, window.setInterval];
              window.setTimeout = (task, time) => wait(task, time / 10);
              window.setInterval = (task, time) => repeat(task, time / 10);
              document.querySelector("#code").value += " // edited";
              document.querySelector("#code").dispatchEvent(new Event("input", { bubbles: true }));
              wait(() => { for (const end = performance.now() + 800; performance.now() < end;); }, 40);
            }"""
        )
        page.wait_for_timeout(850)
        page.locator("#says", has_not_text="…").wait_for()
        assert page.locator("#says b").inner_text() == "VIOLATED"


def test_code_is_edited_its_link_repeats_it_and_runs_only_after_a_press(browser: Any) -> None:
    code = "// answers to a question\nreturn coin() || coin() ? value : 1 - value;"
    with Opened(browser, f"{PAGE}#mechanism=own") as page:
        page.locator("#code").fill(code)
        page.keyboard.press("b")  # a letter of the code is no guess
        assert page.locator("#round").inner_text().startswith("Round 1 of 10")
        page.locator("#code").fill(code)
        page.locator("#says", has_text="Loss 1.099").wait_for()
        link = page.url
        assert quote("coin() || coin()", safe="()") in link
    with Opened(browser, link) as page:
        page.wait_for_timeout(600)
        assert page.locator("#says").inner_text() == "NO VERDICT This code came with the link. Read it, then press Run."
        assert page.locator("#code").input_value() == code
        page.get_by_role("button", name="Run").click()
        page.locator("#says", has_text="VIOLATED").wait_for()
        page.get_by_role("textbox", name="ε").fill("1.1")
        page.locator("#says", has_text="HOLDS for this pair").wait_for()
        assert page.get_by_role("slider", name="Read an output").get_attribute("max") == "1"


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server, and a list of what it is asked."""
    asked: list[str] = []

    class Noted(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Noted)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", asked
    server.shutdown()
    server.server_close()


RUN = """code => new Promise((done, failed) => {
  location.hash = "#mechanism=own";
  setTimeout(() => {
    const editor = document.querySelector("#code");
    editor.value = code;
    editor.dispatchEvent(new Event("input", { bubbles: true }));
    setTimeout(() => done(document.querySelector("#says").textContent), 2000);
  }, 200);
})"""


@pytest.mark.parametrize("guarded", [True, False])
def test_code_has_no_network(browser: Any, guarded: bool) -> None:
    """Without the page's policy, the same code is heard."""
    with listening() as (address, asked):
        page = Opened(browser, PAGE, bypass_csp=not guarded).page
        assert "VIOLATED" in page.evaluate(RUN, ESCAPES % address)
        assert (asked == []) is guarded
        page.context.close()


@NEEDS_FIREFOX
def test_code_has_no_network_in_firefox(tmp_path: Path) -> None:
    with listening() as (address, asked), firefox.launched(tmp_path / "profile") as page:
        page.goto(PAGE)
        assert "VIOLATED" in page.evaluate(RUN, ESCAPES % address)
        assert asked == []
