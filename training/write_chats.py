"""A target's own chats with its last states: `python -m training FOLDER chats`. What it is asked is in questions.yaml.

What the user says begins with a task, and where a task needs a text, it is one that the target wrote in an earlier
answer, or data that is made up here. Where the task alone is no whole question, the target writes the rest of it, at
temperature 1. Answers are greedy, or drawn at temperature 0.6. Some chats are written at once.
"""

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch
import yaml

from specviz.core.errors import InputError
from specviz.models.loaded_model import LoadedModel
from training.data import say

TASKS = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text("utf-8"))
AT_ONCE = 64
LONGEST = 384  # tokens of a chat
QUESTION = (20, 90)  # tokens that the target may add to a question, at most: drawn between these
WARM, HEAT = 0.3, 0.6  # the share of groups whose answers are drawn, and their temperature
REPEATS = 12  # tokens: an answer that writes so many a second time is over
MARK = "\x02"  # stands for the user's words in the template


class Questions:
    """What users say, some of it about pieces of earlier answers."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._texts: list[str] = []
        self._codes: list[str] = []

    def take(self, answer: str) -> None:
        blocks = re.findall(r"```(?:\w+)?\n(.*?)```", answer, re.S)
        self._codes += [block.strip() for block in blocks if 40 < len(block) < 500]
        for part in [] if blocks else answer.split("\n\n"):
            sentences = re.findall(r"[A-Z][^.!?\n]*[.!?]", part)
            start = self._random.randrange(max(1, len(sentences) - 2))
            piece = " ".join(sentences[start : start + self._random.randrange(2, 6)])
            self._texts += [piece] if 120 < len(piece) < 600 else []

    def ask(self) -> tuple[str, bool]:
        """The question's first words, and whether they are all of it."""
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
        made = {"text": self._texts, "code": self._codes}.get(what or "")
        if made is not None:
            return self._random.choice(made) if made else None
        if what == "spoilt text":
            words = self._random.choice(self._texts).split(" ") if self._texts else []
            return " ".join(map(self._spoilt, words)) or None
        return {"json": self._record, "list": self._list}[what]() if what else ""

    def _spoilt(self, word: str) -> str:
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


def write_chats(target: LoadedModel, folder: Path, chats: int, seed: int, until: float | None) -> None:
    """Write files of some chats, as `training.chats.load_chats` reads them: about so many chats more, or till `until`.

    Raises InputError: the target has no chat template.
    """
    if not target.tokenizer.chat_template:
        raise InputError(f"{target.name} writes no chats: it has no chat template.")
    shown: Any = target.tokenizer.apply_chat_template(
        [{"role": "user", "content": MARK}], add_generation_prompt=True, tokenize=False
    )
    before, after = (_encoded(target, part) for part in shown.split(MARK))
    folder.mkdir(parents=True, exist_ok=True)
    number, written = len(list(folder.glob(f"{seed}-*.pt"))), 0
    random = Random(seed * 1000 + number)
    torch.manual_seed(seed * 1000 + number)
    questions = Questions(random)
    while written < chats and not (until and time.time() > until):
        asked = [questions.ask() for _ in range(AT_ONCE)]
        begun = [before + _encoded(target, words)[: LONGEST // 2] for words, _ in asked]
        more = _continued(target, begun, QUESTION[1], heat=1.0)
        prompts = []
        for (_, whole), first, added in zip(asked, begun, more, strict=True):
            rest = [] if whole else [token for token in added if token not in target.end_ids]
            prompts.append(first + rest[: random.randrange(*QUESTION)] + after)
        heat = HEAT if random.random() < WARM else 0.0
        answers = _continued(target, prompts, LONGEST - min(map(len, prompts)), heat)
        made = list[dict[str, Any]]()
        for prompt, answer in zip(prompts, map(_without_repeats, answers), strict=True):
            ids = torch.tensor([*prompt, *answer][:LONGEST])
            if len(ids) > len(prompt) + 4:
                questions.take(target.tokens.decode(ids[len(prompt) :].tolist()))
                with torch.no_grad():
                    read = target.model.model(input_ids=ids[None, :-1], use_cache=False)
                places = {"user": len(before), "answer": len(prompt), "heat": heat}
                made.append({"ids": ids.int(), "states": read.last_hidden_state[0].half(), **places})
        new = folder / f"{seed}-{number:04d}.new"
        torch.save({"chats": made}, new)
        new.replace(new.with_suffix(".pt"))
        number, written = number + 1, written + len(made)
        say(f"{written} chats; the last {len(made)} have {sum(len(each['ids']) for each in made)} tokens")


def _encoded(target: LoadedModel, text: str) -> list[int]:
    return list(target.tokenizer(text, add_special_tokens=False)["input_ids"])


def _continued(target: LoadedModel, prompts: Sequence[list[int]], most: int, heat: float) -> list[list[int]]:
    """What the model writes after each prompt, its end with it; `most` tokens at most."""
    length = max(map(len, prompts))
    padded = torch.tensor([[0] * (length - len(each)) + each for each in prompts])
    mask = torch.tensor([[0] * (length - len(each)) + [1] * len(each) for each in prompts])
    ends = sorted(target.end_ids)
    how: dict[str, Any] = {"do_sample": True, "temperature": heat, "top_k": 0} if heat else {"do_sample": False}
    made: Any = target.model.generate(
        padded, attention_mask=mask, max_new_tokens=most, eos_token_id=ends, pad_token_id=ends[0], **how
    )
    rows: list[list[int]] = made[:, length:].tolist()
    return [row[: next((at + 1 for at, token in enumerate(row) if token in ends), most)] for row in rows]


def _without_repeats(answer: list[int]) -> list[int]:
    """Up to where it writes some tokens a second time."""
    seen = set()
    for end in range(REPEATS, len(answer)):
        last = tuple(answer[end - REPEATS : end])
        if last in seen:
            return answer[:end]
        seen.add(last)
    return answer
