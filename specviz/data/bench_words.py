"""What a bench of two servers measures, each word with its definition and with what other tools mean by it."""

from dataclasses import dataclass

from specviz.core.texts import AppTexts, NonEmptyText


@dataclass(frozen=True, slots=True)
class BenchWord:
    name: NonEmptyText
    means: NonEmptyText
    others: str = ""  # what vLLM's bench, GuideLLM, AIPerf and others mean by it; empty: they have none


bench_words = AppTexts("bench_words", tuple[BenchWord, ...])


def definitions() -> list[tuple[str, str]]:
    """Each word, and its definition with what others mean."""
    return [(word.name, f"{word.means} {word.others}".strip()) for word in bench_words()]
