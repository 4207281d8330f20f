"""The service as pages use it: submit a job, look at it, cancel it. Callers never wait for the engine."""

import atexit
import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from random import randrange
from threading import Condition
from urllib.parse import urlsplit

from specviz.core.drafters import exit_layers, needs_nothing
from specviz.core.errors import InputError
from specviz.core.languages import current_language
from specviz.core.metrics import Costs
from specviz.core.operator_settings import operator_setting
from specviz.core.request import RunRequest
from specviz.core.texts import Sentences
from specviz.core.trace import SCHEMA
from specviz.models import catalogue
from specviz.models.draft_menu import explain_refusal, is_allowed
from specviz.models.gguf_folder import look_at
from specviz.service import protocol as wire
from specviz.service.child import ENGINE, StartEngine
from specviz.service.fleet import Fleet
from specviz.service.job import Job, JobView, Slot
from specviz.service.limits import ServiceLimits
from specviz.service.run_store import RunStore, answers, store_wanted
from specviz.service.sessions import Sessions, Ticket, is_public, normal_address

MAX_PROMPT_CHARACTERS = 100_000
FORMAT = 1  # of what is stored; a new one forgets what older versions stored
FIRST_NUMBERS = 2**40
say = Sentences("service")

_log = logging.getLogger(__name__)


def admit(command: wire.JobCommand) -> None:
    """Let a command pass, or say why not: InputError.

    A visitor may name the models that the operator allows, see `specviz.models.draft_menu`.
    """
    length = max((len(each.prompt) for each in command.asked), default=0)
    if length > MAX_PROMPT_CHARACTERS:
        raise InputError(say("too_long", length=length, most=MAX_PROMPT_CHARACTERS))
    for target, draft in command.pairs:
        catalogue.check_heads(target, draft)
        exit_layers(draft)
    targets = {target for target, _ in command.pairs}
    for name in sorted(command.models):
        fits = catalogue.method_named(name).loads != "model" and name not in targets
        if not (fits or is_allowed(name)):
            raise InputError(explain_refusal(name))
    try:
        wire.dump_command(command)
    except ValueError:
        raise InputError(say("no_text")) from None


def sharing_key(command: wire.JobCommand) -> str | None:
    """The same text for commands that ask for the same; None for a command whose result belongs to one visitor.

    A run's key holds its settings, its prompt, the weights of its models and the format in which it is stored.
    """
    if isinstance(command, wire.Run):
        asked: dict[str, object] = asdict(command.request)
    elif isinstance(command, wire.Calibrate):
        asked = {"target": command.request.target, "draft": command.request.draft}
    else:
        return None
    here = (*catalogue.bundled_names(), *catalogue.bundled_heads())
    # A model that does not ship with the app is known by its name: what is loaded under it, the engine decides.
    weights = {
        name: catalogue.weights_hash(catalogue.head_folder(name)) if name in here else _stated(name)
        for name in command.models
        if not needs_nothing(name)
    }
    return json.dumps([command.task.name, asked, weights, SCHEMA, FORMAT], sort_keys=True)


def _stated(name: str) -> str:
    """A GGUF file that is replaced under its name is another model."""
    file = catalogue.find_gguf(name)
    return f"{name} of {look_at(file)[0]}" if file else name


class EngineService:
    """Hands each job to an engine at once, and has each session's latest job for every slot.

    A slot is what a job is for, such as "run" or "sweep". A new job replaces only the session's old job of the same
    slot. Sessions that ask for the same run or the same costs share one job while it lasts, and what it found after.

    `command` is an engine's program and its arguments, or what starts one, such as a `stream.StreamEngine`. Without a
    `store`, finished runs are stored in memory only.
    """

    def __init__(
        self,
        command: Sequence[str] | StartEngine = ENGINE,
        limits: ServiceLimits | None = None,
        store: RunStore | None = None,
        engines: int = 1,
    ) -> None:
        limits = limits or ServiceLimits()
        self._most_at_once = limits.sessions_at_once
        self._numbers = count(randrange(1, FIRST_NUMBERS))  # an engine may have jobs of several servers
        self._changed = Condition()  # guards all below; notified at each change
        self.store = store or RunStore(None)
        self._costs: dict[str, wire.CostsResult] = {}  # what was measured last, by sharing key
        self._sessions = Sessions()
        self._fleet = Fleet(command, limits, self._changed, self._sessions, self._remember, engines)

    def start(self) -> None:
        with self._changed:
            if self._fleet.start():
                atexit.register(self.close)

    def submit(self, session: str, slot: Slot, make: Callable[[int], wire.JobCommand], *, fresh: bool = False) -> int:
        """Ask for what `make` makes of a job number; returns that number. What is wrong with it is in its view.

        What another session asked for and has, or is being made, is given to this one too; `fresh` measures again.
        """
        command = replace(make(next(self._numbers)), language=current_language())
        key = sharing_key(command)
        found = self._find(key, command) if key and not fresh else None  # without the lock: it may read a file
        job = Job(found or JobView(command.job), command, key)
        try:
            admit(command)
        except InputError as error:
            problem = str(error)
            job.fail(lambda: problem)
        with self._changed:
            job.command = replace(command, owners=self._sessions.owners(session))
            if not job.view.finished:
                under_way = self._sessions.shared(key) if key else []
                # a job under way that will answer this one too; a fresh one joins only what has not begun
                alike = (other for other in under_way if other.command.language == command.language)
                joined = next((other for other in alike if not fresh or other.view.state == "waiting"), None)
                known = is_public(self._sessions.address(session))  # there each tab is a session
                crowd = self._sessions.count_others_at_work(session) if known else 0
                if not joined and crowd >= self._most_at_once:
                    job.fail(lambda: say("crowded", most=self._most_at_once))
                job = joined or job
            old = self._sessions.save(Ticket(command.job, session, slot, job))
            if job.id == command.job and not job.view.finished:
                self._fleet.enqueue(job)
            self._fleet.abandon_unwanted([old.job] if old else [])
        return command.job

    def view(self, job: int) -> JobView:
        with self._changed:
            return self._snapshot(job)

    def wait(self, job: int, enough: Callable[[JobView], bool], timeout: float) -> JobView:
        """The job's view as soon as it is over or `enough` says so, or after `timeout` seconds."""

        def far_enough() -> bool:
            ticket = self._sessions.ticket(job)
            return ticket is None or ticket.view.finished or enough(ticket.view)

        with self._changed:
            self._changed.wait_for(far_enough, timeout)
            return self._snapshot(job)

    def cancel(self, session: str, slot: Slot) -> None:
        """End the session's job in this slot; what it has so far stays in its view."""
        with self._changed:
            if ticket := self._sessions.ticket_of(session, slot):
                self._fleet.abandon_unwanted([ticket.cancel()])

    def arrive(self, session: str, address: str | None = None) -> None:
        """The session is there; its internet address is None where it is not known."""
        with self._changed:
            self._sessions.arrive(session, normal_address(address))

    @property
    def visitors(self) -> set[str]:
        with self._changed:
            return self._sessions.arrived

    def forget(self, sessions: Collection[str]) -> None:
        """These sessions have left: their jobs end, and their results are forgotten."""
        with self._changed:
            self._fleet.abandon_unwanted([ticket.job for ticket in self._sessions.forget(sessions)])

    def known_costs(self, request: RunRequest) -> Costs | None:
        """What the request's pair costs here, where that was measured."""
        key = sharing_key(wire.Calibrate(0, request, language=current_language()))
        found = self._costs.get(key) if key else None
        return found.costs if found else None

    def close(self) -> None:
        self._fleet.close()
        self.store.close()
        atexit.unregister(self.close)

    def _find(self, key: str, command: wire.JobCommand) -> JobView | None:
        done = JobView(command.job, state="done", stored=True)
        if isinstance(command, wire.Calibrate):
            costs = self._costs.get(key)
            return replace(done, items=(costs,)) if costs and costs.attempt >= command.attempt else None
        run = self.store.latest(key)
        return replace(done, run=run.result) if run and answers(run.result, datetime.now(UTC)) else None

    def _remember(self, job: Job) -> None:
        """Store what a job found, for others who ask for the same."""
        if job.key is None:
            return
        if job.view.run and isinstance(job.command, wire.Run):
            job.view = replace(job.view, run=self.store.save(job.key, job.command.request, job.view.run))
        else:
            self._costs[job.key] = replace(job.view.items[-1], beside=job.view.beside)
            job.view = replace(job.view, items=(self._costs[job.key],))

    def _snapshot(self, number: int) -> JobView:
        ticket = self._sessions.ticket(number)
        if ticket is None:
            return JobView(number, state="lost", message=say("expired"))
        view = ticket.view
        if view.state != "waiting":
            return view
        again = ticket.job.deaths or any(driver.deaths for driver in self._fleet.drivers)
        message = "" if self._fleet.ready else say("restarting" if again else "starting")
        return replace(view, place=self._fleet.place(ticket.job), message=message)


def service_wanted() -> EngineService:
    """A service that is not started yet; InputError: a setting is wrong."""
    engines = operator_setting("SPECVIZ_ENGINES")
    if engines.isdecimal():
        return EngineService(store=store_wanted(), engines=int(engines))
    from specviz.service.stream import EngineAddress, StreamEngine  # an HTTP client, which no other server needs

    if urlsplit(engines).scheme == "http" and urlsplit(engines).hostname not in ("localhost", "127.0.0.1", "::1"):
        _log.warning("SPECVIZ_ENGINES is an http:// URL: whoever is on the way reads the token and the prompts.")
    streams = int(operator_setting("SPECVIZ_STREAMS"))
    address = EngineAddress(engines, operator_setting("SPECVIZ_ENGINES_TOKEN", needed=True))
    return EngineService(partial(StreamEngine, address), store=store_wanted(), engines=streams)
