"""check.json and its schema, and the page: results of every stage, and what they hold."""

import json
import math
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from docs.schema import schema
from subnormal import Claim, Verdict, Zcdp, add_or_remove, check, stability
from subnormal.audit.check import page, regression, words
from subnormal.audit.check.document import to_json
from subnormal.audit.check.evidence import ModelledEvidence, ModelledLoss
from subnormal.audit.check.result import Result
from subnormal.audit.engine import provenance
from tests.support.paths import ROOT
from tests.support.work_clock import work_counted

VALIDATOR = Draft202012Validator(json.loads((ROOT / "docs" / "check.schema.json").read_text()))
LISTS = st.lists(st.integers(0, 9), max_size=3)


def raises(records: list[int]) -> None:
    raise ValueError("no such column")


def noisy(records: list[int]) -> float:
    return len(records) + random.expovariate(1.0) - random.expovariate(1.0)


def unclipped(records: list[int]) -> float:
    return sum(records) + random.gauss(0.0, 1.0)


CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "first call": (raises, Claim(1.0)),
    "stability": (len, Claim(1.0)),
    "replay": (unclipped, Zcdp(0.5)),
    "runs": (noisy, Claim(0.1)),
}


@pytest.fixture(scope="module", params=CASES)
def result(request: pytest.FixtureRequest) -> Result:
    function, claim = CASES[request.param]
    with work_counted():
        found = check(function, LISTS, add_or_remove(), claim, seconds=4)
    assert found.stage == request.param
    return found


def test_the_schema_is_one_and_current() -> None:
    assert schema("check") == (ROOT / "docs" / "check.schema.json").read_text(), "run make schema"
    Draft202012Validator.check_schema(json.loads(schema("check")))


def test_every_stage_makes_a_document_of_the_schema(result: Result) -> None:
    document = json.loads(to_json(result))
    VALIDATOR.validate(document)
    assert document["verdict"] == result.verdict
    assert [kind for kind, one in document["evidence"].items() if one] == list(result.evidence)
    for key in list(document):
        assert not VALIDATOR.is_valid({name: value for name, value in document.items() if name != key}), key


def test_the_inputs_of_a_document_evaluate_to_the_worlds(result: Result) -> None:
    document = json.loads(to_json(result))
    if result.worlds is None:
        assert document["worlds"] is None
    else:
        assert (eval(document["worlds"]["in"]), eval(document["worlds"]["out"])) == result.worlds


def test_numbers_that_json_lacks_are_written_as_the_schema_says() -> None:
    loss = ModelledLoss("random.gauss", "Gaussian", "mine.py:3", math.nan, -math.inf, 1.0, math.inf)
    evidence = ModelledEvidence(Verdict.VIOLATED, Claim(1.0), math.inf, 1.0, loss, 9)
    result = Result(
        Verdict.VIOLATED, "f", Claim(1.0), Claim(1.0), "replay", ([math.nan], [""]), None, {"modelled": evidence}, None,
        (), 1, 3, 0.5, 1,
    )  # fmt: skip
    document = json.loads(to_json(result))
    VALIDATOR.validate(document)
    written = document["evidence"]["modelled"]["release"]
    assert (written["location_in"], written["location_out"], written["loss"]) == ("nan", "-inf", "inf")
    assert document["worlds"] == {"in": "[math.nan]", "out": "['']"}


class Text(HTMLParser):
    """The text of a page; an element that is not closed in its place is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in ("meta", "link", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path",):
            assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        self.words.append(text)


@pytest.mark.parametrize("made", [page.to_html, page.in_notebook])
def test_a_page_shows_the_claim_the_worlds_the_evidence_and_a_test(
    made: Callable[[Result], str], result: Result
) -> None:
    parser = Text()
    parser.feed(made(result))
    assert parser.open == []
    text = " ".join(" ".join(parser.words).split())
    shown = [words.claim_words(result.claim), result.function, "No verdict says that a function is private"]
    if result.error is None:
        assert result.worlds is not None
        test = regression.as_test(result)
        shown += [
            "VIOLATED",
            *map(words.shown, result.worlds),
            *(" ".join(line.split()) for line in str(test).splitlines()),
        ]
        shown += [words.evidence_words(one) for one in result.evidence.values()]
    else:
        shown += ["ERROR", "no such column"]
    assert [one for one in shown if " ".join(one.split()) not in text] == []
    assert ("Where the noise is drawn" in text) == (result.stage == "replay")


def test_a_page_is_one_file_and_escapes_what_it_shows(result: Result) -> None:
    named = replace(result, function="<script>alert(1)</script>", notes=("<b>",), error=result.error and "<i>")
    text = page.to_html(named)
    assert [part for part in ("<script", "<b>", "<i>") if part in text] == []
    assert "http" not in text.replace("http://www.w3.org", "")
    assert ("<svg" in text) == ("sequential" in result.evidence)


def test_long_worlds_are_shortened() -> None:
    pair = ([0.1 * place for place in range(3_000)], list(range(3_000)))
    result = Result(Verdict.NOT_REFUTED, "f", Claim(1.0), None, "runs", pair, None, {}, None, (), 1, 3, 0.5, 1)
    assert len(page.to_html(result)) < 30_000
    assert max(map(len, str(result).splitlines())) <= 80
    assert regression.as_test(result) is None


def test_a_result_shows_itself_in_a_notebook(result: Result) -> None:
    assert result._repr_html_() == page.in_notebook(result)
    assert "<style" not in result._repr_html_()


@pytest.mark.usefixtures("own_clock")
def test_a_result_states_its_seed_which_tries_the_same_pairs_again() -> None:
    tried: list[list[list[int]]] = []

    def noisy_sum(records: list[int]) -> float:
        tried[-1].append(records[:])
        return sum(records) + random.gauss(0.0, 1.0)

    found = []
    for seed in (7, 7, 8):
        tried.append([])
        found.append(check(noisy_sum, LISTS, add_or_remove(), Claim(1.0, 1e-6), examples=20, runs=2_000, seed=seed))
    assert [one.seed for one in found] == [7, 7, 8]
    assert json.loads(to_json(found[0]))["seed"] == 7
    assert "seed 7)" in str(found[0]).splitlines()[0]
    assert tried[0] == tried[1] != tried[2]


def gamma_noise(records: list[int]) -> float:
    """Return a count with Laplace noise whose law is not followed, and whose scale is not recorded: runs decide."""
    return float(len(records) + np.random.standard_gamma(1.0) - np.random.standard_gamma(1.0))


def test_a_page_without_a_violation_does_not_say_that_one_is_shown() -> None:
    """Of the same evidence, only what convicts is said to be shown."""
    sound = check(lambda records: 0, pairs=[([1], [])], claim=Claim(1.0), runs=500)
    assert sound.verdict is Verdict.NOT_REFUTED
    assert "shown at" not in page.to_html(sound)
    assert "these runs do not accuse it: that is no evidence of privacy" in page.to_html(sound)
    naive = check(gamma_noise, pairs=[([1], [])], claim=Claim(0.1))
    assert "so the violation is shown at 99.99" in page.to_html(naive)
    still = stability(len, LISTS, add_or_remove(), bound=1, seconds=0.2)
    assert "is a proof" not in page.to_html(still)


def even(one: list[int], other: list[int]) -> bool:
    return one != other


@pytest.mark.parametrize(
    ("adjacent", "relation"), [(add_or_remove(), "add_or_remove"), (even, "even"), ([([1], [])], None)]
)
def test_a_result_records_what_was_claimed_of_what_and_made_with_what(adjacent: Any, relation: str | None) -> None:
    data = None if relation is None else LISTS
    result = check(raises, data, adjacent, Claim(1.0))
    document, shown = json.loads(to_json(result)), page.to_html(result)
    assert (document["domain"], document["relation"], document["command"]) == (words.stated_words(data), relation, None)
    assert (
        document["versions"].items()
        >= {
            "subnormal": version("subnormal"),
            "numpy": version("numpy"),
            "pytest": version("pytest"),  # which the module of the function imports
        }.items()
    )
    for said in (document["domain"], relation, version("hypothesis"), document["commit"]):
        assert said is None or f"<code>{said}</code>" in shown


def test_a_text_of_a_domain_is_the_same_in_each_process() -> None:
    domain = words.stated_words(st.sampled_from([object(), 1]))
    assert domain == "sampled_from([<object object>, 1])"
    long: Any = words.stated_words(st.sampled_from(range(10_000)).filter(lambda one: one > 5))
    assert len(long) <= words.STATED


def test_the_commit_says_whether_files_differ_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert provenance.commit() is None
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "mine.py").write_text("one = 1")
    for words_of_git in (["init", "-q"], ["add", "mine.py"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words_of_git], check=True, timeout=60)
    clean = provenance.commit()
    assert clean is not None
    assert re.fullmatch("[0-9a-f]{40}", clean)
    (tmp_path / "mine.py").write_text("one = 2")
    assert provenance.commit() == f"{clean} (changed)"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit() is None
