"""What a student's rule wrote in many draws: a part of the file of its run, which the page Same quality tests.

One run cannot show with which probability a token comes, so `specviz lab run` draws the same few tokens many times.
"""

import json
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.outside import MostItems, not_valid
from specviz.core.request import RunRequest
from specviz.core.texts import Sentences
from specviz.core.trace import UPLOAD, Name, Trace, dump_trace, parse_trace
from specviz.measure.proof.rows import BATCHES, PLACES, POSITIONS, DrawBatch, Position

say = Sentences("files")

DRAFT_LENGTH = 2  # so that the third token is often the one after a whole draft
TESTED: tuple[Position, ...] = ("first", "second", "third")
PART = "same_quality"  # of the file


@dataclass(frozen=True, slots=True)
class DrawnPosition:
    position: Position
    batches: Annotated[list[DrawBatch], MostItems(BATCHES)]


@dataclass(frozen=True, slots=True)
class LabDraws:
    positions: Annotated[list[DrawnPosition], MostItems(len(POSITIONS))]
    kind: Name = ""  # of the mistake, as `lab check` calls it; empty: none, or none that is known


@dataclass(frozen=True, slots=True)
class _File:
    same_quality: LabDraws | None = None


_FILE: TypeAdapter[_File] = TypeAdapter(_File)


def dump_run(trace: Trace, draws: LabDraws) -> str:
    """A trace file with one part more, which other readers of traces do not look at."""
    return json.dumps(json.loads(dump_trace(trace)) | json.loads(_FILE.dump_json(_File(draws))))


def read_draws(content: bytes) -> tuple[RunRequest, LabDraws]:
    """What was decoded, and the draws; InputError: it is no such file, in one sentence."""
    trace = parse_trace(content, UPLOAD)
    try:
        found = _FILE.validate_json(content.removeprefix(b"\xef\xbb\xbf")).same_quality
    except ValidationError as error:
        raise not_valid("file", error) from None
    if found is None or not found.positions or trace.drafter is None:
        raise InputError(say("no_draws"))
    if _contradicts_itself(found):
        raise InputError(say("contradicts", problems="draws"))
    settings = replace(trace.settings, draft_length=DRAFT_LENGTH)
    return RunRequest(trace.prompt.text, trace.target.name, trace.drafter.asked_as, settings=settings), found


def _contradicts_itself(draws: LabDraws) -> bool:
    names = [each.position for each in draws.positions]
    if len(set(names)) < len(names) or not all(each.batches for each in draws.positions):
        return True
    for position in draws.positions:
        for batch in position.batches:
            columns: list[list[Any]] = [batch.speculative, batch.plain, batch.expected]
            places = [batch.speculative_places, batch.plain_places]
            if (
                not batch.draws
                or batch.tokens != position.batches[0].tokens
                or any(len(column) != len(batch.tokens) for column in columns)
                or any(abs(sum(column) - batch.draws) > 0.01 * batch.draws for column in columns)
                or (any(places) and any(len(each) != PLACES or sum(each) != batch.draws for each in places))
            ):
                return True
    return False
