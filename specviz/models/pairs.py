"""Pairs to try, and the size of their models, before anything is downloaded or loaded. Never imports torch."""

from dataclasses import dataclass
from typing import Literal

from specviz.models.catalogue import bundled_models

NOT_MEASURED = "not measured here"
CARDS_MACHINE = "an AMD EPYC, 2 cores"  # where the bundled models' cards were measured, see benchmarks/family.py

Lesson = Literal["pays", "no better", "does not pay", "open"]
Place = Literal["anywhere", "4 GB", "8 GB", "GPU"]


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The size of a model, known without its files."""

    name: str  # bundled name or Hub id
    parameters: int  # tied embeddings counted once
    layers: int
    context: int  # most tokens it can read, prompt and output together
    vocabulary: int  # rows of its embedding, padding included
    source: str  # where these numbers come from
    commit: str | None = None  # on the Hub: the only version that is downloaded, whatever is published later

    @property
    def float32_bytes(self) -> int:
        """Memory that its weights take in float32."""
        return 4 * self.parameters

    @property
    def bfloat16_bytes(self) -> int:
        """Memory that its weights take in bfloat16."""
        return 2 * self.parameters


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement about a pair, and its source."""

    text: str
    source: str  # a URL, a paper, a file of this project, or NOT_MEASURED


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and a draft to try together."""

    target: str
    draft: str
    lesson: Lesson  # open: it depends on the machine, and visitors can find out
    place: Place  # the smallest machine that can run it
    statements: tuple[Statement, ...]

    @property
    def basis(self) -> str:
        """Where the lesson is from."""
        sources = " ".join(statement.source for statement in self.statements)
        if "assets/models/" in sources:
            return f"measured on {CARDS_MACHINE}"
        return "modelled" if LEVIATHAN in sources else "expected, not measured"

    @property
    def models(self) -> tuple[KnownModel, KnownModel]:
        """Target and draft."""
        return known_models()[self.target], known_models()[self.draft]

    @property
    def parameters(self) -> int:
        """Parameters of both models."""
        return sum(model.parameters for model in self.models)

    @property
    def float32_bytes(self) -> int:
        """Memory that the weights of both take in float32."""
        return sum(model.float32_bytes for model in self.models)

    @property
    def bfloat16_bytes(self) -> int:
        """Memory that the weights of both take in bfloat16."""
        return sum(model.bfloat16_bytes for model in self.models)


PYTHIA = "https://huggingface.co/EleutherAI/pythia-410m"
COUNTED = "counted from their config.json"
DISTILGPT2 = "https://huggingface.co/distilbert/distilgpt2"
QWEN = "https://huggingface.co/Qwen/Qwen2.5-1.5B"
LEVIATHAN = "Leviathan et al. 2023, arXiv:2211.17192"


def _card(name: str, parameters: int, layers: int, context: int, vocabulary: int, commit: str) -> KnownModel:
    source = f"https://huggingface.co/{name} (config.json and model card)"
    return KnownModel(name, parameters, layers, context, vocabulary, source, commit)


# Parameters are computed from each config.json (a test counts them again); the context is from the model card. Each
# commit is the one that several public projects, which do not depend on each other, name for that model.
HUB_MODELS = (
    _card("EleutherAI/pythia-14m", 14_067_712, 6, 2048, 50304, "cf967c0a9a04383db6f7b1108d86b2962634b4ac"),
    _card("EleutherAI/pythia-70m", 70_426_624, 6, 2048, 50304, "a39f36b100fe8a5377810d56c3f4789b9c53ac42"),
    _card("EleutherAI/pythia-160m", 162_322_944, 12, 2048, 50304, "50f5173d932e8e61f858120bcb800b97af589f46"),
    _card("EleutherAI/pythia-410m", 405_334_016, 24, 2048, 50304, "9879c9b5f8bea9051dcb0e68dff21493d67e9d4f"),
    _card("distilbert/distilgpt2", 81_912_576, 6, 1024, 50257, "2290a62682d06624634c1f46a6ad5be0f47f38aa"),
    _card("openai-community/gpt2", 124_439_808, 12, 1024, 50257, "607a30d783dfa663caf39e06633721c8d4cfcd7e"),
    _card("openai-community/gpt2-medium", 354_823_168, 24, 1024, 50257, "6dcaa7a952f72f9298047fd5137cd6e4f05f41da"),
    _card("openai-community/gpt2-large", 774_030_080, 36, 1024, 50257, "32b71b12589c2f8d625668d2335a01cac3249519"),
    _card("HuggingFaceTB/SmolLM2-135M", 134_515_008, 30, 8192, 49152, "93efa2f097d58c2a74874c7e644dbc9b0cee75a2"),
    _card("HuggingFaceTB/SmolLM2-360M", 361_821_120, 32, 8192, 49152, "f8027fd0eaeea54caa13c31d31b9fdc459c38b49"),
    _card("Qwen/Qwen2.5-0.5B", 494_032_768, 24, 32768, 151936, "060db6499f32faf8b98477b0a26969ef7d8b9987"),
    _card("Qwen/Qwen2.5-1.5B", 1_543_714_304, 28, 32768, 151936, "8faed761d45a263340a0528343f099c05c9a4323"),
)

PAIRS = (
    Pair(
        "wren-base",
        "wren-nano",
        "pays",
        "anywhere",
        (
            Statement(
                "One layer guesses for the whole target: it is often wrong, but so cheap that it pays.",
                "assets/models/wren-nano/README.md",
            ),
        ),
    ),
    Pair(
        "wren-base",
        "wren-mini",
        "pays",
        "anywhere",
        (
            Statement(
                "Right more often than the smallest draft, at a higher cost: better on most text, but not on prose.",
                "assets/models/wren-mini/README.md",
            ),
        ),
    ),
    Pair(
        "wren-base",
        "wren-small",
        "no better",
        "anywhere",
        (
            Statement(
                "It is right most often, but wren-mini gains more: a third of the target's layers is not cheap.",
                "assets/models/wren-small/README.md",
            ),
        ),
    ),
    Pair(
        "wren-mini",
        "wren-small",
        "does not pay",
        "anywhere",
        (
            Statement(
                "The draft is larger than its target: with c at 1 or above, it cannot pay at any acceptance rate.",
                f"{LEVIATHAN}, theorem 3.8",
            ),
        ),
    ),
    Pair(
        "EleutherAI/pythia-410m",
        "EleutherAI/pythia-70m",
        "open",
        "4 GB",
        (
            Statement(
                "Both were trained on the same text in the same order; the draft has a quarter of the layers.", PYTHIA
            ),
            Statement("Expect a cheap draft that agrees on easy words. Try how often.", NOT_MEASURED),
        ),
    ),
    Pair(
        "EleutherAI/pythia-160m",
        "EleutherAI/pythia-14m",
        "open",
        "4 GB",
        (
            Statement("Of the draft's 14 million parameters, 12.9 million are in its token embeddings.", COUNTED),
            Statement("Expect that it knows spelling and little more: cheap guesses, mostly rejected.", NOT_MEASURED),
        ),
    ),
    Pair(
        "openai-community/gpt2",
        "distilbert/distilgpt2",
        "no better",
        "4 GB",
        (
            Statement("The draft was distilled from exactly this target, with half of its layers.", DISTILGPT2),
            Statement(
                "With c near one half, even a per-judgement rate of 0.8 gives a speedup of at most 1.22.",
                f"modelled: {LEVIATHAN}, theorem 3.8",
            ),
        ),
    ),
    Pair(
        "openai-community/gpt2-medium",
        "distilbert/distilgpt2",
        "open",
        "4 GB",
        (
            Statement(
                "The draft was distilled from a smaller version of the target, with a quarter of its layers.",
                DISTILGPT2,
            ),
            Statement("Expect a larger gain than with gpt2, with slightly fewer accepted guesses.", NOT_MEASURED),
        ),
    ),
    Pair(
        "openai-community/gpt2-large",
        "distilbert/distilgpt2",
        "open",
        "8 GB",
        (
            Statement(
                "The same draft again, with a sixth of the target's layers: c is smaller with a larger target.",
                DISTILGPT2,
            ),
            Statement("Expect the largest gain of the three, if the acceptance rate stays high.", NOT_MEASURED),
        ),
    ),
    Pair(
        "HuggingFaceTB/SmolLM2-360M",
        "HuggingFaceTB/SmolLM2-135M",
        "does not pay",
        "4 GB",
        (
            Statement(
                "A good draft from the same authors, but almost as deep as its target: 30 layers of 32.",
                COUNTED,
            ),
            Statement(
                "Expect high acceptance but no gain, especially on a GPU, where the number of layers decides the time.",
                NOT_MEASURED,
            ),
        ),
    ),
    Pair(
        "Qwen/Qwen2.5-1.5B",
        "Qwen/Qwen2.5-0.5B",
        "open",
        "GPU",
        (
            Statement("Two recent models of one family with the same tokenizer, with 24 and 28 layers.", QWEN),
            Statement(
                "Expect high acceptance, but an expensive draft on a GPU, because it has almost as many layers.",
                NOT_MEASURED,
            ),
        ),
    ),
)


def known_models() -> dict[str, KnownModel]:
    """Bundled and catalogued models by name, the bundled ones first."""
    bundled = [
        KnownModel(model.name, model.parameters, model.layers, model.context, model.vocabulary, "its files")
        for model in bundled_models()
    ]
    return {model.name: model for model in (*bundled, *HUB_MODELS)}


def known_names() -> list[str]:
    """Names that the web app accepts: bundled models, then catalogued ones."""
    return list(known_models())
