"""Prompts by kind of text. Presets, races, sweeps and tests all use this list.

All prompts were written for this project, for models that know children's stories, Python, data formats and prose.
A preset's name is part of links ("preset=story-1"). So prompts can be added, but the text of a name never changes.
The game draws from `Workload.prompts`, and a class code stands for the same prompts for ever: `prompts` never changes.
Further prompts go into `more_prompts` (specviz.data.more_prompts), which only sweeps measure.
"""

import json
from dataclasses import dataclass
from typing import Any

from specviz.data.grammars import Grammar
from specviz.data.more_prompts import MORE_PROMPTS, random_words


@dataclass(frozen=True, slots=True)
class Preset:
    """A prompt with a name that never changes."""

    name: str  # "story-1"
    text: str
    grammar: Grammar | None = None  # what can follow the text; None: anything


@dataclass(frozen=True, slots=True)
class Workload:
    """Prompts of one kind of text, and what to expect from it."""

    name: str
    title: str
    about: str  # one sentence
    prompts: tuple[Preset, ...]  # in the menus, the races and the game
    more_prompts: tuple[Preset, ...] = ()  # in sweeps only: an average over few prompts decides nothing

    @property
    def all_prompts(self) -> tuple[Preset, ...]:
        """What a sweep measures: the prompts of the menus first."""
        return self.prompts + self.more_prompts


def _workload(name: str, title: str, about: str, *texts: str | tuple[str, Grammar]) -> Workload:
    pairs = [(each, None) if isinstance(each, str) else each for each in (*texts, *MORE_PROMPTS[name])]
    presets = tuple(Preset(f"{name}-{number}", *pair) for number, pair in enumerate(pairs, start=1))
    return Workload(name, title, about, presets[: len(texts)], presets[len(texts) :])


def _object(opened: str, **properties: Any) -> Grammar:
    """A JSON object with exactly these properties, in this order. Its beginning, `opened`, is in the prompt."""
    return Grammar("json_schema", json.dumps(_all_of(properties)), opened)


def _all_of(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


STORY = _workload(
    "story",
    "Story",
    "Short children's stories in simple words: the bundled models know these best.",
    "Once upon a time, there was a little girl named",
    "Tom had a red boat. Every day after lunch he took it down to the pond. One day, the wind was very strong and",
    'The old owl looked at the small mouse and said, "Do not be afraid. I will help you find',
    "Mia and her brother found a big box under the stairs. They wanted to know what was inside. Mia lifted the lid and",
    "It was raining and Sam could not go outside. He was sad, but then his mom had an idea.",
)

CODE = _workload(
    "code",
    "Code",
    "Python in the style of the standard library: brackets, keywords and indentation are easy to guess.",
    'def read_lines(path):\n    """Return the lines of a file, without their endings."""\n    with open(path) as f:',
    "class Stack:\n"
    '    """A last-in, first-out container."""\n\n'
    "    def __init__(self):\n        self._items = []\n\n"
    "    def push(self, item):\n        self._items.append(item)\n\n"
    "    def pop(self):",
    "import os\nimport sys\nimport time\n\n\ndef main(argv=None):\n    if argv is None:",
    "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n\n\ndef lcm(a, b):",
    "    try:\n        value = int(text)\n    except ValueError:\n        raise ValueError(",
)

STRUCTURED = _workload(
    "structured",
    "Structured data",
    "JSON, configuration, logs and SQL: half of every line is punctuation that repeats.",
    '{\n  "name": "park",\n  "beds": [\n    {"id": 1, "kind": "rose"},\n    {"id": 2, "kind": "tulip"},\n    {"id": 3,',
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    app: web\nspec:\n  ports:\n  - port: 80",
    "[2026-03-01 09:14:02,118] INFO Starting worker 1 (pool.Worker)\n"
    "[2026-03-01 09:14:02,120] INFO Starting worker 2 (pool.Worker)\n"
    "[2026-03-01 09:14:02,",
    "CREATE TABLE book (\n    book_id INT NOT NULL,\n    title VARCHAR(160) NOT NULL,\n    author_id INT NOT NULL,",
    "INSERT INTO city (city_id, name) VALUES (1, 'Lisbon');\n"
    "INSERT INTO city (city_id, name) VALUES (2, 'Oslo');\n"
    "INSERT INTO city (city_id, name) VALUES (3,",
)

BOILERPLATE = _workload(
    "boilerplate",
    "Boilerplate",
    "Text that is written again and again with small changes: empty web pages, getters, argument lists.",
    '<!DOCTYPE html>\n<html lang="en">\n  <head>\n    <meta charset="utf-8" />\n    <title>',
    "    @property\n    def width(self):\n        return self._width\n\n"
    "    @property\n    def height(self):\n        return self._height\n\n"
    "    @property\n    def depth(self):",
    "import argparse\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--input', help='file to read')\n"
    "    parser.add_argument('--output',",
    "class TestSum(unittest.TestCase):\n\n"
    "    def test_empty(self):\n        self.assertEqual(sum([]), 0)\n\n"
    "    def test_one(self):\n        self.assertEqual(sum([1]), 1)\n\n"
    "    def test_two(self):",
    "    def __eq__(self, other):\n        if not isinstance(other, type(self)):\n            return NotImplemented\n"
    "        return self.value == other.value\n\n    def __ne__(self, other):",
)

_TYPE = {"enum": ["integer", "number", "string", "boolean"]}

CONSTRAINED = _workload(
    "constrained",
    "Constrained output",
    "The form is fixed and only the values are free: few tokens are possible at each position.",
    (
        '{"name": "Lily", "age": 5, "pet": "cat"}\n{"name": "Ben", "age": 6, "pet": "dog"}\n{"name":',
        _object(
            '{"name":',
            name={"type": "string", "pattern": "^[A-Z][a-z]{1,11}$"},
            age={"type": "integer", "minimum": 1, "maximum": 12},
            pet={"enum": ["cat", "dog", "fish", "bird", "rabbit", "mouse"]},
        ),
    ),
    (
        "Question: Is the sun hot?\nAnswer: yes\nQuestion: Is ice warm?\nAnswer: no\n"
        "Question: Can a fish swim?\nAnswer:",
        Grammar("regex", r" (yes|no)(\nQuestion: (Is|Are|Can|Do) [a-z]{1,9}( [a-z]{1,9}){1,4}\?\nAnswer: (yes|no)){3}"),
    ),
    (
        "one, 1\ntwo, 2\nthree, 3\nfour, 4\nfive,",
        Grammar("regex", r" [0-9]{1,3}(\n[a-z]{3,9}, [0-9]{1,3}){7}"),
    ),
    (
        "date,city,degrees\n2026-01-01,Oslo,-4\n2026-01-02,Oslo,-6\n2026-01-03,Oslo,",
        Grammar("regex", r"-?[0-9]{1,2}(\n2026-01-(0[1-9]|[12][0-9]),(Oslo|Rome|Cairo|Lima),-?[0-9]{1,2}){4}"),
    ),
    (
        '{"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"type":',
        _object(
            '{"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"type":',
            type={"const": "object"},
            properties=_all_of(
                {
                    "id": _all_of({"type": _TYPE}),
                    "name": _all_of({"type": _TYPE}),
                    "tags": _all_of({"type": {"const": "array"}, "items": _all_of({"type": _TYPE})}),
                }
            ),
            required={"type": "array", "items": {"enum": ["id", "name", "tags"]}, "minItems": 1, "maxItems": 3},
        ),
    ),
    (
        '{"shop": "market", "items": [{"name": "apple", "count": 3, "ripe": true}, {"name":',
        _object(
            '{"shop": "market", "items": [{"name": "apple", "count": 3, "ripe": true}, {"name":',
            shop={"type": "string", "pattern": "^[a-z]{1,11}$"},
            items={
                "type": "array",
                "minItems": 3,
                "maxItems": 4,
                "items": _all_of(
                    {
                        "name": {"type": "string", "pattern": "^[a-z]{1,11}$"},
                        "count": {"type": "integer", "minimum": 1, "maximum": 99},
                        "ripe": {"type": "boolean"},
                    }
                ),
            },
        ),
    ),
)

COPY = _workload(
    "copy",
    "Copy",
    "The answer repeats the prompt, as in editing or quoting: prompt lookup drafts it at almost no cost.",
    "The cat sat on the mat. The dog sat on the log. The hen sat on the pen.\n"
    "The cat sat on the mat. The dog sat on the log. The hen sat on the pen.\n"
    "The cat sat on the",
    "apple pear plum grape fig lemon\napple pear plum grape fig lemon\napple pear plum grape fig lemon\napple pear",
    "    self.name = name\n    self.size = size\n    self.color = color\n    self.owner = owner\n\n"
    "    self.name = name\n    self.size = size\n    self.color = color\n    self.owner = owner\n\n"
    "    self.name = name\n    self.size",
    'Row, row, row the boat. "Who will help me row?" said the frog. "Not I," said the duck.\n'
    'Row, row, row the boat. "Who will help me row?" said the frog. "Not I," said the goat.\n'
    'Row, row, row the boat. "Who will',
    "- id: 7\n  color: red\n  size: 30\n- id: 7\n  color: red\n  size: 30\n"
    "- id: 7\n  color: red\n  size: 30\n- id: 7\n  color: red\n  size:",
)

PROSE = _workload(
    "prose",
    "Prose",
    "Free prose for adults: a text can continue in many ways, so a small draft often chooses another.",
    "The road to the village ran between two low hills, and in the evening the last light lay upon it so that",
    "It was the custom of the house that nobody spoke at breakfast until the letters had been read, and",
    "My friend had been silent for the whole of the journey. At last he folded his newspaper, looked at me, and",
    "Bees live in large groups. Each group has one queen, and most of the others are workers that",
    "A: Do you like to read before you go to sleep?\nB: I do, although I never get far. What about you?\nA:",
)

RANDOM = _workload(
    "random",
    "Random words",
    "A prompt of random words: hard to continue for the draft and for the target.",
    *(random_words(seed) for seed in range(1, 6)),
)

WORKLOADS = (STORY, CODE, STRUCTURED, BOILERPLATE, CONSTRAINED, COPY, PROSE, RANDOM)
DEFAULT_PRESET = STORY.prompts[1]  # its first rounds have accepted and rejected tokens

_PRESETS = {preset.name: preset for workload in WORKLOADS for preset in workload.prompts}
_WORKLOADS = {workload.name: workload for workload in WORKLOADS}


def find_preset(name: str) -> Preset | None:
    """The preset with this name, or None."""
    return _PRESETS.get(name)


def find_workload(name: str) -> Workload | None:
    """The workload with this name, or None."""
    return _WORKLOADS.get(name)


def workload_of(preset_name: str) -> Workload | None:
    """The workload that a preset belongs to, or None."""
    return next((w for w in WORKLOADS if any(p.name == preset_name for p in w.prompts)), None)
