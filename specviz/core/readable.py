"""A run with token texts for people: a part of a cut character is shown as that character, see `spelled`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from specviz.core.trace import Candidate, ResidualCandidate, Round, Trace

BYTE = re.compile(r"⟨([0-9A-F]{2})⟩")


def spelled(texts: Sequence[str]) -> list[str]:
    """The texts of consecutive tokens; a part of a cut character as the character and which part it is: ö(1/2).

    Bytes that are no whole character together stay bytes.
    """
    if not any("⟨" in text for text in texts):
        return list(texts)
    shown = [""] * len(texts)
    for tokens, character in _characters(texts):
        for part, token in enumerate(tokens, start=1):
            shown[token] += character if len(tokens) == 1 else f"{character}({part}/{len(tokens)})"
    return shown


def whole_text(texts: Sequence[str]) -> str:
    """The text of consecutive tokens; bytes that are no whole character together stay bytes."""
    return "".join(character for _, character in _characters(texts))


def _characters(texts: Sequence[str]) -> Iterator[tuple[list[int], str]]:
    """The characters in the texts, in order, each with the places of the texts that it is in."""
    raw, owners = bytearray(), list[int]()
    for place, text in enumerate(texts):
        for number, part in enumerate(BYTE.split(text)):  # every second one is the two digits of a byte
            raw += bytes.fromhex(part) if number % 2 else part.encode(errors="surrogatepass")
            owners += [place] * (len(raw) - len(owners))
    at = 0
    for character in raw.decode(errors="surrogateescape"):
        end = at + len(character.encode(errors="surrogateescape"))
        shown = f"⟨{raw[at]:02X}⟩" if "\udc80" <= character <= "\udcff" else character
        yield list(dict.fromkeys(owners[at:end])), shown
        at = end


Alternative = TypeVar("Alternative", Candidate, ResidualCandidate)
AROUND = 3  # tokens that can hold the rest of a character: it has at most four bytes in UTF-8


def readable(trace: Trace) -> Trace:
    """The same run, its token texts readable where their bytes are whole characters. The file keeps the bytes."""
    if not any("⟨" in text for round in trace.rounds for text in _texts(round)):
        return trace
    before = trace.prompt.tokens[-AROUND:]
    written = [_written(round) for round in trace.rounds]
    rounds = []
    for index, round in enumerate(trace.rounds):
        after = [text for texts in written[index + 1 : index + 1 + AROUND] for text in texts]
        rounds.append(_round(round, before, after[:AROUND]))
        before = [*before, *written[index]][-AROUND:]
    return replace(trace, rounds=rounds)


def _texts(round: Round) -> list[str]:
    return [*(token.text or "" for token in round.drafted), round.emitted.text, *round.draft_tokens]


def _written(round: Round) -> list[str]:
    texts = [token.shown for token in round.accepted_tokens]
    return texts if round.emitted.kind == "none" else [*texts, round.emitted.text]


def _round(round: Round, before: Sequence[str], after: Sequence[str]) -> Round:
    """What the text goes on with decides the tokens that stay; a draft's own next tokens decide the others."""
    written, drafted = _written(round), [token.shown for token in round.drafted]
    stays = spelled([*before, *written, *after])[len(before) :]
    paths = [[drafted[place] for place in path] for path in round.paths]
    longest = paths if round.is_tree else [drafted] * len(drafted)  # in a tree several tokens may come next
    guessed = [spelled([*before, *longest[i]])[len(before) + len(path) - 1] for i, path in enumerate(paths)]
    tokens = [
        replace(
            token,
            text=token.text and (stays[len(paths[i]) - 1] if token.status == "accepted" else guessed[i]),
            candidates=_alternatives(token.candidates, [*before, *paths[i][:-1]], token.id, guessed[i]),
        )
        for i, token in enumerate(round.drafted)
    ]
    emitted = round.emitted
    if emitted.kind != "none":
        text, context = stays[len(written) - 1], [*before, *written[:-1]]
        emitted = replace(
            emitted,
            text=text,
            candidates=_alternatives(emitted.candidates, context, emitted.id, text),
            residual_top=_alternatives(emitted.residual_top, context, emitted.id, text),
        )
    return replace(round, drafted=tokens, emitted=emitted, draft_tokens=spelled(round.draft_tokens))


def _alternatives(found: Sequence[Alternative], before: Sequence[str], own: int | None, text: str) -> list[Alternative]:
    """Each as it would go on from there; the token itself as it is shown."""

    def goes_on(alternative: str) -> str:
        return spelled([*before[-AROUND:], alternative])[-1]

    return [each._replace(text=text if each.id == own else goes_on(each.text)) for each in found]
