"""Where an attack of the catalogue is written down: tests of all attacks name the file to edit."""

from typing import Any

from subnormal.attacks.catalogue import constructors
from subnormal.attacks.core.attack import Attack
from subnormal.mechanisms.core.options import split


def file_of(attack: Attack[Any, Any, Any]) -> str:
    """Return the file of the attack's constructor, from the top of the checkout."""
    base = split(attack.name)[0]
    assert base in constructors(), f"an attack has the name {attack.name!r}, and no Constructor has the name {base!r}"
    module = constructors()[base].build.__module__
    return f"{module.removeprefix('subnormal.').replace('.', '/')}.py"
