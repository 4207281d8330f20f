"""What is to be proved, as the proof page's link. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from specviz.core.request import RunRequest
from specviz.data.page_link import DIGITS, Params, one_of
from specviz.data.permalink import RunLink, link_of
from specviz.measure.proof.rows import MOST_DRAWS
from specviz.measure.proof.rule_names import FORGETFUL, RULES, Position, RuleName

DRAWS = [500, 1000, 2000, 5000, 10_000, MOST_DRAWS]
SWITCHES: list[RuleName] = [rule.name for rule in (*RULES, FORGETFUL) if rule.name != "lossless"]
FIRST_SWITCH: RuleName = "no-residual"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the controls say."""

    request: RunRequest
    preset: str | None = None
    position: Position = "first"
    draws: int = 2000
    rule: RuleName = FIRST_SWITCH  # the switch chosen
    problem: str | None = None  # why it cannot be run

    def link(self, rule: RuleName | None = None) -> dict[str, str]:
        """The address that brings this back."""
        more = {"position": self.position, "draws": str(self.draws), **({"rule": rule} if rule else {})}
        return link_of(self.request, preset=self.preset) | more


class ProofLink(RunLink):
    """The address of a proof: a run, which token to look at, how often, and the switch chosen."""

    position: Annotated[Position, Field(description="a position known here")] = "first"
    draws: Annotated[int, DIGITS, one_of(DRAWS), Field(description=f"one of {', '.join(map(str, DRAWS))}")] = 2000
    rule: Annotated[RuleName, one_of(SWITCHES), Field(description="a rule known here")] = FIRST_SWITCH


def wanted_from_link(params: Params, known_models: Collection[str]) -> tuple[Wanted, list[str]]:
    """What an address asks for, and a line for each part of it that fell back to the default."""
    link, problems = ProofLink.read(params, context=frozenset(known_models))
    prompt, preset, more = link.chosen_prompt()
    return Wanted(link.request(prompt), preset, link.position, link.draws, link.rule), [*problems, *more]
