"""The two kinds of Ray actors: the pool of all app servers, and an engine. Ray itself is imported when one is made.

A cluster has one pool; it is detached, so it outlives the server that made it, and it ends when no server is left. The
engines are the pool's own: Ray ends them with it. Every engine takes one processor, and a GPU where that is asked for.
"""

import os
import traceback
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import count
from threading import Condition, Event, Thread
from typing import Any

from specviz.service.bench import Bench
from specviz.service.budget import seconds_a_job
from specviz.service.child import OnEnd, OnLine
from specviz.service.engine import Mailbox, give_memory_back, open_workshop
from specviz.service.pool import Pool
from specviz.service.protocol import Event as EngineEvent
from specviz.service.protocol import dump_event

PATIENCE = 2.0  # seconds that a question for news waits for some
# Threads of an actor: a question waits in one of them for something new. So many app servers can share a pool.
ENGINE_THREADS = 4
POOL_THREADS = 100


class EngineActor:
    """An engine on some node: the same workshop and the same bench as in `engine.main`.

    Args:
        environment: variables that are set before torch is imported.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._mail = Mailbox()
        self._early: dict[int, bytes] = {}  # commands that came before an earlier one, by their numbers
        self._next = 0
        self._lines: deque[bytes] = deque()
        self._changed = Condition()
        Thread(target=self._work, name="bench", daemon=True).start()

    def take(self, number: int, line: bytes) -> None:
        """A command. An actor with several threads may get them in any order, so each has a number, from 0."""
        with self._changed:
            self._early[number] = line
            while self._next in self._early:
                self._mail.take(self._early.pop(self._next))
                self._next += 1

    def events(self, patience: float) -> list[bytes]:
        """What the engine has said since the last call; waits up to `patience` seconds for something."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._lines), patience)
            lines = list(self._lines)
            self._lines.clear()
            return lines

    def _say(self, event: EngineEvent) -> None:
        with self._changed:
            self._lines.append(dump_event(event))
            self._changed.notify_all()

    def _work(self) -> None:
        """An error of ours ends the process, as it ends a local engine: another one is started."""
        try:
            bench = Bench(open_workshop(self._say), self._mail, self._say, give_memory_back, seconds_a_job())
            while True:
                bench.work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)


class RayEngine:
    """An engine actor, as `driver.EngineDriver` sees an engine.

    Args:
        environment: variables for it.
        gpus: how many GPUs it takes, or which part of one.
        on_line: called from a thread of its own with each line the engine says; must not raise.
        on_end: called from that thread once the actor or its node is gone.
    """

    def __init__(self, environment: Mapping[str, str], gpus: float, on_line: OnLine, on_end: OnEnd) -> None:
        self._ray: Any = import_module("ray")
        actor = self._ray.remote(max_concurrency=ENGINE_THREADS, num_cpus=1, num_gpus=gpus)(EngineActor)
        self._actor = actor.remote(dict(environment))
        self._numbers = count()
        self._on_line, self._on_end = on_line, on_end
        self._reader = Thread(target=self._read, name="engine-reader", daemon=True)

    @property
    def pid(self) -> int:
        """0: it is on some other machine."""
        return 0

    def listen(self) -> None:
        """Start asking for what the engine says."""
        self._reader.start()

    def send(self, line: bytes) -> None:
        """Send a line. If the actor is gone, this does nothing: `on_end` reports it."""
        with suppress(self._ray.exceptions.RayError):
            self._actor.take.remote(next(self._numbers), line)

    def kill(self) -> None:
        """End the actor's process at once."""
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(self._actor)

    def close(self, patience: float = 2.0) -> None:
        """End the actor, and wait until that is known."""
        self.kill()
        self._reader.join(patience)

    def _read(self) -> None:
        """An actor that does not answer is ended: it may work on a node that cannot be reached, for nobody."""
        try:
            while True:
                for line in self._ray.get(self._actor.events.remote(PATIENCE)):
                    self._on_line(self, line)
        except self._ray.exceptions.RayError:
            pass
        except Exception:
            traceback.print_exc()
        self.kill()
        self._on_end(self, 1)


class PoolActor:
    """The pool of all app servers, see `pool.Pool`.

    Args:
        environment: variables for it and its engines; those of the server that came first.
        engines: how many; 0: as many as the cluster has processors now.
        gpus: how many GPUs each engine takes, or which part of one.
    """

    def __init__(self, environment: Mapping[str, str], engines: int, gpus: float) -> None:
        os.environ.update(environment)
        ray: Any = import_module("ray")
        resources = ray.cluster_resources()
        most = engines or engines_that_fit(resources, gpus)
        self._myself = ray.get_runtime_context().current_actor
        self._kill = ray.kill
        self._pool = Pool(partial(RayEngine, environment, gpus), most, on_idle=self._end)
        self._pool.start()

    def obey(self, server: str, line: bytes) -> None:
        """See `Pool.obey`."""
        self._pool.obey(server, line)

    def news(self, server: str, patience: float) -> bytes:
        """See `Pool.news`."""
        return self._pool.news(server, patience)

    def leave(self, server: str) -> None:
        """See `Pool.leave`."""
        self._pool.leave(server)

    def _end(self) -> None:
        """Not by ending the process: Ray would start it again."""
        self._pool.close()
        self._kill(self._myself, no_restart=True)
        Event().wait()


def engines_that_fit(resources: Mapping[str, float], gpus: float) -> int:
    """How many engines a cluster has room for, from 1 to 64."""
    fit = resources.get("CPU", 1.0)
    if gpus:
        fit = min(fit, resources.get("GPU", 0.0) / gpus)
    return max(1, min(64, int(fit)))
