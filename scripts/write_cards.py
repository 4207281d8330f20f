"""Write the measured figures into the cards of the bundled models and heads: python -m scripts.write

It replaces the sections "Losses", "As a draft" and "Training and acceptance". They are made from held_out.json,
methods.json and chat_head.json in benchmarks/results, and from what trainings logged. "Samples" are what the
models wrote, and stay; all other sections are written by hand.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from textwrap import fill
from typing import Any

from specviz.core.files import RESULTS
from specviz.data.measured.measured_methods import ALL, KINDS, POSITIONS_AT, MeasuredMethods, stored_methods
from specviz.models.catalogue import MODELS_FOLDER, bundled_heads, bundled_names, head_folder

SHOWN_AT = "4"  # the draft length of its tables
TARGET = "wren-base"
ON_CHATS = "smol-eagle"  # its counts are of a chat model's answers
BESIDE = "wren-nano"  # the draft model of the same size as a head
LOSSES = {"tinystories": "stories", "python": "Python", "structured": "structured", "prose": "prose"}
HELD_OUT = (
    "Nats per token on held-out text: the last 2 % of each kind's documents, at most 16,384 tokens, in rows of 512"
)


def pages() -> dict[Path, str]:
    """Each card."""
    cards: dict[Path, str] = {}
    for name in [*bundled_names(), *(name for name in bundled_heads() if name == head_folder(name).name)]:
        path = MODELS_FOLDER / name / "README.md"
        cards[path] = path.read_text(encoding="utf-8")
        for title, body in measured_sections(name).items():
            cards[path] = with_section(cards[path], title, body)
    return cards


def stored(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def measured_sections(name: str) -> dict[str, str]:
    """Title and Markdown of each section of this card that comes from stored figures."""
    if name == ON_CHATS:
        return {"Training and acceptance": growth(), "As a draft": on_chats()}
    held_out: Mapping[str, Mapping[str, float]] = stored("held_out")["losses"]
    if name == TARGET:
        return {"Losses": losses([name], held_out)}
    measured = stored_methods()
    assert measured
    draft = partial(as_a_draft, measured=measured)
    if name in bundled_names():
        return {"Losses": losses([name, TARGET], held_out), "As a draft": draft([name])}
    log = json.loads((MODELS_FOLDER / name / "training.json").read_text(encoding="utf-8"))
    return {"Losses": losses_of_guesses(log["held_out_loss"], held_out[BESIDE]), "As a draft": draft([name, BESIDE])}


def with_section(card: str, title: str, body: str) -> str:
    """The card with a new text for this section. ValueError: it has no such section."""
    section = re.compile(rf"(?<=^## {re.escape(title)}\n).*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    if not section.search(card):
        raise ValueError(f"The card has no section {title!r}.")
    return section.sub(lambda _: f"\n{body.strip()}\n\n", card, count=1).rstrip() + "\n"


def losses(names: Sequence[str], found: Mapping[str, Mapping[str, float]]) -> str:
    """Held-out losses of a model, and beside a draft's those of its target."""
    rows = [[name, *(f"{found[name][domain]:.2f}" for domain in LOSSES)] for name in names]
    said = f"""{HELD_OUT}. The first stage of wren-base's training held out other documents and read most of these. No
        later stage did, but every model here comes from that stage, so the figures look better than they are."""
    return paragraph(said) + "\n\n" + table(["", *LOSSES.values()], rows)


def losses_of_guesses(found: Mapping[str, list[float]], beside: Mapping[str, float]) -> str:
    """Held-out losses of each guess of a head's round."""
    guesses = range(len(next(iter(found.values()))))
    rows = [[f"guess {guess + 1}", *(f"{found[domain][guess]:.2f}" for domain in LOSSES)] for guess in guesses]
    rows.append([BESIDE, *(f"{beside[domain]:.2f}" for domain in LOSSES)])
    said = f"""{HELD_OUT}, each guess after the text's own tokens. {BESIDE} reads every token before the one that it
        guesses, so compare it with guess 1. wren-base's own losses are in its card, with what "held out" means here."""
    return paragraph(said) + "\n\n" + table(["", *LOSSES.values()], rows)


def as_a_draft(names: Sequence[str], measured: MeasuredMethods) -> str:
    """Acceptance, costs and speedup; a head's beside those of the draft model of the same size."""
    greedy = measured.greedy
    assert greedy is not None
    said = f"""Measured by `benchmarks/methods.py` on one thread ({measured.machine.machine}): {measured.tokens} tokens,
        greedy, {measured.prompts} prompts of each kind from held-out documents and the app's workloads, everything in
        {measured.target_dtype}; a step of {TARGET} takes {greedy.target_step_ms:.2f} ms. Tokens per target call, the
        share accepted at each position among the guesses that were judged there, and c (one guess, in target steps) at
        draft length {POSITIONS_AT}. The speedup is at the draft length that did best on the other prompts of the kind,
        with its 95 % interval over prompts. Other machines differ, and so does what pays: the app measures yours."""
    rows = []
    for kind, name in product(KINDS, names):
        method = greedy.find(name)
        assert method is not None
        at, best = method.kinds[kind].at(POSITIONS_AT), method.kinds[kind].best
        assert at is not None
        accepted = ", ".join("–" if rate is None else f"{rate:.2f}" for rate in at.by_position)
        speedup = f"{best.speedup:.2f} [{best.low:.2f}–{best.high:.2f}]"
        costs = [f"{at.costs.tokens_per_target_call:.2f}", accepted, f"{at.costs.draft_step or 0:.2f}"]
        rows.append([kind, name, *costs, speedup])
    titles = ["", "", "tokens per target call", "accepted by position", "c", "speedup"]
    return paragraph(said) + "\n\n" + table(titles, rows)


def growth() -> str:
    """What was accepted after how much training."""
    found = stored("chat_head")
    said = f"""Greedy answers of at most {found["max_new_tokens"]} tokens to the prompts of
        `assets/texts/chat_workloads.yaml`, which were not trained on; counted by
        `benchmarks/chat_head.py`, so no clock is in it. Tokens are counted as
        often as they were read. The share of the first guesses of a round that the target accepts, the share of all
        judged guesses at draft length {SHOWN_AT}, and tokens per target call there: of the head alone, and behind
        prompt lookup."""
    rows = []
    for point in found["heads"]:
        alone, both = (point[way][SHOWN_AT][ALL] for way in ("head", "both"))
        shares = (point["head"]["1"][ALL]["per_judgement"], alone["per_judgement"])
        tokens = (alone["tokens_a_call"], both["tokens_a_call"])
        rows.append([f"{point['tokens_seen']:,}", *(f"{share:.3f}" for share in shares), *(f"{t:.2f}" for t in tokens)])
    titles = ["tokens", "first guess", "any guess", "tokens per target call, alone", "behind prompt lookup"]
    return paragraph(said) + "\n\n" + table(titles, rows)


def on_chats() -> str:
    """Each kind of prompt."""
    found = stored("chat_head")
    last = found["heads"][-1]
    said = f"""Tokens per target call at draft length {SHOWN_AT}, the mean over the prompts of a kind. The head can
        guess {last["answers_in_words"]:.1%} of the tokens of these answers at all."""
    ways = {"prompt lookup": found["lookup"], "the head": last["head"], "lookup, else the head": last["both"]}
    columns = [way[SHOWN_AT] for way in ways.values()]
    rows = [[kind, *(f"{column[kind]['tokens_a_call']:.2f}" for column in columns)] for kind in columns[0]]
    return paragraph(said) + "\n\n" + table(["", *ways], rows)


def paragraph(text: str) -> str:
    """Lines of the cards' width."""
    return fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])
