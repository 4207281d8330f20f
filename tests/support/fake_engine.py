"""An engine without models for the service's tests: speaks the protocol, and does what the prompt says.

Prompts: `rounds N` decodes N rounds · `hold` decodes one, then waits for a Stop · `deaf` decodes one, then hears
nothing · `slow N` decodes one, then does nothing for N seconds · `die` ends the process · `fail` is refused · `noise`
prints what is no event, then decodes one. A calibration obeys `hold` too. A sweep finds one cell each time it has the
engine, then waits for a Stop; its third cell is the last. The argument `stillborn` ends it before it is ready.
"""

import os
import sys
from collections.abc import Iterator
from threading import Event as Never

from specviz.core.metrics import Costs
from specviz.core.trace import (
    Autoregressive,
    DrafterInfo,
    EmittedToken,
    ModelInfo,
    Output,
    Prompt,
    Round,
    Trace,
)
from specviz.service.protocol import (
    Calibrate,
    CostsResult,
    Done,
    Event,
    Failed,
    Finished,
    Item,
    JobCommand,
    Loading,
    Progress,
    Ready,
    Rounds,
    Run,
    Started,
    Stop,
    Stopped,
    Sweep,
    dump_event,
    parse_command,
)
from tests.support.fake_traces import run_of


def main() -> None:
    if "stillborn" in sys.argv:
        os._exit(1)
    say(Ready({}))
    for line in sys.stdin.buffer:
        command = parse_command(line)
        if not isinstance(command, Stop):  # one for a job that has just ended is late, not wrong
            for event in obey(command):
                say(event)


def obey(command: JobCommand) -> Iterator[Event]:
    if isinstance(command, Sweep):
        yield from sweep(command)
        return
    assert isinstance(command, Run | Calibrate)
    job = command.job
    order, _, number = command.request.prompt.partition(" ")
    if order == "fail":
        yield Failed(job, "The prompt is not to the engine's taste.")
    elif isinstance(command, Calibrate):
        yield Started(job)
        if order == "hold":
            yield wait_for_stop(job)
        else:
            yield Item(job, "calibrate", CostsResult(Costs(0.01, 0.1, {1: 1.0, 5: 1.5}, 0.05)))
            yield Finished(job)
    else:
        yield Loading(job, command.request.target)
        yield Started(job, header(command))
        if order == "noise":
            print("Downloading shards: 100%\n{}\n\n[1, 2]", flush=True)
        for index in range(int(number) if order == "rounds" else 1):
            made = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index))
            yield Rounds(job, [made], output(index + 1), Autoregressive([0.01], [index], alternating=True))
        if order == "die":
            os._exit(3)
        if order == "slow":
            Never().wait(float(number or 1))
        if order == "deaf":
            Never().wait()
        if order == "hold":
            yield wait_for_stop(job)
        else:
            yield Done(job, "plain")


def sweep(command: Sweep) -> Iterator[Event]:
    cell = command.done + 1
    yield Progress(command.job, "measuring", 3)
    yield Item(command.job, "sweep", f"cell {cell}")
    yield Finished(command.job) if cell == 3 else wait_for_stop(command.job)


def wait_for_stop(job: int) -> Stopped:
    while parse_command(sys.stdin.buffer.readline()) != Stop(job):
        pass
    return Stopped(job)


def header(run: Run) -> Trace:
    request = run.request
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


def say(event: Event) -> None:
    sys.stdout.buffer.write(dump_event(event))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
