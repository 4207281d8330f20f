"""transformers: its assisted generation, written down round by round.

transformers keeps no record. docs/traces.md has a few lines that write one, around the two methods of a candidate
generator; they were read in transformers 5.23, generation/candidate_generator.py (`get_candidates`,
`update_candidate_strategy`) and generation/utils.py (`_assisted_decoding`: `num_matches` drafted tokens were accepted,
and one token was added; at the end of a text the last accepted token counts as that one).

On the machine with the models `specviz.record_assisted_generation` does more: it also records times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from specviz.core.errors import InputError
from specviz.core.outside import MostItems
from specviz.core.settings import MAX_NODES
from specviz.core.texts import Sentences
from specviz.data.systems.importers.assembling import (
    RecordOptions,
    RecordStep,
    StoppedBy,
    SystemReport,
    Tokenizer,
    WrittenToken,
    written_of,
)
from specviz.data.systems.importers.record import Count, Id, Ids, RecordPiece, reader

say = Sentences("records")


@dataclass(frozen=True, slots=True)
class Head:
    prompt_ids: Ids
    transformers: str = ""
    target: str | None = None
    assistant: str | None = None
    do_sample: bool | None = None
    temperature: Annotated[float, Field(gt=0, le=10)] | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=10**9)] | None = None
    eos_ids: Ids | None = None


@dataclass(frozen=True, slots=True)
class JudgedToken:
    candidate_ids: Annotated[list[Id], MostItems(MAX_NODES)]
    num_matches: Count
    added_ids: Annotated[list[Id], MostItems(MAX_NODES + 1)]


read_heads, read_rounds = reader(Head), reader(JudgedToken)


def read(pieces: Sequence[RecordPiece], given: RecordOptions) -> SystemReport:
    if "prompt_ids" not in pieces[0].value:
        raise InputError(say("no_head"))
    if len(pieces) < 2:
        raise InputError(say("no_rounds"))
    head, rounds = read_heads(pieces[:1])[0], read_rounds(pieces[1:])
    if given.tokenizer is None:
        raise InputError(say("no_texts"))
    for number, round in enumerate(rounds, start=1):
        accepted = round.candidate_ids[: round.num_matches]
        if len(round.added_ids) != round.num_matches + 1 or round.added_ids[:-1] != accepted:
            raise InputError(say("added_ids", number=number))
    written = _add_texts([token_id for round in rounds for token_id in round.added_ids], given.tokenizer)
    steps = [
        RecordStep(len(each.candidate_ids), each.num_matches, _add_texts(each.candidate_ids, given.tokenizer))
        for each in rounds
    ]
    # Greedy without `do_sample`; with it 1.0 is the default, but only the record can say so.
    temperature = 0.0 if head.do_sample is False else head.temperature
    return SystemReport(
        f"transformers {head.transformers}".strip(),
        steps,
        written,
        "".join(token.text for token in written),
        _stopped_by(head, [token.id for token in written]),
        target=head.target,
        draft=head.assistant,
        prompt_ids=head.prompt_ids,
        settings={"temperature": temperature, "max_new_tokens": head.max_new_tokens},
    )


def _add_texts(token_ids: Sequence[int], tokenizer: Tokenizer) -> list[WrittenToken]:
    return written_of(tokenizer.texts(token_ids), token_ids)


def _stopped_by(head: Head, ids: Sequence[int | None]) -> StoppedBy:
    if ids[-1] in (head.eos_ids or []):
        return "eos"
    return "length" if len(ids) == head.max_new_tokens else "other"
