"""The engine for tests, without models: the real one's lines, turns and stops, and it starts at once.

Runs, races, sweeps and turns of the game are made up by models that are dice and a script, with true bookkeeping: the
greedy output is the target's own. Proofs are the recorded ones. A step takes as long as one of the real target, asleep.
A run of the chat model fetches that first, where it is not there.

Some prompts are orders, for the tests of the service: `rounds N` decodes N rounds · `hold` decodes one, then goes on
until it is stopped · `deaf` decodes one, then hears nothing · `slow N` decodes one, then does nothing for N seconds ·
`die` decodes one and ends the process · `fail` is refused. Costs obey `hold` too; `quick` has them at once. A sweep of
the prompt `one cell a turn` finds one cell each time it has the engine, then goes on until it is stopped; its third is
its last.
"""

import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.replay import Prospect
from specviz.core.request import RunRequest
from specviz.core.rounds import EmittedToken, Round
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.trace import Autoregressive, DrafterInfo, ModelInfo, Output, PrefillSeconds, Prompt, Trace
from specviz.data.prompts.workloads import find_preset
from specviz.game.game import OFFERS, GameRequest, Offer, Turn
from specviz.game.words import guess_problem, joined, tidy
from specviz.measure.paired import Comparison, GreedyQuality, LogProbability, SampledQuality
from specviz.measure.proof.rows import BATCHES, DrawBatch, GreedyRow, recorded_proof
from specviz.measure.race import RacePrompt
from specviz.measure.sweep.plan import SweepCell
from specviz.measure.sweep.rows import SweepRow
from specviz.models.gguf_folder import SMOLLM2, is_missing
from specviz.models.packaged import fetch_smollm2
from specviz.service import engine
from specviz.service import protocol as wire
from tests.support.fake_pip import expect_it
from tests.support.fake_rows import a_row
from tests.support.fake_traces import STORY, cut, draft_guesses_of, fake_run, pieces_of, run_of
from tests.support.fake_turns import a_tree_turn, a_turn
from tests.support.known import known

STEP = 0.004  # seconds of a target step
COSTS = Costs(STEP, 0.1, {1: 1.0, 2: 1.1, 5: 1.36, 9: 1.7}, 0.04)
SCRIPT = pieces_of("Once upon a time, there was a little girl named Lily. She loved to play in the park." * 20)
SCRIPT_AFTER = 12  # how many pieces the game's first prompt has

Steps = Generator[Any, None, None]


def working(steps: int) -> Iterator[None]:
    """Sleep as long as the real target needs for so many steps; a job can be stopped at each."""
    for _ in range(steps):
        time.sleep(STEP)
        yield None


def until_allowed(kind: str, number: int) -> Iterator[None]:
    """Wait until a job of this kind may send so many items: see `AppServer.at_most`."""
    while most_items().get(kind, number) < number:
        time.sleep(0.02)
        yield None


def most_items() -> dict[str, int]:
    with suppress(OSError):
        found: dict[str, int] = json.loads(Path(os.environ.get("REPLAY_MOST", "")).read_text(encoding="utf-8"))
        return found
    return {}


ORDERS = re.compile(r"(rounds|slow) [0-9.]+|hold|deaf|slow|die|fail")
ONE_A_TURN = "one cell a turn"


def obeyed(command: wire.Run) -> Steps:
    """What the prompt orders."""
    order, _, number = command.request.prompt.partition(" ")
    if order == "fail":
        raise InputError("The prompt is not to the engine's taste.")
    yield from begin(command, int(number) if order == "rounds" else 1)
    if order == "die":
        os._exit(3)
    if order in ("slow", "deaf"):
        time.sleep(float(number or 1) if order == "slow" else 10**6)
    if order == "hold":
        yield from held()
    yield wire.RunDone(command.job, "plain")


def begin(command: wire.Run, rounds: int) -> Iterator[wire.JobEvent]:
    """A run that has read its prompt and decodes so many rounds."""
    yield wire.RunStarted(command.job, header(command))
    for index in range(rounds):
        made = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index))
        yield wire.Rounds(command.job, [made], output(index + 1), Autoregressive([0.01], [index], alternating=True))


def held() -> Iterator[None]:
    while True:
        time.sleep(0.01)
        yield None


def header(command: wire.Run) -> Trace:
    request = command.request
    return run_of(
        [],
        target=ModelInfo(request.target, 1, "float32", "0"),
        drafter=DrafterInfo("model", request.draft),
        settings=request.settings,
        prompt=Prompt(request.prompt, [1], ["p"]),
        output=output(0),
    )


def output(tokens: int) -> Output:
    return Output(list(range(tokens)), "t" * tokens, None)


def one_a_turn(command: wire.Sweep) -> Steps:
    cell = command.done + 1
    yield wire.JobProgress(command.job, "measuring", 3)
    if cell <= 3:  # it may have given way between its last cell and its end
        yield wire.JobItem(command.job, "sweep", f"cell {cell}")
    yield from held() if cell < 3 else [wire.JobFinished(command.job)]


def run(command: wire.Run) -> Steps:
    if ORDERS.fullmatch(command.request.prompt):
        yield from obeyed(command)
        return
    if is_missing(command.request.target):
        for step in fetch_smollm2():
            yield wire.Loading(command.job, SMOLLM2, step.bytes_done, step.bytes_total)
    trace = fake_run(command.request)
    yield wire.RunStarted(command.job, cut(trace, 0))
    before = 0
    for number, made in enumerate(trace.rounds, start=1):
        yield from until_allowed("run", number)
        yield from working(1 + made.emits)
        now = cut(trace, number)
        assert now.autoregressive
        plain = now.autoregressive
        new = Autoregressive(plain.seconds_per_token[before:], plain.token_ids[before:], alternating=True)
        before = len(plain.token_ids)
        output = trace.output if number == len(trace.rounds) else now.output
        yield wire.Rounds(command.job, [made], output, new)
    guesses = draft_guesses_of(trace) if command.request.settings.greedy else None
    yield wire.RunDone(command.job, trace.output.text, guesses)


def calibrate(command: wire.Calibrate) -> Steps:
    order = command.request.prompt
    yield wire.RunStarted(command.job)
    yield from held() if order == "hold" else working(0 if order == "quick" else 20)
    yield wire.JobItem(command.job, "calibrate", wire.CostsResult(COSTS))
    yield wire.JobFinished(command.job)


def race(command: wire.Race) -> Steps:
    job, prompts, repeats = command.job, command.prompts, command.repeats
    yield wire.RunStarted(job)
    for number, prompt in enumerate(prompts[command.done :], start=command.done + 1):
        at = wire.JobProgress(job, "warming up", len(prompts), prompt=prompt.name, repeats=repeats)
        yield at
        for repeat in range(1, repeats + 1):
            yield replace(at, phase="timing", repeat=repeat)
            yield from working(2 * command.request.settings.max_new_tokens)
        yield from until_allowed("race", number)
        yield wire.JobItem(job, "race", lap(command.request, prompt, repeats))
    yield wire.JobFinished(job)


def lap(request: RunRequest, prompt: RacePrompt, repeats: int) -> Comparison:
    trace = fake_run(replace(request, prompt=prompt.text))
    assert trace.autoregressive
    likely = LogProbability(-1.2, -1.4, -1.0)
    return Comparison(
        speculative=replace(trace, autoregressive=None),
        plain=replace(trace, drafter=None, rounds=[], prefill_seconds=PrefillSeconds(0.01, 0.0)),  # what it wrote alone
        speculative_seconds=[sum(round.seconds or 0.0 for round in trace.rounds)] * repeats,
        plain_seconds=[sum(trace.autoregressive.seconds_per_token)] * repeats,
        name=prompt.name,
        speculative_prefill=[0.012] * repeats,
        plain_prefill=[0.01] * repeats,
        plain_tokens=[token.text for made in trace.rounds for token in [*made.accepted_tokens, made.emitted]],
        quality=GreedyQuality(None, None) if request.settings.greedy else SampledQuality(likely, likely),
    )


def sweep(command: wire.Sweep) -> Steps:
    cells = command.plan.cells()
    if cells[0].prompt.text == ONE_A_TURN:
        yield from one_a_turn(command)
        return
    yield wire.RunStarted(command.job)
    for number, cell in enumerate(cells[command.done :], start=command.done + 1):
        yield wire.JobProgress(
            command.job,
            "measuring",
            len(cells),
            prompt=cell.prompt.name,
            draft=cell.pair.draft,
            draft_length=cell.settings.draft_length,
            schedule=cell.settings.draft_schedule,
            constrained=cell.constrained,
        )
        yield from working(cell.settings.max_new_tokens)
        yield from until_allowed("sweep", number)
        yield wire.JobItem(command.job, "sweep", row(cell))
    yield wire.JobFinished(command.job)


def row(cell: SweepCell) -> SweepRow:
    settings = {name: getattr(cell.settings, name) for name in cell.settings.__dataclass_fields__}
    return a_row(
        **settings,
        target=cell.pair.target,
        draft=cell.pair.draft,
        workload=cell.prompt.workload,
        preset=cell.prompt.name,
        text_hash=cell.prompt.text_hash,
        constrained=cell.constrained,
        new_tokens=cell.settings.max_new_tokens,
        plain_tokens=cell.settings.max_new_tokens,
    )


def guess_along(command: wire.GuessAlong) -> Steps:
    trace = fake_run(command.request)
    for draft in command.drafts[command.done :]:
        yield wire.JobProgress(command.job, "guessing", len(command.drafts), draft=draft)
        yield from working(20)
        guesses = draft_guesses_of(trace)
        found = replace(guesses, drafter=replace(guesses.drafter, name=draft))
        yield wire.JobItem(command.job, "guess along", Prospect(draft, found, COSTS, len(trace.output.token_ids), []))
    yield wire.JobFinished(command.job)


def prove(command: wire.Prove) -> Steps:
    recorded = next(draws for draws in known(recorded_proof()).draws if draws.rule == command.rule)
    each = command.draws // BATCHES
    yield wire.RunStarted(command.job)
    yield wire.JobProgress(command.job, "drawing", BATCHES, draws=each)
    for number in range(command.done, BATCHES):
        yield from working(each // 5)
        yield from until_allowed("prove", number + 1)
        yield wire.JobItem(command.job, "prove", thinned(recorded.batches, number, each))
    yield wire.JobFinished(command.job)


def enumerate_rules(command: wire.EnumerateRules) -> Steps:
    yield wire.RunStarted(command.job)
    yield wire.JobItem(command.job, "enumerate rules", known(known(recorded_proof()).enumerated))
    yield wire.JobFinished(command.job)


def thinned(batches: list[DrawBatch], number: int, draws: int) -> DrawBatch:
    """So many draws from those of all recorded batches."""
    batch = batches[number]
    share = draws / batch.draws

    def drawn(name: str) -> list[int]:
        whole = [sum(counts) for counts in zip(*(getattr(each, name) for each in batches), strict=True)]
        chosen = Random(f"{name} {number}").choices(range(len(whole)), whole, k=draws) if whole else []
        return [chosen.count(place) for place in range(len(whole))]

    return replace(
        batch,
        expected=[share * expected for expected in batch.expected],
        tries=draws,
        proposed=min(draws, int(share * batch.proposed)),
        accepted=int(share * batch.accepted),
        **{name: drawn(name) for name in ("speculative", "plain", "speculative_places", "plain_places")},
    )


def compare_greedy(command: wire.CompareGreedy) -> Steps:
    request, tokens = command.request, command.request.settings.max_new_tokens
    texts = [(name, found.text) for name in command.presets if (found := find_preset(name))]
    prompts = texts or [("", request.prompt)]
    yield wire.RunStarted(command.job)
    for name, text in prompts[command.done :]:
        yield wire.JobProgress(command.job, "comparing", len(prompts), prompt=name)
        yield from working(tokens)
        recorded = known(recorded_proof())
        near = recorded.near_tie if command.half else recorded.forgotten_row
        same = GreedyRow(name, text, request.target, request.draft, "float32", 4, tokens, tokens, 80, 48, None)
        broken = near if command.half or command.forgets else None
        yield wire.JobItem(command.job, "compare greedy", replace(broken, preset=name) if broken else same)
    yield wire.JobFinished(command.job)


def play(command: wire.Play) -> Steps:
    """The target wants the script; the visitor's words are cut as it is."""
    ask, prompt = command.ask, command.request.prompt
    yield wire.RunStarted(command.job)
    ids = ask.text_ids or ids_of(pieces_of(prompt))
    text = "".join(KNOWN[number] for number in ids)
    wanted = SCRIPT[SCRIPT_AFTER + len(ids) - len(pieces_of(prompt)) - 1 :]
    guesses = guesses_of(ask, text)
    yield from working(2)
    if len(guesses) > 1:
        turn = a_tree_turn(guesses, wanted, before=text)
    else:
        pieces = guesses[0] if guesses else []
        right = next((i for i, piece in enumerate(pieces) if piece != wanted[i]), len(pieces))
        turn = a_turn(pieces, right, emitted=wanted[right], before=text)
    written = pieces_of(turn.text)
    yield wire.JobItem(
        command.job,
        "play",
        replace(
            numbered(turn) if ask.action != "offer" else replace(turn, text=text, trace=None, rivals={}),
            text_ids=ids_of(written) if ask.action != "offer" else ids,
            offers=offers_after(turn.text, command.request.settings.seed) if ask.offers else [],
        ),
    )
    yield wire.JobFinished(command.job)


def guesses_of(ask: GameRequest, text: str) -> list[list[str]]:
    """What was typed or picked, in pieces, checked as the real engine checks it."""
    if ask.action != "guess":
        return []
    found = [[KNOWN[number] for number in ids] for ids in (ask.picked, ask.other)]
    for number, typed in enumerate((ask.guess, ask.second)):
        if found[number] or (number and not typed.strip()):
            continue
        if problem := guess_problem(typed):
            raise InputError(problem)
        found[number] = pieces_of(joined(text, tidy(typed), False))[:MAX_DRAFT_LENGTH]
    return [pieces for pieces in found if pieces]


def offers_after(text: str, seed: int) -> list[Offer]:
    drawn = Random(f"{seed} {text}")
    starts = drawn.sample(range(len(pieces_of(STORY)) - 4), OFFERS)
    found = [[piece for piece in pieces_of(STORY)[start : start + 4] if piece.strip()] for start in starts]
    return [Offer("".join(pieces), ids_of(pieces)) for pieces in found]


KNOWN: dict[int, str] = {}  # the text of each token that has been played


def ids_of(pieces: list[str]) -> list[int]:
    """One id a text; KNOWN then has it."""
    ids = [hash_of(piece) for piece in pieces]
    KNOWN.update(zip(ids, pieces, strict=True))
    return ids


def numbered(turn: Turn) -> Turn:
    assert turn.trace
    rounds = [
        replace(
            made,
            drafted=[replace(token, id=hash_of(token.text)) for token in made.drafted],
            emitted=replace(made.emitted, id=hash_of(made.emitted.text)),
        )
        for made in turn.trace.rounds
    ]
    output = replace(turn.trace.output, token_ids=rounds[0].emitted_ids)
    return replace(turn, trace=replace(turn.trace, rounds=rounds, output=output))


def hash_of(piece: str) -> int:
    return Random(piece).randrange(1, 2**30)  # the same in every process, unlike hash()


HANDLERS: dict[type, Callable[[Any], Steps]] = {
    wire.Run: run,
    wire.Calibrate: calibrate,
    wire.Race: race,
    wire.Sweep: sweep,
    wire.GuessAlong: guess_along,
    wire.Prove: prove,
    wire.EnumerateRules: enumerate_rules,
    wire.CompareGreedy: compare_greedy,
    wire.Play: play,
}


def open_workshop(send: engine.Send) -> engine.DoJob:
    """In place of the real one: nothing is loaded."""
    for _ in until_allowed("ready", 1):
        pass
    send(wire.EngineReady({"torch": "2.13.0", "transformers": "5.23.0"}))
    return lambda command: HANDLERS[type(command)](command)


if __name__ == "__main__":
    engine.open_workshop = open_workshop
    expect_it()
    engine.main()
