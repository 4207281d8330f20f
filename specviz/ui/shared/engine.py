"""The one service behind all visitors, and the name by which it knows this visitor.

The service is not in Streamlit's own cache: any visitor can ask the server to clear that, and each time another engine
would start, with all of its memory.
"""

from threading import Timer

import streamlit as st

from specviz.core.once import cache_once
from specviz.core.request import RunRequest
from specviz.data.measured.first_run import first_trace
from specviz.data.measured.quiet_costs import quiet_costs
from specviz.data.texts import page_texts
from specviz.measure.paired import Pace, pace_of_costs, show_duration
from specviz.service import EngineService
from specviz.service.limits import seconds_a_job
from specviz.service.protocol import Calibrate
from specviz.service.service import service_wanted
from specviz.ui.shared.below_streamlit import session_id

SAYS = page_texts("shared")
HEAD_START_SECONDS = 2.0  # importing torch takes a whole core for seconds, and small hosts have hardly one


@cache_once
def engine() -> EngineService:
    """The server's one service; `start()` makes its engines run and returns at once."""
    return service_wanted()


@cache_once
def start_engine() -> None:
    """And have the costs of the first screen's pair measured before anyone asks: then nobody waits for them."""
    engine().start()
    first = first_trace()
    assert first.drafter
    pair = RunRequest("", first.target.name, first.drafter.name)
    engine().submit("the server itself", "costs", lambda job: Calibrate(job, pair))


@cache_once
def start_engine_soon() -> None:
    """Start the engine once the first page has had the processor to itself for a moment."""
    timer = Timer(HEAD_START_SECONDS, start_engine)
    timer.daemon = True
    timer.start()


def visitor() -> str:
    """This visitor's name, which the engine knows from now on: one that comes back soon has the same."""
    engine().arrive(found := session_id(), st.context.ip_address)
    return found


def pace_here(request: RunRequest) -> Pace | None:
    costs = engine().known_costs(request)
    return pace_of_costs(costs) if costs else None


def quiet_pace(request: RunRequest) -> Pace | None:
    """The slowest by the costs that quiet machines have recorded for this pair; None where there are none."""
    machines = [each.drafts for each in quiet_costs().machines if each.target == request.target]
    paces = [pace_of_costs(drafts[request.draft]) for drafts in machines if request.draft in drafts]
    return max(paces, key=lambda pace: pace.both, default=None)


def took(seconds: float | None, known: bool) -> str:
    """How long a job takes and how that is known: by what was measured here, or elsewhere."""
    if seconds is None:
        return SAYS["took_unknown"]
    return SAYS["took_known" if known else "took_recorded"].format(duration=show_duration(seconds))


def limit_sentence(seconds: float | None = None) -> str:
    """How long this server lets a job work, and whether one of about so many seconds ends before; empty: no limit."""
    if (limit := seconds_a_job()) is None:
        return ""
    if seconds is not None and seconds > limit:
        return SAYS["limit_before"].format(limit=limit)
    return SAYS["limit"].format(limit=limit)
