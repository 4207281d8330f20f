"""The engine process: `python -m specviz.service.engine`. Reads commands from stdin, writes events to stdout.

One thread works. A second one waits for stdin: that does not disturb timings, a Stop is heard at any time, and the
process ends as soon as the server is gone, whatever the first thread is doing.
"""

import gc
import os
import signal
import sys
import traceback
from functools import partial
from importlib.metadata import version
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from specviz.core.free_memory import give_back
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.service.bench import Bench, DoJob, Orders, Send
from specviz.service.child import SHARED
from specviz.service.limits import seconds_a_job
from specviz.service.protocol import EngineReady, Event, Run, dump_event, parse_command


def listen(lines: BinaryIO, orders: Orders) -> None:
    """Take in what the server says. The process ends with it, also after an error: the server starts another one."""
    try:
        for line in lines:
            try:
                orders.put(parse_command(line))
            except ValueError:  # no command
                traceback.print_exc()
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(0)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the whole group, but the server ends the engine
    send = _reserve_stdout()
    orders: Orders = SimpleQueue()
    Thread(target=listen, args=(sys.stdin.buffer, orders), daemon=True).start()
    do_job = open_workshop(send)
    bench = Bench(do_job, orders, send, give_back, seconds_a_job(), shared=SHARED in sys.argv)
    try:
        while True:
            bench.work()
    except BaseException:  # threads that wait for the network would keep this process
        traceback.print_exc()
        os._exit(1)


def _reserve_stdout() -> Send:
    """Reserve stdout for events: what a library prints goes to stderr from now on."""
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def send(event: Event) -> None:
        try:
            events.write(dump_event(event))
            events.flush()
        except OSError:  # the server is gone
            os._exit(0)

    return send


def open_workshop(send: Send) -> DoJob:
    """Import the decoders, load the default pair and decode once, so that the first visitor need not wait."""
    gc.disable()  # collecting while importing takes a sixth of the start
    import torch

    from specviz.service.handlers import job_steps
    from specviz.service.workshop import Workshop, set_aside

    torch.set_num_threads(1)  # with other work on the cores, more threads are several times slower a step
    do_job = partial(job_steps, Workshop())
    first = Run(0, RunRequest("Once upon a time", DEFAULT_TARGET, DEFAULT_DRAFT))
    try:
        for _ in do_job(first):
            pass
    except Exception:
        traceback.print_exc()  # other models may still work
    gc.enable()
    set_aside()
    send(EngineReady({"torch": torch.__version__, "transformers": version("transformers")}))
    return do_job


if __name__ == "__main__":
    main()
