"""Production's counters in words: what the round costs, and which draft length to try."""

from specviz.core.judge import judge
from specviz.core.metrics import span
from specviz.core.texts import Sentences, join_choices
from specviz.measure.worksheet.serving import Production, draft_lengths, outlook
from specviz.measure.worksheet.starts import CostsOrigin

say = Sentences("advice")


def headline(found: Production, costs: CostsOrigin) -> str:
    """The verdict: measured; without a measured speedup, that there is none, and what is known instead."""
    if found.speedup is not None:
        judged, plain_calls = judge(found.speed, None), _plain_calls(found)
        return say("measured", found=found, judged=judged, counted=_counted(found), plain_calls=plain_calls)
    said = f"**{never()}** {reasons(found)}" if found.never_pays else f"**{untold()}** {describe_known(found)}"
    if not costs.are_told:
        return said
    judged = judge(found.speed, None, modelled=True)
    return f"{said} {say('at_costs', found=found, costs=costs.name, judged=judged)}"


def untold() -> str:
    return say("untold")


def never() -> str:
    return say("never")


def reasons(found: Production) -> str:
    """The bound that the verdict is derived from."""
    return say("never_pays", found=found, counted=_counted(found))


def describe_known(found: Production) -> str:
    ahead = outlook(found)
    return say(
        "known",
        found=found,
        counted=_counted(found),
        plain_calls=_plain_calls(found),
        pairs=len(ahead.places),
        slowest=ahead.places[0],
        fastest=ahead.places[-1],
    )


def _counted(found: Production) -> str:
    """The tokens per target call, and how that is known; no sentence yet."""
    if found.counters.calls_assumed:
        return say("assumed_calls", length=found.draft_length, tokens=found.tokens)
    return say("counted_calls", tokens=found.tokens)


def _plain_calls(found: Production) -> str:
    return say("plain_calls", found=found) if found.share < 1 else ""


def advice(found: Production) -> str:
    """Which draft length to try. Without a measured speedup that needs costs of a round, so it is a range."""
    if found.never_pays:
        return say("check_first")
    if found.speedup is None:
        return say("length_untold", found=found, lengths=outlook(found).lengths)
    good = [each for each in draft_lengths(found) if each.good]
    if good[-1].draft_length == found.draft_length:
        return say("keep", found=found)
    speeds = [
        say("speed_at", speeds=span((each.slowest, each.fastest), "×"), length=each.draft_length) for each in good
    ]
    lengths = join_choices([each.draft_length for each in good])
    return say("try_shorter", good=lengths, found=found, speeds=join_choices(speeds, "and"))
