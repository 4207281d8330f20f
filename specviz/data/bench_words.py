"""What a bench of two servers measures, each word with its definition."""

from dataclasses import dataclass

from specviz.core.texts import AppTexts, NonEmptyText


@dataclass(frozen=True, slots=True)
class BenchWord:
    name: NonEmptyText
    means: NonEmptyText


bench_words = AppTexts("bench_words", tuple[BenchWord, ...])
