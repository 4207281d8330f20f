"""The family of drafting methods on one screen: what each draft knows, what it costs, who uses it, and its run."""

from dataclasses import dataclass

from specviz.core.texts import AppTexts, NonEmptyText


@dataclass(frozen=True, slots=True)
class Member:
    title: NonEmptyText
    knows: NonEmptyText  # what the draft sees
    costs: NonEmptyText
    used: NonEmptyText
    lossless: NonEmptyText
    name: str = ""  # of its recorded run, in links; empty: it is shown on the page of the proof
    lossy: bool = False  # the text is another one; for the program, `lossless` is for readers
    measured: str = ""  # its name in the comparison of methods; empty: not measured there
    url: str = ""  # the paper of a method that is not run here


@dataclass(frozen=True, slots=True)
class Family:
    columns: tuple[NonEmptyText, ...]  # the table's head
    methods: tuple[Member, ...]


family = AppTexts("family", Family)
