"""How many tokens a round drafts: the same number each time, or a number that adapts to earlier rounds."""

from specviz.core.settings import MAX_DRAFT_LENGTH, UNSURE_BELOW, DecodeSettings


class DraftLength:
    """The draft length of the next round.

    With the heuristic schedule it starts at the settings' draft length and changes after each round as in transformers
    (`AssistedCandidateGenerator.update_candidate_strategy`, generation/candidate_generator.py, 5.23; there without an
    upper limit, and carried over from one text to the next): 2 more if all drafted tokens were accepted, else 1 fewer.
    With the other schedules it does not change. With "confidence" the proposer itself may stop earlier.
    """

    def __init__(self, settings: DecodeSettings) -> None:
        self.tokens = settings.draft_length
        self._adapts = settings.draft_schedule == "heuristic"

    def update(self, drafted: int, accepted: int) -> None:
        if self._adapts and drafted:
            self.tokens += 2 if accepted == drafted else -1
            self.tokens = min(max(self.tokens, 1), MAX_DRAFT_LENGTH)


def unsure_below(settings: DecodeSettings) -> float:
    """The probability below which a guess is the last one of its round; 0 means never."""
    return UNSURE_BELOW if settings.draft_schedule == "confidence" else 0.0
