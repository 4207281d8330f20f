"""What ships with specviz, and pairs to try: names and sizes, read from files. Never imports torch."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Literal

from specviz.core.drafters import LOOKUP_FIRST, MODEL, Method, kinds_that, method_of, named
from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.core.texts import AppTexts, Sentences
from specviz.core.trace import Trace
from specviz.models.gguf_folder import stored_files

say = Sentences("catalogue")


def find_local(name: str) -> Path | None:
    """The folder or the GGUF file of a model on this machine: the operator's file of this name, or what is there."""
    if stored := stored_files().get(name):
        return stored
    try:
        path = Path(name).expanduser()
        is_model = path.is_dir() or (path.suffix.lower() == ".gguf" and path.is_file())
        return path if name and is_model else None
    except (OSError, RuntimeError, ValueError):  # a name that is too long for a file, or a missing home folder
        return None


def find_folder(name: str) -> Path | None:
    return path if (path := find_local(name)) and path.is_dir() else None


def find_gguf(name: str) -> Path | None:
    return path if (path := find_local(name)) and path.is_file() else None


MODELS_FOLDER = ASSETS / "models"
HEAD_FILE = "head.json"  # a head has this instead of the config.json of a model
VOCABULARY = "vocabulary"  # in a head's weights: the ids of the words that it can guess, where that is not every word


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model or a head, and what is known of it without the network."""

    name: str  # bundled name or Hub id
    parameters: int  # tied embeddings counted once; of a head its own: the output embedding is the target's
    source: str  # where these numbers come from
    layers: int = 0
    context: int = 0  # most tokens it can read, prompt and output together
    vocabulary: int = 0  # rows of its embedding, padding included
    commit: str | None = None  # on the Hub: the only version that is downloaded, whatever is published later
    width: int | None = None  # numbers in a hidden state, of a bundled model
    kind: str = "model"  # of drafter, as in traces
    target: str = ""  # of a head: the only model that it can draft for
    longest: int | None = None  # of a head: most tokens that it drafts in a round; None: any number


@cache
def bundled() -> tuple[ModelEntry, ...]:
    """The models, the largest first; the heads; and those heads that guess one by one, behind prompt lookup."""
    found = []
    for file in sorted([*MODELS_FOLDER.glob("*/config.json"), *MODELS_FOLDER.glob(f"*/{HEAD_FILE}")]):
        config = json.loads(file.read_text(encoding="utf-8"))
        entry = ModelEntry(
            name=file.parent.name,
            parameters=count_parameters(file.with_name("model.safetensors")),
            source="its files",
            layers=config.get("num_hidden_layers", 0),
            context=config.get("max_position_embeddings", 0),
            vocabulary=config.get("vocab_size", 0),
            width=config.get("hidden_size"),
            kind=config.get("kind", "model"),
            target=config.get("target", ""),
            longest=config.get("depths"),
        )
        found.append(entry)
    heads = [entry for entry in found if entry.target]
    behind = [head for head in heads if not method_of(head.kind).at_once]
    models = sorted((entry for entry in found if not entry.target), key=lambda model: -model.parameters)
    behind = [replace(head, name=LOOKUP_FIRST + head.name, kind=f"lookup-{head.kind}") for head in behind]
    return (*models, *heads, *behind)


@cache
def bundled_models() -> tuple[ModelEntry, ...]:
    return tuple(entry for entry in bundled() if not entry.target)


def bundled_names() -> list[str]:
    return [model.name for model in bundled_models()]


@cache
def bundled_heads() -> dict[str, ModelEntry]:
    return {entry.name: entry for entry in bundled() if entry.target}


def head_folder(name: str) -> Path:
    return MODELS_FOLDER / name.removeprefix(LOOKUP_FIRST)


def stepping_heads(target: str) -> list[str]:
    """The heads on a target whose guesses cost one step each: not all at once, and never prompt lookup's."""
    methods = {name: method_of(head.kind) for name, head in bundled_heads().items() if head.target == target}
    return [name for name, method in methods.items() if method.fills and not method.at_once]


def method_named(draft: str) -> Method:
    """The way to draft that a name asks for; a name that nothing here has is a model's."""
    return named(draft) or (method_of(bundled_heads()[draft].kind) if draft in bundled_heads() else MODEL)


def check_heads(target: str, draft: str) -> None:
    """Refuse a head as a target, and a target that the head cannot draft for, before anything is loaded.

    A folder may hold the head's own target, which shows when it is loaded. Names of models pass.
    """
    heads = bundled_heads()
    if target in heads:
        raise InputError(say("is_head", head=target, target=heads[target].target))
    if draft in heads and target != heads[draft].target and not find_local(target):
        raise InputError(wrong_target(draft, heads[draft].target, target))


def wrong_target(name: str, of: str, target: str) -> str:
    return say("other_weights" if target == of else "other_target", head=name, own=of, target=target)


BYTES_OF = {"float32": 4, "bfloat16": 2}


def weight_bytes(parameters: int, dtype: str) -> int:
    """Memory that they take; "auto" counts as float32, because it may choose that."""
    return parameters * BYTES_OF.get(dtype, 4)


def count_parameters(weights: Path) -> int:
    """Parameters stored in a safetensors file, from its header alone (8 bytes of length, then JSON): no ids."""
    with weights.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return sum(prod(entry["shape"]) for name, entry in header.items() if name not in ("__metadata__", VOCABULARY))


@cache
def weights_hash(model: Path) -> str:
    """First 16 hex digits of the SHA-256 of a GGUF file, or of a folder's safetensors files by their names."""
    digest = hashlib.sha256()
    for file in [model] if model.is_file() else sorted(model.glob("*.safetensors")):
        with file.open("rb") as content:
            while block := content.read(2**20):
                digest.update(block)
    return digest.hexdigest()[:16]


def changed_weights(trace: Trace) -> list[str]:
    """A sentence for each model of the trace whose weights here differ from those it was recorded with."""
    if trace.imported:
        return []  # another system wrote it and reports no hash
    recorded = [(trace.target.name, trace.target.weights_hash)]
    if trace.drafter and trace.drafter.kind in (*kinds_that("model"), *kinds_that("head")):
        recorded.append((trace.drafter.name, trace.drafter.weights_hash or ""))
    return [
        say("weights_differ", name=name)
        for name, digest in recorded
        if name in (*bundled_names(), *bundled_heads()) and weights_hash(head_folder(name)) != digest
    ]


# Pairs to try, and the models of them that must be downloaded.

CARDS_MACHINE = "an AMD EPYC, 2 cores"  # where benchmarks/methods.py measured what their cards say

Lesson = Literal["pays", "no better", "does not pay", "open"]
RunsOn = Literal["anywhere", "4 GB", "8 GB", "GPU"]


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    source: str  # a URL, a paper, or a file of this project


@dataclass(frozen=True, slots=True)
class Pair:
    target: str
    draft: str
    lesson: Lesson  # open: it depends on the machine, and visitors can find out
    place: RunsOn  # the smallest machine that can run it
    statements: tuple[Statement, ...]

    @property
    def basis(self) -> str:
        sources = " ".join(statement.source for statement in self.statements)
        if "assets/models/" in sources:
            return say("measured_on", machine=CARDS_MACHINE)
        return say("modelled") if LEVIATHAN in sources else say("expected")

    @property
    def models(self) -> tuple[ModelEntry, ModelEntry]:
        return known_models()[self.target], known_models()[self.draft]

    @property
    def parameters(self) -> int:
        return sum(model.parameters for model in self.models)


LEVIATHAN = "Leviathan et al. 2023, arXiv:2211.17192"


@dataclass(frozen=True, slots=True)
class Catalogue:
    models: tuple[ModelEntry, ...]
    pairs: tuple[Pair, ...]


catalogue_texts = AppTexts("tables/pairs", Catalogue)
_ENGLISH = catalogue_texts.read().content
HUB_MODELS, PAIRS = _ENGLISH.models, _ENGLISH.pairs


def known_models() -> dict[str, ModelEntry]:
    return {model.name: model for model in (*bundled_models(), *HUB_MODELS)}


def known_names() -> list[str]:
    return list(known_models())
