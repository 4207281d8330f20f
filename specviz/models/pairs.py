"""Pairs to try, and the size of their models, before anything is downloaded or loaded. Never imports torch."""

from dataclasses import dataclass
from typing import Literal

import yaml
from pydantic import TypeAdapter

from specviz.core.files import ASSETS
from specviz.models.catalogue import bundled_models

NOT_MEASURED = "not measured here"
CARDS_MACHINE = "an AMD EPYC, 2 cores"  # where the bundled models' cards were measured, see benchmarks/family.py

Lesson = Literal["pays", "no better", "does not pay", "open"]
Place = Literal["anywhere", "4 GB", "8 GB", "GPU"]


@dataclass(frozen=True, slots=True)
class KnownModel:
    name: str  # bundled name or Hub id
    parameters: int  # tied embeddings counted once
    layers: int
    context: int  # most tokens it can read, prompt and output together
    vocabulary: int  # rows of its embedding, padding included
    source: str  # where these numbers come from
    commit: str | None = None  # on the Hub: the only version that is downloaded, whatever is published later


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    source: str  # a URL, a paper, a file of this project, or NOT_MEASURED


@dataclass(frozen=True, slots=True)
class Pair:
    target: str
    draft: str
    lesson: Lesson  # open: it depends on the machine, and visitors can find out
    place: Place  # the smallest machine that can run it
    statements: tuple[Statement, ...]

    @property
    def basis(self) -> str:
        sources = " ".join(statement.source for statement in self.statements)
        if "assets/models/" in sources:
            return f"measured on {CARDS_MACHINE}"
        return "modelled" if LEVIATHAN in sources else "expected, not measured"

    @property
    def models(self) -> tuple[KnownModel, KnownModel]:
        return known_models()[self.target], known_models()[self.draft]

    @property
    def parameters(self) -> int:
        return sum(model.parameters for model in self.models)


LEVIATHAN = "Leviathan et al. 2023, arXiv:2211.17192"


@dataclass(frozen=True, slots=True)
class _Catalogue:
    models: tuple[KnownModel, ...]
    pairs: tuple[Pair, ...]


FILE = ASSETS / "pairs.yaml"
_CATALOGUE = TypeAdapter(_Catalogue).validate_python(yaml.safe_load(FILE.read_text(encoding="utf-8")))
HUB_MODELS, PAIRS = _CATALOGUE.models, _CATALOGUE.pairs


def known_models() -> dict[str, KnownModel]:
    bundled = [
        KnownModel(model.name, model.parameters, model.layers, model.context, model.vocabulary, "its files")
        for model in bundled_models()
    ]
    return {model.name: model for model in (*bundled, *HUB_MODELS)}


def known_names() -> list[str]:
    return list(known_models())
