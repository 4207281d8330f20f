"""transformers: its assisted generation, written down round by round.

transformers keeps no record. docs/traces.md has a few lines that write one, around the two methods of a candidate
generator; they were read in transformers 5.23, generation/candidate_generator.py (`get_candidates`,
`update_candidate_strategy`) and generation/utils.py (`_assisted_decoding`: `num_matches` drafted tokens were accepted,
and one token was added; at the end of a text the last accepted token counts as that one).
"""

from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.systems.fields import Fields, say_record
from specviz.systems.traces import RecordOptions, Step, StoppedBy, SystemReport, written_of


def steps(pieces: Sequence[Fields], given: RecordOptions) -> SystemReport:
    head, rounds = pieces[0], pieces[1:]
    if not head.has("prompt_ids"):
        raise InputError(say_record("no_head"))
    if not rounds:
        raise InputError(say_record("no_tokens"))
    if given.tokenizer is None:
        raise InputError(say_record("no_texts"))
    ids, its = list[int](), list[Step]()
    for number, round in enumerate(rounds, start=1):
        candidates, added, matches = round.ids("candidate_ids"), round.ids("added_ids"), round.whole("num_matches")
        if matches is None or len(added) != matches + 1 or added[:-1] != candidates[:matches]:
            raise InputError(say_record("added_ids", number=number))
        its.append(Step(len(candidates), matches, written_of(given.tokenizer.texts(candidates), candidates)))
        ids += added
    texts = given.tokenizer.texts(ids)
    most = head.whole("max_new_tokens")
    # Greedy without `do_sample`; with it 1.0 is the default, but only the record can say so.
    temperature = 0.0 if head.value.get("do_sample") is False else head.number("temperature") or None
    stopped_by: StoppedBy = "length" if len(ids) == most else "other"
    return SystemReport(
        f"transformers {head.text('transformers') or ''}".strip(),
        its,
        written_of(texts, ids),
        "".join(texts),
        "eos" if ids[-1] in head.ids("eos_ids") else stopped_by,
        target=head.text("target"),
        draft=head.text("assistant"),
        prompt_ids=head.ids("prompt_ids"),
        settings={"temperature": temperature, "max_new_tokens": most},
    )
