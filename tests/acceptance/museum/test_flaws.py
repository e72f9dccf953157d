"""The cheap flaws of the museum are convicted, as its page says."""

import pytest

from museum.exhibits import FLAWED
from tests.acceptance.museum.cheap import FLAW_SECONDS, FLAWS, LAST_BITS, verdicts


@pytest.mark.parametrize("name", FLAWS)
def test_a_flaw_is_convicted(name: str) -> None:
    assert verdicts(name, FLAWED, FLAW_SECONDS if name in LAST_BITS else None) == ("VIOLATED", "VIOLATED")
