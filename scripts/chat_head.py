"""What a chat model accepts of a head on it, of prompt lookup, and of both; and how that grew with training."""

from dataclasses import dataclass

from specviz.core.files import RESULTS

FILE = RESULTS / "chat_head.json"  # benchmarks/chat_head.py writes it
SHOWN_AT = "4"  # the draft length of the card's tables
ALL = "all"


@dataclass(frozen=True, slots=True)
class HeadCounts:
    tokens_a_call: float  # the mean over prompts
    accepted: float  # of the guesses that were drafted
    per_judgement: float  # of those that a pass judged


Summary = dict[str, dict[str, HeadCounts]]  # by draft length, then by kind of prompt; `ALL` are all prompts


@dataclass(frozen=True, slots=True)
class TrainingPoint:
    """The head after so many tokens of training, each counted as often as it was read."""

    tokens_seen: int
    answers_in_words: float  # the share of the answers' tokens that the head can guess at all
    head: Summary
    both: Summary


@dataclass(frozen=True, slots=True)
class ChatHead:
    target: str
    max_new_tokens: int
    lookup: Summary
    heads: list[TrainingPoint]  # the least trained first

    @property
    def kinds(self) -> list[str]:
        return [kind for kind in self.lookup[SHOWN_AT] if kind != ALL]
