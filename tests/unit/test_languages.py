"""Languages: gettext files beside the English texts, what falls back to English, figures, and what the check says.

What is said of a job is in the language of who asked, whoever's thread says it.
"""

import re
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from unittest.mock import Mock

import pytest
import streamlit as st
import yaml
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from scripts.check_texts import CHECKS, text_problems
from specviz.cli.main import main
from specviz.core import texts
from specviz.core.errors import InputError
from specviz.core.files import TEXTS
from specviz.core.languages import ENGLISH, Entry, current_language, find_language, languages, set_language
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.core.texts import fill, join_choices, places
from specviz.core.trace import Output
from specviz.data.lessons import plans
from specviz.data.texts import pages
from specviz.measure.proof.rows import rule_texts
from specviz.service import protocol as wire
from specviz.service.bench import Bench
from specviz.service.job import Job, JobView
from specviz.service.service import EngineService, say
from specviz.ui.shared.components import component

ROOT = Path(__file__).parents[2]
CODE = "pt"  # no language of the app: nothing of these tests changes with a translation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Today's English texts alone."""
    copied = Path(shutil.copytree(TEXTS, tmp_path / "texts"))
    for code in languages(TEXTS):
        shutil.rmtree(copied / code, ignore_errors=True)
    return copied


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    set_language(ENGLISH)


def translate(folder: Path, name: str, *entries: tuple[str, str, str]) -> None:
    """Write a file with (place, English, translation)."""
    path, catalog = folder / CODE / f"{name}.po", Catalog(CODE)
    path.parent.mkdir(parents=True, exist_ok=True)
    for place, text, translated in entries:
        catalog.add(text, translated, context=place)
    with path.open("wb") as file:
        write_po(file, catalog)


def test_nothing_is_wrong_with_the_texts_and_each_file_is_checked(tmp_path: Path) -> None:
    assert text_problems() == []
    folder = Path(shutil.copytree(TEXTS, tmp_path / "texts"))
    files = [*folder.glob("*.yaml"), *folder.glob("sentences/*.yaml")]  # tables and lesson plans are read elsewhere
    assert len(files) > len(CHECKS)
    for file in files:
        file.write_text("")
    assert sorted(text_problems(folder)) == sorted(f"{file.name} is empty." for file in files)


def test_a_text_is_in_the_language_where_it_is_there_and_in_english_where_not(folder: Path) -> None:
    translate(folder, "pages", ("titles/watch", "Watch", "Ver"), ("titles/learn", "Learn", ""))
    titles = pages.read(folder, CODE).content["titles"]
    assert (titles["watch"], titles | {"watch": "Watch"}) == ("Ver", pages.read(folder).content["titles"])


@pytest.mark.parametrize(("said", "shown"), [("{c} i {b}", "{c} i {b}"), ("{c}", "{c}"), ("{cc}", None), ("{c", None)])
def test_a_translation_with_a_figure_that_its_page_has_not_is_english(folder: Path, said: str, shown: str) -> None:
    """Found: one wrong brace, and who asked for that language saw an error and no page."""
    (folder / "pages.yaml").write_text('a:\n  b: "{b} of {c}"\n', encoding="utf-8")
    translate(folder, "pages", ("a/b", "{b} of {c}", said))
    assert pages.read(folder, CODE).content["a"]["b"] == (shown or "{b} of {c}")


def test_a_figure_that_is_missing_or_written_otherwise_is_named(folder: Path) -> None:
    (folder / "pages.yaml").write_text('a:\n  b: "{share!p} of {count} {count:token|tokens}"\n')
    translate(folder, "pages", ("a/b", "{share!p} of {count} {count:token|tokens}", "{share} de {count:x|y}"))
    languages.cache_clear()
    wrong = [each for each in text_problems(folder) if each.startswith("pt/pages.po, a/b: ")]
    assert sorted(re.findall(r"\{.*?\}", " ".join(wrong))) == ["{share!p}", "{share}"], "one missing, one too many"
    languages.cache_clear()


def test_tables_and_ready_lesson_plans_are_in_the_language_of_who_reads_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = "Accept all in the target’s top {TOP_ACCEPTED}"
    translate(folder, "tables/rules", ("top-k/title", english, "Os {TOP_ACCEPTED} primeiros"))
    titles = [rule.title for rule in rule_texts.read(folder, CODE).content]
    assert (titles[0], titles[4]) == ("The real rule", "Os 10 primeiros")
    translate(folder, "lessons/ten-minutes", ("title", "Ten minutes", "Dez minutos"))
    monkeypatch.setattr(plans, "TEXTS", folder)
    for code, title in ((ENGLISH, "Ten minutes"), (CODE, "Dez minutos")):
        set_language(code)
        ready, *_ = plans.all_plans.__wrapped__()  # type: ignore[attr-defined]
        assert (ready.title, ready.moments[0].title) == (title, "The draft guesses")


def test_a_browser_or_a_link_names_a_language_loosely() -> None:
    for wanted in (["xx", "en-GB"], ["EN_us"]):
        assert find_language(wanted) == "en"
    assert find_language(["", "../../etc", "x" * 5000, "\0"]) is None


def test_a_page_is_exported_in_a_language_and_the_next_command_is_english_again(tmp_path: Path) -> None:
    page, run = tmp_path / "run.html", str(ROOT / "assets/traces/first.json")
    assert main(["export", run, "-o", str(page), "--lang", "es"]) == 0
    assert '<html lang="es">' in page.read_text(encoding="utf-8")
    assert current_language() == "en"
    assert main(["export", run, "-o", str(page), "--lang", "../es"]) == 2


# ---- figures


def test_words_are_counted_as_the_language_counts() -> None:
    for code, words, said in (
        ("en", "word|words", ["words", "word", "words", "words"]),
        ("zh-Hans", "词|词", ["词"] * 4),
        ("fr", "mot|mots", ["mot", "mot", "mots", "mots"]),  # 0 as 1
        ("pl", "słowo|słowa|słów", ["słów", "słowo", "słowa", "słów"]),  # one, few, many
    ):
        set_language(code)
        assert [fill(f"{{n:{words}}}", {"n": n}) for n in (0, 1, 2, 5)] == said
    assert fill("{n:word|words}", {"n": 5}) == "words", "an English text in Polish"
    assert fill("{n:词|词}", {"n": "1,024"}) == "词", "a figure that is a text"


@pytest.mark.parametrize(
    ("code", "written", "listed"),
    [
        ("en", "1.41× 0.12 2.67 0.50 +0.25 1,024 12,345 81% 81 % 1e-05 0.7 4096 -1,024.5", "0, 0.7 or x.y; a and b"),
        ("es", "1,41× 0,12 2,67 0,50 +0,25 1024 12.345 81\xa0% 81\xa0% 1e-05 0,7 4096 -1024,5", "0, 0,7 o x.y; a y b"),
        ("zh-Hans", "1.41× 0.12 2.67 0.50 +0.25 1024 12,345 81% 81% 1e-05 0.7 4096 -1024.5", "0、0.7或x.y; a和b"),
        ("pl", "1,41× 0,12 2,67 0,50 +0,25 1024 12\xa0345 81% 81% 1e-05 0,7 4096 -1024,5", "0, 0,7 lub x.y; a i b"),
        (
            "fr",
            "1,41× 0,12 2,67 0,50 +0,25 1024 12\u202f345 81\xa0% 81\xa0% 1e-05 0,7 4096 -1024,5",
            "0, 0,7 ou x.y; a et b",
        ),
    ],
)
def test_figures_and_lists_are_written_as_the_language_has_them(code: str, written: str, listed: str) -> None:
    """Rounded as in English, half to even and as a binary fraction: a library would do it in its own way."""
    set_language(code)
    text = "{a:.2f}× {y:.2f} {z:.2f} {b:.2f} {c:+.2f} {d:,} {e:,} {f:.0%} {f!p} {g:.0e} {h} {i} {j:,.1f}"
    figures = (1.41, 0.5, 0.25, 1024, 12345, 0.81, 1e-5, 0.7, 4096, -1024.5, 0.125, 2.675)
    assert fill(text, dict(zip("abcdefghijyz", figures, strict=True))) == written
    assert f"{join_choices([0, 0.7, 'x.y'])}; {join_choices(['a', 'b'], 'and')}" == listed
    assert fill("{version}", {"version": "2.13.0"}) == "2.13.0", "a figure that is a text"


TYPED = re.compile(r'(?<=[\d}"])(?<!95) %["`]')  # 95 % is a name of columns


def test_no_percent_sign_is_typed_after_a_figure() -> None:
    """English and Spanish write a space before it, Polish and Chinese none."""
    browser = [file for file in (ROOT / "assets" / "browser").rglob("*.ts*") if "dist" not in file.parts]
    sources = [file for file in [*(ROOT / "specviz").rglob("*.py"), *browser] if file.stem != "numbers"]
    assert len(browser) > 50
    lines = [(file.name, line) for file in sources for line in file.read_text(encoding="utf-8").splitlines()]
    assert [each for each in lines if TYPED.search(each[1].replace('replaceAll(" %"', ""))] == []


# ---- what is said of a job

ONE, OTHER = "gl", "eu"  # no languages of the app: nothing else reads their texts
REQUEST = RunRequest("Once", DEFAULT_TARGET, DEFAULT_DRAFT)
DIED = "The engine stopped twice while decoding this; run again."


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text has its language before it."""

    def mark(node: yaml.Node | None, _: object) -> None:
        for _, text in places(node):
            text.value = f"{current_language()}: {text.value}"

    monkeypatch.setattr(texts, "translation", lambda folder, name, code: {"": Entry("", "")})
    monkeypatch.setattr(texts, "translate", mark)


def steps(command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
    """Another job has its turn before this one fails."""
    yield wire.RunStarted(command.job)
    yield wire.Rounds(command.job, [], Output([], "", None))
    raise InputError(say("died"))


@pytest.mark.usefixtures("marked")
def test_the_engine_says_why_a_job_failed_in_the_language_of_who_asked() -> None:
    orders, sent = SimpleQueue[wire.JobCommand | wire.Stop](), list[wire.Event]()
    for number, code in enumerate((ONE, OTHER, ENGLISH)):
        orders.put(wire.parse_command(wire.dump_command(wire.Run(number, REQUEST, language=code))))
    bench = Bench(steps, orders, sent.append)
    for _ in range(40):
        bench.work()
        failed = {event.job: event.message for event in sent if isinstance(event, wire.JobFailed)}
        if len(failed) == 3:
            break
    assert failed == {0: f"{ONE}: {DIED}", 1: f"{OTHER}: {DIED}", 2: DIED}


@pytest.mark.usefixtures("marked")
def test_the_servers_threads_speak_the_language_of_a_job() -> None:
    """tests/tiny/test_handlers.py has the engine's."""
    set_language(ONE)
    job = Job(JobView(1), wire.Run(1, REQUEST, language=OTHER))
    fleet = Thread(target=job.fail, args=(lambda: say("died"),))
    fleet.start()
    fleet.join()
    assert (job.view.message, say("died")) == (f"{OTHER}: {DIED}", f"{ONE}: {DIED}")


@pytest.mark.usefixtures("marked")
def test_visitors_of_two_languages_share_no_job_and_each_reads_what_the_service_says() -> None:
    service, jobs = EngineService(), list[int]()  # not started: all jobs wait
    for code in (ONE, ONE, OTHER):
        set_language(code)
        jobs.append(service.submit(f"visitor {len(jobs)}", "run", lambda number: wire.Run(number, REQUEST)))
    assert [service.view(job).place for job in jobs] == [1, 1, 2]
    assert service.view(jobs[0]).message.startswith(f"{OTHER}: The engine is starting")
    set_language(ENGLISH)
    assert service.view(0).message == "This run has expired."


def test_a_component_is_registered_once_in_each_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st.components.v2, "component", made := Mock())
    mount = component("toy", "", (), "components/keep")
    try:
        for language in ("en", "es", "zh-Hans", "es"):
            set_language(language)
            mount({})
    finally:
        set_language(ENGLISH)
    assert [call.args[0] for call in made.call_args_list] == ["toy", "toy_es", "toy_zh_Hans"]
    assert ['"language":"es"' in call.kwargs["js"] for call in made.call_args_list] == [False, True, False]
