"""What `audit run` does with a target: a command or a Python callable, under the attacks of a family."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import audit_progress

if TYPE_CHECKING:
    from subnormal.attacks.core.attack import AnyAttack
    from subnormal.audit.model import Report
    from subnormal.audit.targets.stated_claim import StatedClaim
    from subnormal.mechanisms.core.domain import Domain

CLAIM_OPTIONS = ("epsilon", "delta", "sensitivity", "domain")


def finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN and infinities, which every comparison of a range lets pass in one direction."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number")
    return value


def _domain(context: click.Context, parameter: click.Parameter, value: str | None) -> Domain | None:
    from subnormal.mechanisms.core.domain import domain

    try:
        return None if value is None else domain(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a target and state its claim; the command gets them as keyword arguments."""
    for option in reversed(
        (
            click.option(
                "--target",
                metavar="TARGET",
                help="Audit this instead of the house's mechanisms: 'cmd: ./program --flags', which speaks the "
                "protocol of docs/protocol.md, or package.module:function, called with (data, parameters, runs).",
            ),
            click.option(
                "--epsilon",
                type=click.FloatRange(0, 100_000, min_open=True),
                callback=finite,
                help="Budget (nats) that the target claims; its attacks are made for it. Default: each attack's own.",
            ),
            click.option(
                "--delta",
                type=click.FloatRange(0, 1),
                callback=finite,
                help="The δ that the target claims. Default: what the attack's parameters promise, mostly 0. "
                "Thresholds are chosen for it.",
            ),
            click.option(
                "--sensitivity",
                type=click.FloatRange(0, min_open=True),
                callback=finite,
                help="Sensitivity that the claim holds for: attacks whose inputs lie further apart are left out.",
            ),
            click.option(
                "--domain",
                metavar="DOMAIN",
                callback=_domain,
                help="Numbers that the target takes as data: a type as in int32 or uint8, integers, floats, or a range "
                "as in 0.. or -1.0..1.0. Nothing else is sent; attacks with other inputs are left out.",
            ),
            click.option(
                "--timeout",
                type=click.FloatRange(0, 86_400, min_open=True),
                default=60.0,
                show_default=True,
                callback=finite,
                help="Seconds that a command has for one answer; so much is asked for as takes about a second.",
            ),
        )
    ):
        command = option(command)
    return command


@dataclasses.dataclass(frozen=True, slots=True)
class TargetArguments:
    """The target as the command line names it. name is None where none was given."""

    name: str | None
    stated: StatedClaim
    timeout: float

    @classmethod
    def of(cls, options: dict[str, Any]) -> TargetArguments:
        """Return it from the values of `target_options`. Raises UsageError where a claim has no target."""
        from subnormal.audit.targets.stated_claim import StatedClaim

        if options["target"] is None:
            for name in CLAIM_OPTIONS:
                if options[name] is not None:
                    raise click.UsageError(f"--{name} states the claim of a --target, and there is none")
        return cls(options["target"], StatedClaim(*(options[name] for name in CLAIM_OPTIONS)), options["timeout"])


def select_attacks(attacks: Sequence[AnyAttack], stated: StatedClaim, named: bool) -> list[AnyAttack]:
    """Return the attacks for the claim, all of one family. named: whether the user named them, so none may be lost."""
    from subnormal.audit.targets.stated_claim import attacks_for_claim

    counting = [attack.name for attack in attacks if attack.channel is not None]
    if counting and named:
        raise click.UsageError(f"{counting[0]} looks at a side channel, and of a --target only outcomes are seen")
    attacks = [attack for attack in attacks if attack.channel is None]
    families = sorted({attack.family for attack in attacks})
    if not attacks:
        raise click.UsageError("--attack and --family leave no attack for the target")
    if len(families) > 1:
        raise click.UsageError(f"a --target needs --family, one of {', '.join(families)}")
    skipped: list[str] = []
    try:
        selected = attacks_for_claim(attacks, stated, None if named else skipped.append)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not selected:
        raise click.UsageError(f"no attack fits the claim; {skipped[0]}")
    for reason in skipped:
        _print_left_out(reason)
    return selected


def _print_left_out(reason: str) -> None:
    click.echo(f"left out: {reason}", err=True)


def examine_target(attacks: Sequence[AnyAttack], arguments: TargetArguments, **options: Any) -> Report:
    """Return the report of these attacks on the target, see `targets.audited`; what cannot be started is one line."""
    from subnormal.audit.targets.audited import audit_target
    from subnormal.audit.targets.json_lines import TargetError

    options |= {"stated": arguments.stated, "timeout": arguments.timeout, "left_out": _print_left_out}
    try:
        with audit_progress() as report_progress:
            return audit_target(arguments.name or "", attacks, progress=report_progress, **options)
    except TargetError as error:  # before any row: those of a row are the row's
        raise click.BadParameter(str(error), param_hint="--target") from None
