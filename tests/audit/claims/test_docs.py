"""docs/claims.md lists every kind and its parameters."""

from pathlib import Path

from subnormal.audit.claims.kinds import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "claims.md"


def test_the_page_lists_every_kind() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    listed = {row.split("`")[1]: row for row in rows}
    assert [name for name in listed if name in {one.name for one in KINDS}] == [one.name for one in KINDS]
    for one in KINDS:
        assert f"| {one.asks} |" in listed[one.name]
        assert ("| exact |" in listed[one.name]) == one.exact
        assert all(f"`{parameter}`" in listed[one.name] for parameter in one.parameters)
