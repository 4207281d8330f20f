"""A target's own chats with its last states: `python -m training chats`. What it is asked is in questions.yaml.

Many chats are written at once, each in its own row of one pass; a row whose chat has ended begins the next one. What
the user says begins with a task, and where a task needs a text, it is one that the target wrote in an earlier answer,
or data that is made up here. Where the task alone is no whole question, the target writes the rest of it, at
temperature 1. Answers are greedy, or drawn at temperature 0.6.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import torch
import yaml
from torch import Tensor

from benchmarks.batching.model import BatchLlama
from specviz.core.errors import InputError
from specviz.models.loaded_model import LoadedModel

TASKS = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text("utf-8"))
ROWS = 64
LONGEST = 384  # tokens of a chat
QUESTION = (20, 90)  # tokens that the target may add to a question, at most: drawn between these
WARM, HEAT = 0.3, 0.6  # the share of answers that are drawn, and their temperature
REPEATS = 12  # tokens: an answer that writes so many a second time is over
IN_A_FILE = 100  # chats
MARK = "\x02"  # stands for the user's words in the template
Say = Callable[[str], None]


@dataclass(slots=True)
class Row:
    """A chat that is being written."""

    ids: list[int]  # known so far; the model has read all but the last
    forced: list[int]  # what comes next whatever the model expects
    user: int
    most: int  # tokens of the question
    heat: float  # of the answer
    answer: int = 0  # where it begins; 0: not known yet
    over: bool = False


@dataclass(slots=True)
class Pool:
    """Pieces of earlier answers, to ask about."""

    texts: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)

    def take(self, answer: str, random: Random) -> None:
        blocks = re.findall(r"```(?:\w+)?\n(.*?)```", answer, re.S)
        self.codes += [block.strip() for block in blocks if 40 < len(block) < 500]
        for part in [] if blocks else answer.split("\n\n"):
            sentences = re.findall(r"[A-Z][^.!?\n]*[.!?]", part)
            start = random.randrange(max(1, len(sentences) - 2))
            piece = " ".join(sentences[start : start + random.randrange(2, 6)])
            self.texts += [piece] if 120 < len(piece) < 600 else []


class Questions:
    """What users say. The question's first words, and whether they are all of it."""

    def __init__(self, pool: Pool, random: Random) -> None:
        self._pool, self._random = pool, random

    def ask(self) -> tuple[str, bool]:
        random, kinds = self._random, TASKS["kinds"]
        kind = random.choices(list(kinds), [each["share"] for each in kinds.values()])[0]
        about = self._about(kinds[kind].get("about"))
        if about is None:
            return random.choice(TASKS["kinds"]["open"]["tasks"]), False
        join, end = random.choice(["\n\n", "\n\n", "\n", " "]), kinds[kind].get("ends", [""])
        whole = bool(kinds[kind].get("about")) and "ends" not in kinds[kind]
        return random.choice(kinds[kind]["tasks"]) + (join + about if about else "") + random.choice(end), whole

    def _about(self, what: str | None) -> str | None:
        """A text of this kind; "" where none is needed, None where there is none yet."""
        made = {"text": self._pool.texts, "code": self._pool.codes}.get(what or "")
        if made is not None:
            return self._random.choice(made) if made else None
        if what == "spoilt text":
            return self._spoilt(self._random.choice(self._pool.texts)) if self._pool.texts else None
        return {"json": self._record, "list": self._list}[what]() if what else ""

    def _spoilt(self, text: str) -> str:
        return " ".join(map(self._spoilt_word, text.split(" ")))

    def _spoilt_word(self, word: str) -> str:
        random = self._random
        if len(word) < 4 or not word.isalpha() or random.random() > 0.22:
            return word
        at = random.randrange(1, len(word) - 1)
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return random.choice([word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], swapped])

    def _record(self) -> str:
        random = self._random
        made: dict[str, Any] = {key: self._value() for key in random.sample(TASKS["keys"], random.randrange(3, 7))}
        if random.random() < 0.4:
            made["details"] = {key: self._value() for key in random.sample(TASKS["keys"], 2)}
        return json.dumps(made, indent=random.choice([None, None, 2]))

    def _value(self) -> object:
        random, nouns = self._random, TASKS["nouns"]
        values = [random.choice(nouns), random.randrange(200), round(random.uniform(1, 99), 2), random.random() < 0.5]
        return random.choice([*values, random.sample(nouns, 3)])

    def _list(self) -> str:
        random = self._random
        items = random.sample(TASKS["nouns"], random.randrange(3, 8))
        counted = [f"{item}: {random.randrange(60)}" if random.random() < 0.4 else item for item in items]
        return random.choice([", ", "; ", "\n"]).join(counted)


class ChatWriter:
    """Raises InputError: the target has no chat template, or another forward pass reads it."""

    def __init__(self, target: LoadedModel, seed: int) -> None:
        if target.llama is None or not target.tokenizer.chat_template:
            raise InputError(f"{target.name} writes no chats: they need a chat template and our forward pass.")
        self._target, self._random = target, Random(seed)
        self._llama = BatchLlama.of(target.llama, ROWS)
        self._generator = torch.Generator().manual_seed(seed)
        shown: Any = target.tokenizer.apply_chat_template(
            [{"role": "user", "content": MARK}], add_generation_prompt=True, tokenize=False
        )
        self._before, self._after = (self._encoded(part) for part in shown.split(MARK))
        self.pool = Pool()
        self._questions = Questions(self.pool, self._random)
        self._rows = [self._begin() for _ in range(ROWS)]
        self._states = torch.zeros(ROWS, LONGEST, len(self._llama.norm), dtype=torch.float16)

    @torch.inference_mode()
    def step(self) -> list[dict[str, Any]]:
        """One token more in each row; returns the chats that ended, as `training.chats.load_chats` reads them."""
        rows, lengths = self._rows, self._llama.batch.lengths
        hidden = self._llama.hidden_of_batch(torch.tensor([[row.ids[-1]] for row in rows]))[:, 0]
        self._states[range(ROWS), lengths] = hidden.half()
        free = [number for number, row in enumerate(rows) if not row.forced]
        chosen = dict(zip(free, self._choose(hidden[free], [rows[number] for number in free]), strict=True))
        ended = []
        for number, row in enumerate(rows):
            lengths[number] += 1
            self._take(row, chosen.get(number, 0))
            if row.over:
                if row.answer and len(row.ids) > row.answer + 4:
                    ended.append(self._ended(row, self._states[number]))
                rows[number], lengths[number] = self._begin(), 0
        return ended

    def _begin(self) -> Row:
        words, whole = self._questions.ask()
        first = self._before + self._encoded(words)[: LONGEST // 2]
        row = Row(first[:1], first[1:], len(self._before), len(first) + self._random.randrange(*QUESTION), 0.0)
        row.heat = HEAT if self._random.random() < WARM else 0.0
        if whole:
            row.forced, row.answer = first[1:] + self._after, len(first) + len(self._after)
        return row

    def _choose(self, hidden: Tensor, rows: list[Row]) -> list[int]:
        if not rows:
            return []
        logits = self._llama.logits(hidden)
        heats = torch.tensor([row.heat if row.answer else 1.0 for row in rows])
        drawn = torch.multinomial((logits / heats.clamp(min=0.1)[:, None]).softmax(-1), 1, generator=self._generator)
        return torch.where(heats > 0, drawn[:, 0], logits.argmax(-1)).tolist()

    def _take(self, row: Row, token_id: int) -> None:
        ends = token_id in self._target.end_ids
        if row.forced:
            row.ids.append(row.forced.pop(0))
        elif not row.answer and (ends or len(row.ids) >= row.most):
            row.answer = len(row.ids) + len(self._after)
            row.ids, row.forced = row.ids + self._after[:1], self._after[1:]
        else:
            row.ids.append(token_id)
            row.over = bool(row.answer) and (ends or _repeats(row.ids[row.answer :]))
        row.over |= len(row.ids) >= LONGEST

    def _ended(self, row: Row, states: Tensor) -> dict[str, Any]:
        self.pool.take(self._target.tokens.decode(row.ids[row.answer :]), self._random)
        ids, known = torch.tensor(row.ids, dtype=torch.int32), states[: len(row.ids) - 1].clone()
        return {"ids": ids, "states": known, "user": row.user, "answer": row.answer, "heat": row.heat}

    def _encoded(self, text: str) -> list[int]:
        return list(self._target.tokenizer(text, add_special_tokens=False)["input_ids"])


def _repeats(answer: list[int]) -> bool:
    last, before = answer[-REPEATS:], answer[:-REPEATS]
    again = any(before[at : at + REPEATS] == last for at in range(len(before) - REPEATS + 1))
    return len(answer) % 16 == 0 and len(answer) > 64 and again


def write_chats(
    target: LoadedModel, folder: Path, chats: int, seed: int, say: Say, is_over: Callable[[], bool]
) -> None:
    """Write files of chats until there are about so many more, or `is_over` says so."""
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.glob(f"{seed}-*.pt")))
    writer = ChatWriter(target, seed * 1000 + number)
    made: list[dict[str, Any]] = []
    written = 0
    while written < chats and not is_over():
        made += writer.step()
        if len(made) >= min(IN_A_FILE, chats - written):
            new = folder / f"{seed}-{number:04d}.pt"
            torch.save({"chats": made}, new.with_suffix(".new"))
            new.with_suffix(".new").replace(new)
            written, number = written + len(made), number + 1
            say(f"{written} chats; the last {len(made)} have {sum(len(each['ids']) for each in made)} tokens")
            made = []
