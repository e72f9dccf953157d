"""The repaired twins of the cheap flaws, and other sound releases, are not accused, as the museum's page says.

Each is accused with probability 1e-6 at most.
"""

import pytest

from tests.acceptance.museum.cheap import NOT_ACCUSED, SECONDS, verdicts


@pytest.mark.parametrize(("name", "role"), NOT_ACCUSED)
def test_a_sound_release_is_not_accused(name: str, role: str) -> None:
    assert set(verdicts(name, role, SECONDS)) <= {"NOT REFUTED", "UNDERPOWERED"}
