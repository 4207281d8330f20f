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
from specviz.service import protocol as say
from tests.support.fake_traces import run_of


def main() -> None:
    if "stillborn" in sys.argv:
        os._exit(1)
    send(say.Ready({}))
    for line in sys.stdin.buffer:
        command = say.parse_command(line)
        if not isinstance(command, say.Stop):  # one for a job that has just ended is late, not wrong
            for event in obey(command):
                send(event)


def obey(command: say.JobCommand) -> Iterator[say.Event]:
    if isinstance(command, say.Sweep):
        yield from sweep(command)
        return
    assert isinstance(command, say.Run | say.Calibrate)
    job = command.job
    order, _, number = command.request.prompt.partition(" ")
    if order == "fail":
        yield say.Failed(job, "The prompt is not to the engine's taste.")
    elif isinstance(command, say.Calibrate):
        yield say.Started(job)
        if order == "hold":
            yield wait_for_stop(job)
        else:
            yield say.Item(job, "calibrate", say.CostsResult(Costs(0.01, 0.1, {1: 1.0, 5: 1.5}, 0.05)))
            yield say.Finished(job)
    else:
        yield say.Loading(job, command.request.target)
        if order == "noise":
            print("Downloading shards: 100%\n{}\n\n[1, 2]", flush=True)
        yield from begin(command, int(number) if order == "rounds" else 1)
        if order == "die":
            os._exit(3)
        if order == "slow":
            Never().wait(float(number or 1))
        if order == "deaf":
            Never().wait()
        if order == "hold":
            yield wait_for_stop(job)
        else:
            yield say.Done(job, "plain")


def begin(run: say.Run, rounds: int) -> Iterator[say.Event]:
    """A run that has read its prompt and decodes so many rounds."""
    yield say.Started(run.job, header(run))
    for index in range(rounds):
        made = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index))
        yield say.Rounds(run.job, [made], output(index + 1), Autoregressive([0.01], [index], alternating=True))


def sweep(command: say.Sweep) -> Iterator[say.Event]:
    cell = command.done + 1
    yield say.Progress(command.job, "measuring", 3)
    yield say.Item(command.job, "sweep", f"cell {cell}")
    yield say.Finished(command.job) if cell == 3 else wait_for_stop(command.job)


def wait_for_stop(job: int) -> say.Stopped:
    while say.parse_command(sys.stdin.buffer.readline()) != say.Stop(job):
        pass
    return say.Stopped(job)


def header(run: say.Run) -> Trace:
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


def send(event: say.Event) -> None:
    sys.stdout.buffer.write(say.dump_event(event))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
