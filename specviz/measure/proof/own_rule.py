"""What is said of a rule that is chosen piece by piece: proved, or refuted, by how much and at which place."""

from dataclasses import dataclass

from specviz.core.texts import Sentences
from specviz.data.lessons.lab_words import lab_words
from specviz.measure.proof.rows import EnumeratedRules, PieceName, Pieces, TokenShare, judged_key, rule_texts

say = Sentences("own_rule")
SEEN = 1e-4  # a distance below it may be the rounding of a model's probabilities


@dataclass(frozen=True, slots=True)
class OwnRuleFinding:
    lossless: bool
    distances: list[float]  # at each guess, and after the last one
    tokens: list[TokenShare]  # at the place of the largest distance
    sentence: str
    mistakes: list[str]  # a sentence for each piece that is not the best


def judge_pieces(pieces: Pieces, rules: EnumeratedRules) -> OwnRuleFinding:
    judged, bonus = rules.judged[judged_key(pieces)], rules.bonus[pieces.bonus]
    after = max(bonus.distances) > max(judged.distances)
    worst = bonus if after else judged
    distance = max(worst.distances)
    if pieces.lossless:
        by_ratio = pieces.accept == "ratio"
        sentence = say("proved_ratio" if by_ratio else "proved_equal")
    elif distance < SEEN:
        sentence = say("not_here")
    else:
        token, number = worst.tokens[0], worst.distances.index(distance) + 1
        place = say("after", count=len(rules.guesses)) if after else say("at", number=number)
        text, target, written = token.text.strip() or "␣", token.target, token.written
        sentence = say("refuted", place=place, text=text, target=target, written=written, distance=distance)
    kinds, accepted = lab_words()["judge"].kinds, say("accepted", share=judged.accepted[0])
    lossy: dict[PieceName, str] = {rule.pieces.accept: rule.why for rule in rule_texts() if rule.pieces}
    return OwnRuleFinding(
        pieces.lossless,
        [*judged.distances, *bonus.distances],
        worst.tokens,
        f"{sentence} {accepted}",
        [
            kinds.get(name) or lossy.get(name) or say("without_rejected")
            for name in (pieces.wrong, pieces.bonus)
            if name and name != "from_target"
        ],
    )
