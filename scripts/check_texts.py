"""Find what is wrong with the app's texts: python -m scripts.check_texts

A missing key, a figure that does not exist, a reference to nothing; then each problem of a translation.
"""

import re
import string
import sys
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from scripts.translating import translations
from specviz.core.drafters import methods
from specviz.core.errors import InputError
from specviz.core.files import TEXTS
from specviz.core.settings import setting_words
from specviz.core.texts import (
    CONVERSIONS,
    AppTexts,
    Facts,
    Sentences,
    TextError,
    TextFile,
    below,
    figures_in,
)
from specviz.data.bench_words import bench_words
from specviz.data.lessons.facts import facts_of, figure_texts
from specviz.data.lessons.family import Family, family
from specviz.data.lessons.glossary import RUN, GlossaryWord, glossary
from specviz.data.lessons.lab_words import lab_words
from specviz.data.lessons.plans import OWN
from specviz.data.lessons.questions import Faq, answer_facts, faq
from specviz.data.lessons.recorded_runs import METHOD_RUNS, RUNS, story_trace
from specviz.data.lessons.roofline import ALSO, COMPUTED, Roofline, published_peaks, roofline
from specviz.data.lessons.story import DONE, StoryStep, Tour, quiz, steps, tour_facts, tour_texts, watch_link
from specviz.data.links.hidden import hidden_texts
from specviz.data.links.page_names import FORMER, PAGES
from specviz.data.measured.first_run import first_trace
from specviz.data.measured.measured_methods import stored_methods
from specviz.data.prompts.workloads import Workload, chat_workload_texts, workload_texts
from specviz.data.texts import browser_texts, pages

TextCheck = Callable[[TextFile[Any]], Iterator[str]]


def text_problems(folder: Path = TEXTS) -> list[str]:
    found = [problem for texts, check in _all_checks(folder) for problem in _problems_of(texts, check, folder)]
    return found or [each for texts in translations(all_texts(folder), folder) for each in texts.problems()]


def texts_missing(folder: Path = TEXTS) -> Iterator[str]:
    """A line for each file of a translation that has not all texts: they are shown in English."""
    for texts in translations(all_texts(folder), folder):
        if missing := texts.missing:
            first = f", the first one at {missing[0]}" if len(missing) < len(texts.english) else ""
            yield f"{texts.code}/{texts.name}.po: {len(missing)} of {len(texts.english)} texts are missing{first}."


def all_texts(folder: Path = TEXTS) -> list[AppTexts[Any]]:
    """What is translated."""
    return [texts for texts, _ in _all_checks(folder)]


def _all_checks(folder: Path) -> list[tuple[AppTexts[Any], TextCheck]]:
    said = [(Sentences(file.stem).texts, _parts) for file in sorted((folder / "sentences").glob("*.yaml"))]
    browser = [(browser_texts(file.stem), _parts) for file in sorted((folder / "browser").glob("*.json"))]
    return [*CHECKS, *said, *browser]


def _problems_of(texts: AppTexts[Any], check: TextCheck, folder: Path) -> list[str]:
    try:
        return list(check(texts.read(folder)))
    except TextError as error:
        return error.problems


def figure_problems(
    file: TextFile[Any], node: yaml.Node, facts: Facts, keys: Collection[str] = (), *, typed: bool = False
) -> Iterator[str]:
    """What is wrong with the figures that the texts below a node name. `typed`: whether a text may hold digits."""
    for text in texts_below(node, keys):
        try:
            names = figures_in(text.value)
        except ValueError:
            yield file.describe(text, "a brace is open or closed alone: a figure is named as in {accepted}.")
            continue
        for name in sorted(names - set(facts)):
            near = get_close_matches(name, facts, n=1)
            yield file.describe(text, f"there is no figure {{{name}}} here{f': {{{near[0]}}}?' if near else '.'}")
        if not typed and re.search(r"\d", re.sub(r"\b(bfloat16|float32)\b|\{\w*\}", "", text.value)):
            yield file.describe(text, "a figure is typed here: name it, as in {accepted}.")


def texts_below(node: yaml.Node, keys: Collection[str] = ()) -> Iterator[yaml.ScalarNode]:
    """Every text in the file below this place, its own keys left out."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from texts_below(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not keys or key.value in keys:
                yield from texts_below(value)


def _story(file: TextFile[tuple[StoryStep, ...]]) -> Iterator[str]:
    seen = set[str]()
    for node, step in zip(file.nodes(), file.content, strict=True):
        yield from _reference(file, node, "trace", "run", step.trace, RUNS)
        yield from _check_once(file, node, step.name, seen)
        if step.trace in RUNS:
            yield from figure_problems(file, node, facts_of(step.trace), ("title", "text", "question"))


def _questions(file: TextFile[Faq]) -> Iterator[str]:
    seen = set[str]()
    yield from figure_problems(file, file.node, {"machine": ""}, ("sources",))
    for node, entry in zip(file.nodes("questions"), file.content.questions, strict=True):
        yield from _check_once(file, node, entry.name, seen)
        yield from _reference(file, node, "trace", "run", entry.trace, RUNS)
        yield from _reference(file, node, "page", "page", entry.page, ("", *PAGES, *FORMER))
        if entry.trace in RUNS:
            for name in entry.link:
                yield from _reference(file, node, "link", "setting", name, watch_link(story_trace(entry.trace)))
            yield from figure_problems(file, node, answer_facts(entry.trace), ("question", "answer", "run_it"))


def _glossary(file: TextFile[tuple[GlossaryWord, ...]]) -> Iterator[str]:
    seen, lessons = set[str](), [step.name for step in steps()]
    for node, word in zip(file.nodes(), file.content, strict=True):
        for form in (word.name, *word.also):
            yield from _check_once(file, node, form.lower(), seen)
        yield from _reference(file, node, "lesson", "step of the story", word.lesson, lessons)
        yield from figure_problems(file, node, facts_of(RUN), ("figure",))
        yield from figure_problems(file, node, {}, ("says",), typed=True)


def _family(file: TextFile[Family]) -> Iterator[str]:
    yield from figure_problems(file, file.node, {}, typed=True)
    stored = stored_methods()
    for node, member in zip(file.nodes("methods"), file.content.methods, strict=True):
        yield from _reference(file, node, "name", "run", member.name, ("", *METHOD_RUNS))
        if stored and member.measured and not any(part.find(member.measured) for part in stored.temperatures):
            yield file.describe(node, f"“{member.measured}” is no method that was measured.")


def _tour(file: TextFile[Tour]) -> Iterator[str]:
    facts = tour_facts(first_trace())
    if facts is None:
        return
    before = {name: figure for name, figure in facts.items() if name not in DONE}
    yield from figure_problems(file, file.node, before, ("end",))
    for node, beat in zip(file.nodes("beats"), file.content.beats, strict=True):
        least = {"least": str(beat.least)} if beat.least else {}
        yield from figure_problems(file, node, before | least, ("says", "asks", "keys"))
        yield from figure_problems(file, node, facts | least, ("did",))
    for node, next_page in zip(file.nodes("next"), file.content.next, strict=True):
        yield from _reference(file, node, "page", "page", next_page.page, (*PAGES, *FORMER))


def _parts(file: TextFile[Any]) -> Iterator[str]:
    """What stands in braces is known to the program only: whether they are closed, and how a figure is written."""
    for text in texts_below(file.node):
        try:
            found = {conversion for *_, conversion in string.Formatter().parse(text.value)} - {None, *CONVERSIONS}
        except ValueError:
            yield file.describe(text, "a brace is alone.")
        else:
            yield from (
                file.describe(text, f"a figure is not written !{name}: there are !p, !h and !w.") for name in found
            )


def _roofline(file: TextFile[Roofline]) -> Iterator[str]:
    yield from figure_problems(file, file.node, {}, ("title", "introduction", "limits", "labels", "batching"))
    yield from figure_problems(file, file.node, dict.fromkeys([*COMPUTED, *ALSO], ""), ("sentences",))
    peaks = published_peaks()
    machines, models = [each.short for each in peaks.machines], [each.name for each in peaks.models]
    for node, asked in zip(file.nodes("questions"), file.content.questions, strict=True):
        yield from figure_problems(file, node, asked.figures, ("question", "answer"))
        for shown in asked.shows:
            yield from _reference(file, node, "shows", "machine", shown.machine, machines)
            yield from _reference(file, node, "shows", "model", shown.model, models)


def _workloads(file: TextFile[tuple[Workload, ...]]) -> Iterator[str]:
    seen = set[str]()
    for node, kind in zip(file.nodes(), file.content, strict=True):
        yield from _check_once(file, node, kind.name, seen)
        for prompt in kind.all_prompts:
            try:
                _ = prompt.grammar
            except InputError as error:
                yield file.describe(node, str(error))


def _reference(file: TextFile[Any], node: Any, key: str, what: str, name: str, known: Collection[str]) -> Iterator[str]:
    if name not in known:
        yield file.describe(
            below(node, key) or node, f"“{name}” is no {what}: there are {', '.join(filter(None, known))}."
        )


def _check_once(file: TextFile[Any], node: Any, name: str, seen: set[str]) -> Iterator[str]:
    if name in seen:
        yield file.describe(node, f"“{name}” is there twice.")
    seen.add(name)


CHECKS: tuple[tuple[AppTexts[Any], TextCheck], ...] = (
    (steps, _story),
    (quiz, lambda file: figure_problems(file, file.node, {})),
    (faq, _questions),
    (glossary, _glossary),
    (family, _family),
    (pages, _parts),
    (hidden_texts, _parts),
    (figure_texts, _parts),
    (tour_texts, _tour),
    (roofline, _roofline),
    (workload_texts, _workloads),
    (chat_workload_texts, _workloads),
    (bench_words, _parts),
    (lab_words, _parts),
    (setting_words, _parts),
    (methods, _parts),
    *((AppTexts(f"tables/{name}", Any), _parts) for name in ("rules", "pieces", "pairs", "file_kinds", "conventions")),
    *((AppTexts(f"lessons/{name}", Any), _parts) for name in OWN),
)


def main() -> None:
    """Print each problem, or what is not translated yet."""
    try:
        if problems := text_problems():
            sys.exit("\n".join(problems))
        print(*texts_missing(), "The texts of the app can be used.", sep="\n")
    except InputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
