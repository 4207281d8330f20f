"""The words of the exercises of `specviz lab` (assets/texts/lab.yaml)."""

from dataclasses import dataclass

from specviz.core.texts import AppTexts, NonEmptyText


@dataclass(frozen=True, slots=True)
class LabWords:
    title: NonEmptyText
    hint: NonEmptyText
    kinds: dict[str, NonEmptyText]  # what is said of each usual mistake


lab_words = AppTexts("lab", dict[str, LabWords])  # by the exercise
