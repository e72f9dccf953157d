"""The documentation site: a page for each attack and mechanism, and no broken link."""

import sys
from pathlib import Path

import pytest

from docs.site import pages
from subnormal.attacks.catalogue import attacks
from subnormal.audit.model import Report
from subnormal.audit.report import sentences
from subnormal.mechanisms.families import FAMILIES, absent, members
from tests.support.processes import run


@pytest.fixture(scope="module")
def site(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the site."""
    folder = tmp_path_factory.mktemp("site") / "source"
    pages.write(folder, report)
    return folder


def test_every_attack_and_mechanism_has_a_page_with_its_verdicts(site: Path, report: Report) -> None:
    named = {
        "attacks": [attack.name for attack in attacks()],
        "mechanisms": [one.name for family in FAMILIES for one in (*members(family), *absent(family))],
    }
    for kind, names in named.items():
        written = {path.stem for path in (site / kind).glob("*.md")} - {"index"}
        assert written == {pages.file_name(name) for name in names}
    for row in report.rows:
        verdict = sentences.verdict(row)
        for page in (f"attacks/{pages.file_name(row.attack)}.md", f"mechanisms/{pages.file_name(row.mechanism)}.md"):
            other = row.mechanism if page.startswith("attacks") else row.attack
            lines = [line for line in (site / page).read_text().splitlines() if line.startswith(f"| [{other}](")]
            assert any(verdict in line for line in lines), (page, other, verdict)


def test_no_link_of_the_site_is_broken(site: Path, tmp_path: Path) -> None:
    built = run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "dummy", str(site), str(tmp_path)])
    assert built.returncode == 0, built.stderr
