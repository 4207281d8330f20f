"""Production's counters in words: what the round costs, which draft length to try, when to stop, what to measure."""

from specviz.core.judge import judge
from specviz.core.metrics import span
from specviz.core.texts import Sentences, join_choices
from specviz.measure.worksheet.serving import Production, draft_lengths, outlook, recommended
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
        free=sum(each.free_checks for each in ahead.places),
    )


def _counted(found: Production) -> str:
    """The tokens per target call, and how that is known; no sentence yet."""
    if found.counters.calls_assumed:
        return say("assumed_calls", length=found.draft_length, tokens=found.tokens)
    return say("counted_calls", tokens=found.tokens)


def _plain_calls(found: Production) -> str:
    return say("plain_calls", found=found) if found.share < 1 else ""


def advice(found: Production) -> list[tuple[str, str]]:
    """A title and a few sentences each. Without a measured speedup only what needs no cost of a round."""
    full, cost = found.draft_length, found.round_cost
    if found.never_pays:
        return [(say("next"), say("check_first"))]
    last = say("last_pays", length=full, adds=found.last_adds)
    if found.speedup is None:
        length = say("length_untold", found=found, lengths=outlook(found).lengths, last=last)
        return [(say("draft_length"), length), (say("next"), say("measure_first"))]
    lengths = draft_lengths(found)
    good = recommended(lengths)
    speeds = [
        say("speed_at", speeds=span((each.slowest, each.fastest), "×"), length=each.draft_length)
        for each in lengths
        if each.good
    ]
    keep, shorter = good[-1] == full, join_choices(good)
    length = (
        say("keep", full=full, last=last)
        if keep
        else say("try_shorter", good=shorter, full=full, speeds=join_choices(speeds, "and"))
    )
    others = [length for length in good if length != full] or [max(1, full // 2)]
    return [
        (say("draft_length"), length),
        (say("when_off"), say("switch_off", length=full, cost=cost, found=found)),
        (say("next"), say("measure_next", others=join_choices(others))),
    ]
