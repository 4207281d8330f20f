"""Write the measured figures into the cards of the heads: python -m scripts.write_head_cards

In each card, it replaces the sections "Losses" and "As a draft". They are made from the head's training.json and from
benchmarks/results/methods.json. All other sections are written by hand and stay.
"""

import json
from collections.abc import Mapping

from scripts.write_cards import FAMILY, KINDS, LOSSES, paragraph, table, with_section
from specviz.core.files import read_stored
from specviz.data.measured.chat_head import ALL, SHOWN_AT, ChatHead
from specviz.data.measured.chat_head import FILE as CHAT_FILE
from specviz.data.measured.measured_methods import FILE, POSITIONS_AT, MeasuredMethods, TemperatureFigures, read_methods
from specviz.models.catalogue import MODELS_FOLDER, bundled_heads

ON_CHATS = "smol-eagle"  # its counts are of a chat model's answers
BESIDE = "wren-nano"  # the draft model of the same size


def main() -> None:
    """Rewrite every card."""
    for name in (head.name for head in bundled_heads() if head.is_stored):
        path = MODELS_FOLDER / name / "README.md"
        card = path.read_text(encoding="utf-8")
        for title, body in measured_sections(name).items():
            card = with_section(card, title, body)
        path.write_text(card, encoding="utf-8")


def measured_sections(name: str) -> dict[str, str]:
    """Title and Markdown of each section of this head's card that comes from the JSON."""
    if name == ON_CHATS:
        return {"Training and acceptance": growth(), "As a draft": on_chats()}
    log = json.loads((MODELS_FOLDER / name / "training.json").read_text(encoding="utf-8"))
    family = json.loads(FAMILY.read_text(encoding="utf-8"))
    sections = {"Losses": losses(log["held_out_loss"], family["losses"][BESIDE])}
    measured = read_methods(FILE) if FILE.is_file() else None
    if measured is None or measured.trial:  # not measured yet
        return sections
    return sections | {"As a draft": as_a_draft(name, measured)}


def growth() -> str:
    """What was accepted after how much training."""
    found = read_stored(CHAT_FILE, ChatHead, "the counts")
    said = f"""Greedy answers of at most {found.max_new_tokens} tokens to the prompts of
        `assets/texts/chat_workloads.yaml`, which were not trained on; counted by
        `benchmarks/chat_head.py`, so no clock is in it. Tokens are counted as
        often as they were read. The share of the first guesses of a round that the target accepts, the share of all
        judged guesses at draft length {SHOWN_AT}, and tokens per target call there: of the head alone, and behind
        prompt lookup."""
    rows = []
    for point in found.heads:
        alone, both = (way[SHOWN_AT][ALL] for way in (point.head, point.both))
        first = point.head["1"][ALL].per_judgement
        shares, tokens = (first, alone.per_judgement), (alone.tokens_a_call, both.tokens_a_call)
        rows.append([f"{point.tokens_seen:,}", *(f"{share:.3f}" for share in shares), *(f"{t:.2f}" for t in tokens)])
    titles = ["tokens", "first guess", "any guess", "tokens per call, alone", "behind prompt lookup"]
    return paragraph(said) + "\n\n" + table(titles, rows)


def on_chats() -> str:
    """Each kind of prompt."""
    found = read_stored(CHAT_FILE, ChatHead, "the counts")
    last = found.heads[-1]
    said = f"""Tokens per target call at draft length {SHOWN_AT}, the mean over the prompts of a kind. The head can
        guess {last.answers_in_words:.1%} of the tokens of these answers at all."""
    ways = {"prompt lookup": found.lookup, "the head": last.head, "lookup, else the head": last.both}
    rows = [
        [kind, *(f"{way[SHOWN_AT][kind].tokens_a_call:.2f}" for way in ways.values())] for kind in [*found.kinds, ALL]
    ]
    return paragraph(said) + "\n\n" + table(["", *ways], rows)


def losses(found: Mapping[str, list[float]], beside: Mapping[str, float]) -> str:
    """Held-out losses of each guess of a round."""
    guesses = range(len(next(iter(found.values()))))
    rows = [[f"guess {guess + 1}", *(f"{found[domain][guess]:.2f}" for domain in LOSSES)] for guess in guesses]
    rows.append([BESIDE, *(f"{beside[domain]:.2f}" for domain in LOSSES)])
    said = f"""Nats per token on held-out text: the last 2 % of each kind's documents, at most 16,384 tokens, in rows
        of 512, each guess after the text's own tokens. {BESIDE} reads every token before the one that it guesses, so
        compare it with guess 1. wren-base's own losses are in its card, with what "held out" means here."""
    return paragraph(said) + "\n\n" + table(["", *LOSSES.values()], rows)


def as_a_draft(name: str, measured: MeasuredMethods) -> str:
    """Acceptance, costs and speedup beside those of the draft model of the same size."""
    greedy = measured.greedy
    assert greedy is not None
    said = f"""Measured by `benchmarks/methods.py` on one thread ({measured.machine.machine}): {measured.tokens} tokens,
        greedy, {measured.prompts} prompts of each kind from held-out documents and the app's workloads, everything in
        {measured.target_dtype}; a target step takes {greedy.target_step_ms:.2f} ms. Tokens per target call, the
        share accepted at each position among the guesses that were judged there, and c (one guess, in target steps) at
        draft length {POSITIONS_AT}. The speedup is at the draft length that did best on the other prompts of the kind,
        with its 95 % interval over prompts.{_disturbed(measured)}"""
    rows = [row for kind in KINDS for row in (_row(name, kind, greedy), _row(BESIDE, kind, greedy))]
    titles = ["", "", "tokens per target call", "accepted by position", "c", "speedup"]
    return paragraph(said) + "\n\n" + table(titles, rows)


def _disturbed(measured: MeasuredMethods) -> str:
    if not measured.disturbed:
        return ""
    return f""" Another program ran meanwhile: a step took {measured.slowdown:.1f} times as long as on the quiet
        machine, so the speedups are too high."""


def _row(name: str, kind: str, greedy: TemperatureFigures) -> list[str]:
    method = greedy.find(name)
    assert method is not None
    at, best = method.kinds[kind].at(POSITIONS_AT), method.kinds[kind].best
    assert at is not None
    accepted = ", ".join("–" if rate is None else f"{rate:.2f}" for rate in at.by_position)
    speedup = f"{best.speedup:.2f} [{best.low:.2f}–{best.high:.2f}]"
    return [kind, name, f"{at.costs.tokens_per_target_call:.2f}", accepted, f"{at.costs.draft_step or 0:.2f}", speedup]


if __name__ == "__main__":
    main()
