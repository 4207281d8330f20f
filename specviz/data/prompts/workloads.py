"""Prompts by kind of text. Presets, races, sweeps and tests all use these lists, in two files of assets/texts.

`WORKLOADS` (workloads.yaml) are texts to continue, `CHAT_WORKLOADS` (chat_workloads.yaml) what people ask chat models.

All prompts were written for this project, for models that know children's stories, Python, data formats and prose.
A preset's name is part of links ("preset=story-1"). So prompts can be added, but the text of a name never changes.
The game draws from `Workload.prompts`, and a class code stands for the same prompts for ever: `prompts` never changes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

from pydantic import BeforeValidator

from specviz.core.names import first_words
from specviz.core.texts import AppTexts
from specviz.data.prompts.grammars import Grammar
from specviz.data.texts import page_texts


@dataclass(frozen=True, slots=True)
class Preset:
    """A prompt. Its answer can have a form: an expression, or a JSON object that the text begins."""

    text: str
    regex: str = ""
    begins: str = ""
    object: Mapping[str, Any] | None = field(default=None, hash=False)  # properties in order, each a JSON schema
    name: str = ""  # "story-1", by its place; no file sets it

    def __post_init__(self) -> None:
        if self.regex and self.object:
            raise ValueError("the form is either “regex” or “object”")

    @property
    def grammar(self) -> Grammar | None:
        """What can follow the text; None: anything. InputError: the form is no grammar."""
        if self.object:
            return Grammar("json_schema", json.dumps(_schema({"object": self.object})), self.begins)
        return Grammar("regex", self.regex) if self.regex else None


# In a file, a prompt without a form is its text alone.
PresetText = Annotated[Preset, BeforeValidator(lambda given: Preset(given) if isinstance(given, str) else given)]


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    title: str
    about: str  # one sentence
    prompts: tuple[PresetText, ...]  # in the menus, the races and the game
    more_prompts: tuple[PresetText, ...]  # in sweeps only: an average over few prompts decides nothing

    @property
    def here(self) -> "Workload":
        """With its title and its sentence in the language of who reads them."""
        found = next(each for each in (*workload_texts(), *chat_workload_texts()) if each.name == self.name)
        return replace(self, title=found.title, about=found.about)

    @property
    def all_prompts(self) -> tuple[Preset, ...]:
        return self.prompts + self.more_prompts

    def named(self) -> Self:
        numbered = enumerate(self.all_prompts, start=1)
        prompts = tuple(replace(prompt, name=f"{self.name}-{number}") for number, prompt in numbered)
        split = len(self.prompts)
        return replace(self, prompts=prompts[:split], more_prompts=prompts[split:])


workload_texts = AppTexts("workloads", tuple[Workload, ...])
chat_workload_texts = AppTexts("chat_workloads", tuple[Workload, ...])


def _schema(value: Any) -> Any:
    """A JSON schema in which `object: {...}` means an object with exactly these properties, in this order."""
    if isinstance(value, list):
        return [_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) != ["object"]:
        return {name: _schema(item) for name, item in value.items()}
    properties = _schema(value["object"])
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


WORKLOADS = tuple(kind.named() for kind in workload_texts.read().content)  # at once: the first page's menus have them
CHAT_WORKLOADS = tuple(kind.named() for kind in chat_workload_texts.read().content)
ALL_WORKLOADS = (*WORKLOADS, *CHAT_WORKLOADS)
_WORKLOADS = {workload.name: workload for workload in ALL_WORKLOADS}
STORY = _WORKLOADS["story"]
DEFAULT_PRESET = STORY.prompts[1]  # its first rounds have accepted and rejected tokens

_PRESETS = {preset.name: preset for workload in ALL_WORKLOADS for preset in workload.prompts}


def find_preset(name: str) -> Preset | None:
    return _PRESETS.get(name)


def preset_of(prompt: str) -> str:
    """The name of the preset that has this text; `OWN_TEXT` where it is none."""
    return next((name for name, preset in _PRESETS.items() if preset.text == prompt), OWN_TEXT)


def find_workload(name: str) -> Workload | None:
    return _WORKLOADS.get(name)


def workload_of(preset_name: str) -> Workload | None:
    return next((w for w in ALL_WORKLOADS if any(p.name == preset_name for p in w.prompts)), None)


OWN_TEXT = "own"  # a prompt menu's entry for text that is not a preset
SHOWN_CHARACTERS = 70  # of a preset in the menu


def preset_label(name: str) -> str:
    preset, workload = find_preset(name), workload_of(name)
    if preset is None or workload is None:
        return page_texts("models")["yours"]
    return f"{workload.here.title} · {first_words(preset.text, SHOWN_CHARACTERS)}"
