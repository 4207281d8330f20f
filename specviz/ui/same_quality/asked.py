"""What a visitor wants proved: the link, what the widgets hold, and the form that draws them."""

from typing import Annotated, Self

from specviz.core.settings import SETTINGS
from specviz.data.links.page_link import DIGITS, expecting, expecting_one_of, one_of
from specviz.data.links.permalink import RunLink
from specviz.data.texts import page_texts
from specviz.measure.proof.rows import (
    FORGETFUL,
    MOST_DRAWS,
    REAL,
    RULES,
    AcceptName,
    BonusName,
    Pieces,
    Position,
    ReplaceName,
    RuleName,
)
from specviz.ui.shared.form import Form
from specviz.ui.shared.persistent_widgets import Widget

LINKS = page_texts("links")
DRAWS = [500, 1000, 2000, 5000, 10_000, MOST_DRAWS]
SWITCHES: list[RuleName] = [rule.name for rule in (*RULES, FORGETFUL) if rule.name != "lossless"]
FIRST_SWITCH: RuleName = "no-residual"
FIRST_PIECES = next(rule.pieces or REAL for rule in RULES if rule.name == FIRST_SWITCH)
LEAST_TEMPERATURE = 0.1
KNOWN = expecting(lambda: LINKS["known"])


class ProofLink(RunLink):
    position: Annotated[Position, KNOWN, Widget("radio", "which_token")] = "first"
    draws: Annotated[int, DIGITS, one_of(DRAWS), expecting_one_of(DRAWS), Widget("select_slider", "how_often")] = 2000
    rule: Annotated[RuleName, one_of(SWITCHES), KNOWN, Widget("radio", "switch")] = FIRST_SWITCH  # the one chosen
    # of the visitor's own rule
    accept: Annotated[AcceptName, KNOWN, Widget("radio", "piece_accept", fresh=True)] = FIRST_PIECES.accept
    replace: Annotated[ReplaceName, KNOWN, Widget("radio", "piece_replace", fresh=True)] = FIRST_PIECES.replace
    bonus: Annotated[BonusName, KNOWN, Widget("radio", "piece_bonus", fresh=True)] = FIRST_PIECES.bonus

    @property
    def pieces(self) -> Pieces:
        return Pieces(self.accept, self.replace, self.bonus)

    def fitted(self) -> Self:
        """Drawn tokens, of which the page has its own number, each drafted in one way."""
        fitted, usual = super().fitted(), (SETTINGS["max_new_tokens"], SETTINGS["draft_schedule"])
        temperature = fitted.request().settings.temperature
        sampled = {"temperature": max(LEAST_TEMPERATURE, round(temperature, 1)) if temperature else 1.0}
        return fitted.model_copy(update=sampled | {row.link: row.default for row in usual})


FORM = Form("same_quality", ProofLink())
