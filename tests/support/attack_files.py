"""Where an attack of the catalogue is written down: tests of all attacks name the file to edit."""

from typing import Any

from subnormal.attacks.catalogue import constructors
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import split


def file_of(attack: Attack[Any, Any, Any]) -> str:
    """Return the file of the attack's constructor, from the top of the checkout."""
    module = constructors()[split(attack.name)[0]].build.__module__
    return f"{module.removeprefix('subnormal.').replace('.', '/')}.py"
