"""What to check in a serving system if its target rejects nearly every guess (assets/texts/system_checks.yaml)."""

from dataclasses import dataclass

from specviz.core.texts import AppTexts, NonEmptyText


@dataclass(frozen=True, slots=True)
class SystemChecks:
    systems: tuple[NonEmptyText, ...]  # as `ServingCounters.engine` names them; empty: every other system
    checks: tuple[NonEmptyText, ...]


system_checks = AppTexts("system_checks", tuple[SystemChecks, ...])


def checks_for(engine: str) -> tuple[str, ...]:
    """The checks for this system; those of the last entry, which names none, for a system that no entry names."""
    entries = system_checks()
    return next((each.checks for each in entries if engine in each.systems), entries[-1].checks)
