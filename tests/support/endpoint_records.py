"""What running servers answered: the files in tests/fixtures/records/endpoints, read without the program's readers."""

import json
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.records import RECORDS

ENDPOINTS = RECORDS / "endpoints"
Rounds = list[tuple[int, int]]  # drafted and accepted tokens


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and its answer."""

    system: str
    path: Path
    question: dict[str, Any]

    @property
    def file(self) -> str:
        return self.path.name

    @property
    def content(self) -> bytes:
        return self.path.read_bytes()

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The objects of a stream, or the one of an answer."""
        if self.file.endswith(".json"):
            return [json.loads(self.content)]
        lines = self.content.decode().split("\n")
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]

    @property
    def choices(self) -> list[dict[str, Any]]:
        return [choice for part in self.parts for choice in part.get("choices", ())]

    @property
    def written(self) -> int:
        told = [part["usage"]["completion_tokens"] for part in self.parts if part.get("usage")]
        return int(told[-1] if told else self.parts[-1]["tokens_predicted"])  # llama.cpp's own path has no usage

    @property
    def ids(self) -> list[int]:
        each = [*self.choices, *self.parts]
        return [token_id for its in each for token_id in its.get("token_ids", its.get("tokens")) or ()]

    @property
    def text(self) -> str:
        said = [
            choice.get("text") or (choice.get("delta") or choice.get("message") or {}).get("content")
            for choice in self.choices
        ]
        return "".join(filter(None, said)) or "".join(part.get("content", "") for part in self.parts)

    @property
    def rounds(self) -> Rounds:
        """The rounds as the server says them: vLLM lists them, and llama.cpp's totals grow where one begins."""
        if self.system == "vllm":
            [said] = [part["metrics"]["speculative_decoding"] for part in self.parts if part.get("metrics")]
            return list(zip(said.get("per_step_drafted") or (), said.get("per_step_accepted") or (), strict=True))
        timings = [part["timings"] for part in self.parts if "timings" in part]
        totals = [(0, 0), *((each.get("draft_n", 0), each.get("draft_n_accepted", 0)) for each in timings)]
        grown = [(now[0] - before[0], now[1] - before[1]) for before, now in pairwise(totals)]
        rounds = [each for each in grown if each != (0, 0)]
        if self.file.endswith(".sse") or not rounds:
            return rounds
        streamed = replace(self, path=self.path.with_name(re.sub(r"whole.*", "greedy.sse", self.file))).rounds
        assert rounds == [tuple(map(sum, zip(*streamed, strict=True)))], "without a stream it reports totals alone"
        return streamed

    @property
    def written_rounds(self) -> Rounds:
        """The same without what the last round accepted past the end of the text."""
        rounds, room = [], self.written - 1  # the pass over the prompt wrote one
        for drafted, accepted in self.rounds:
            rounds.append((drafted, min(accepted, room)))
            room -= min(accepted + 1, room)
        return rounds


@dataclass(frozen=True, slots=True)
class Asked:
    """A batch of questions, with the page of counters before and after it."""

    system: str
    before: str
    after: str
    answers: list[Answered]

    @property
    def good(self) -> list[Answered]:
        return [answer for answer in self.answers if answer.question["status"] == 200]

    def grown(self, name: str) -> float:
        """How much a counter grew, summed over its labels."""
        sample = re.compile(rf"^\w+:{name}(?:{{.*}})? (\S+)$", re.MULTILINE)
        before, after = (sum(map(float, sample.findall(page))) for page in (self.before, self.after))
        return after - before


def asked_of(folder: Path = ENDPOINTS) -> dict[str, list[Asked]]:
    """Every batch, by the name of the server's index."""
    found: dict[str, list[Asked]] = {}
    for path in sorted(folder.glob("*.json")):
        index = json.loads(path.read_text())
        for batch in index.get("batches", ()):
            before, after = ((folder / batch[name]).read_text() for name in ("before", "after"))
            answers = [Answered(index["system"], folder / each["file"], each) for each in batch["questions"]]
            found.setdefault(path.stem, []).append(Asked(index["system"], before, after, answers))
    return found
