"""What the code of functions does with the names that it reads."""

from __future__ import annotations

import dis
import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

LOADERS = frozenset(("__loader__", "__spec__", "getfixture"))  # the last one is of pytest, in a text with examples
REFLECTING = frozenset(("eval", "exec", "globals", "locals", "vars"))
CALLED = 1  # bit of an instruction that loads a name: it is called at once
SEARCHED = 1 << 14  # objects of a module, among which its functions are
READ_NAMES, READ_ATTRIBUTES = ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_FROM"), ("LOAD_ATTR", "LOAD_METHOD")
READ_CELLS = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
BESIDE = (
    "EXTENDED_ARG",
    "CACHE",
    "NOP",
    "KW_NAMES",
    "STORE_FAST",
    "POP_TOP",
    "POP_JUMP",
    "JUMP_FORWARD",
)  # read no value but that on top
METHODS_ARE_ATTRIBUTES, NULL_FOLLOWS = sys.version_info >= (3, 12), sys.version_info >= (3, 13)


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and those in it, as of generator expressions."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from inner_codes(one)


def codes_of(names: dict[str, Any], functions: Iterable[FunctionType]) -> list[CodeType] | None:
    """Return the code of all functions of a module, wherever they are kept; None where there are too many objects.

    names: of the module. functions: some of these, that it may not hold.

    Functions are looked for in all that the function and its module hold: classes, decorators, dictionaries. What has
    loaded a module is not its own: in a test, the loader leads to all of pytest.
    """
    own = [value for name, value in names.items() if name not in LOADERS]
    codes, seen, ahead = list[CodeType](), dict[int, Any](), [*functions, *own]
    while ahead:
        one = ahead.pop()
        kind = type(one)
        is_other = issubclass(kind, type) and one.__module__ != names.get("__name__")
        if id(one) in seen or is_other or issubclass(kind, ModuleType):
            continue
        seen[id(one)] = one  # kept, so that no other object has its id
        if len(seen) > SEARCHED:
            return None
        if kind is FunctionType:
            codes += inner_codes(one.__code__) if one.__globals__ is names else []
            ahead += [one.__closure__, one.__dict__, one.__defaults__, one.__kwdefaults__]
        elif gc.is_tracked(one):
            ahead += gc.get_referents(one)
    return codes


def only_calls(codes: Iterable[CodeType] | None, name: str, readers: Sequence[str]) -> bool:
    """Return whether codes do nothing with what a name stands for but call it, where these instructions read it.

    Without codes, nothing is known.
    """
    if codes is None:
        return False
    for code in codes:
        if name in code.co_consts or ("LOAD_GLOBAL" in readers and not REFLECTING.isdisjoint(code.co_names)):
            return False  # it may be found otherwise
        if name in (*code.co_names, *code.co_freevars, *code.co_cellvars):
            found = list(dis.get_instructions(code))
            reads = [at for at, one in enumerate(found) if one.argval == name and one.opname in readers]
            if not all(_is_called(found, at) for at in reads):
                return False
    return True


def _is_called(instructions: list[dis.Instruction], at: int) -> bool:
    """Return whether what an instruction loads is called at once, by the instructions of this version of Python."""
    one = instructions[at]
    has_place = bool((one.arg or 0) & CALLED)
    if one.opname == "LOAD_METHOD" or (one.opname == "LOAD_ATTR" and METHODS_ARE_ATTRIBUTES and has_place):
        return True
    if NULL_FOLLOWS:
        is_followed = at + 1 < len(instructions) and instructions[at + 1].opname == "PUSH_NULL"
        return is_followed or (one.opname == "LOAD_GLOBAL" and has_place)
    return _is_callee(instructions[at + 1 :])


def _is_callee(later: list[dis.Instruction]) -> bool:
    """Return whether the value on top of the stack is what a later instruction calls, with no jump back before."""
    above = 0  # values on top of it
    at_targets: dict[int, int] = {}  # how many there are where a jump leads
    is_reached = True
    for one in later:
        if not is_reached and one.offset not in at_targets:
            return False
        above = above if is_reached else at_targets[one.offset]
        count = one.arg or 0
        if one.opname in ("PRECALL", "CALL", "CALL_FUNCTION_EX"):
            given = 1 + (count & 1) if one.opname == "CALL_FUNCTION_EX" else count
            if given >= above:
                return given == above
        left = above + dis.stack_effect(one.opcode, one.arg, jump=False)
        is_read = left < 0 or (left == 0 and not one.opname.startswith(BESIDE))  # what takes all above may take it, too
        if is_read or "BACKWARD" in one.opname or one.opname.startswith(("FOR_", "RETURN_", "YIELD_")):
            return False
        if "JUMP" in one.opname:
            at_targets[one.argval] = above + dis.stack_effect(one.opcode, one.arg, jump=True)
        is_reached = one.opname != "JUMP_FORWARD"
        above = left
    return False
