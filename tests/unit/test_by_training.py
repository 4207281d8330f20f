"""The part on a head's training says what its counts say, whatever they are."""

from specviz.data.measured.chat_head import ALL, SHOWN_AT, ChatHead, HeadCounts, Summary, TrainingPoint
from specviz.ui.when_it_helps.by_training import accepted_figure, growth, kinds_figure, ways


def summary(tokens: float, accepted: float) -> Summary:
    kinds = {"stories": HeadCounts(tokens - 0.5, 0.1, accepted), ALL: HeadCounts(tokens, 0.1, accepted)}
    return {"1": kinds, SHOWN_AT: kinds}


def point(seen: int, accepted: float) -> TrainingPoint:
    return TrainingPoint(seen, 0.9, summary(1.5, accepted), summary(2.5, accepted))


FOUND = ChatHead("speaker", 96, summary(2.0, 0.5), [point(0, 0.1), point(90, 0.2), point(300, 0.25), point(1000, 0.31)])


def test_the_sentences_have_the_first_point_the_last_and_the_one_a_tenth_before_it() -> None:
    said = growth(FOUND)
    assert "the target accepted 0.10 of the head’s first guesses, after 1,000 tokens 0.31." in said
    assert "From 90 tokens to ten times as many the share grew by 0.11" in said
    assert "The head can guess 90 % of the tokens" in said
    assert "at γ = 4, the mean over all prompts: prompt lookup 2.00, the head 1.50. " in ways(FOUND)
    assert ways(FOUND).endswith("it is 2.50.")


def test_the_charts_have_every_point_and_every_kind() -> None:
    first, every = accepted_figure(FOUND)["data"]
    assert (first["x"], first["y"], every["y"]) == ([0, 90, 300, 1000], [0.1, 0.2, 0.25, 0.31], first["y"])
    assert [(each["x"], each["y"]) for each in kinds_figure(FOUND)["data"]] == [
        ([1.5], ["stories"]),
        ([1.0], ["stories"]),
        ([2.0], ["stories"]),
    ]
