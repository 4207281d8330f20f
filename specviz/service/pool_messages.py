"""What app servers and their common engine pool say to each other. One message is one line.

A message holds whole dataclasses, so it is pickled. Both ends are this program, in the same version: the pool's name
holds a hash of it. Like Ray itself, this trusts whoever can reach the cluster.
"""

import base64
import pickle
from dataclasses import dataclass, field
from typing import Literal

from specviz.service.job import JobView, Slot
from specviz.service.protocol import JobCommand


@dataclass(frozen=True, slots=True)
class Put:
    """Let this job wait for an engine."""

    job: int  # its number on the server
    session: str
    slot: Slot
    address: str
    command: JobCommand
    view: JobView  # what is known of it; a task goes on after the items in it
    instead_of: int | None = None  # a waiting job of the server that this one replaces in the queue


@dataclass(frozen=True, slots=True)
class Abandon:
    """Nobody on the server wants this job any more."""

    job: int


Order = Put | Abandon


@dataclass(frozen=True, slots=True)
class News:
    """What has changed for one server."""

    state: Literal["starting", "ready", "resting"]
    has_died: bool  # whether an engine died not long ago
    views: dict[int, JobView] = field(default_factory=dict)  # of its jobs that changed, by the server's numbers


def dump_line(message: Order | News) -> bytes:
    """One line without a line end inside."""
    return base64.b64encode(pickle.dumps(message)) + b"\n"


def load_order(line: bytes) -> Order:
    """What a server says.

    Raises:
        ValueError: it is no order.
    """
    order = _load(line)
    if not isinstance(order, Put | Abandon):
        raise ValueError("not an order")
    return order


def load_news(line: bytes) -> News:
    """What the pool says.

    Raises:
        ValueError: it is no news.
    """
    news = _load(line)
    if not isinstance(news, News):
        raise ValueError("not news")
    return news


def _load(line: bytes) -> object:
    try:
        return pickle.loads(base64.b64decode(line, validate=False))
    except Exception as error:
        raise ValueError("not a message") from error
