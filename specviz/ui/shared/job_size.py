"""What is said of a long job before it starts: how long it takes, and how long this server lets it."""

from specviz.core.request import RunRequest
from specviz.measure.pace import Pace, pace_of_costs
from specviz.service.budget import seconds_a_job
from specviz.ui.shared.engine import engine

UNKNOWN = "how long that takes is not known before this pair has run here"


def pace_here(request: RunRequest) -> Pace | None:
    """How fast the request's pair runs on this server; None where its costs are not measured yet."""
    costs = engine().known_costs(request)
    return pace_of_costs(costs) if costs else None


def limit_sentence(seconds: float | None = None) -> str:
    """How long this server lets a job work, and whether one of about so many seconds ends before; empty: no limit."""
    limit = seconds_a_job()
    if limit is None:
        return ""
    if seconds is not None and seconds > limit:
        return f"This server gives one job {limit:,} s, so it will end before that: what is found by then is shown."
    return f"This server gives one job at most {limit:,} s: what is found by then is shown."
