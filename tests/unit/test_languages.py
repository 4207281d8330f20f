"""Languages: gettext files beside the English texts, what falls back to English, figures, and what the check says."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from scripts.check_texts import text_problems
from specviz.cli.main import main
from specviz.core.files import TEXTS
from specviz.core.languages import current_language, find_language, languages, set_language
from specviz.core.numbers import percent
from specviz.core.texts import fill, join_choices
from specviz.data.lessons import plans
from specviz.data.texts import pages
from specviz.measure.proof.rows import rule_texts

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
    set_language("en")


def translate(folder: Path, name: str, *entries: tuple[str, str, str], flags: tuple[str, ...] = ()) -> Path:
    """Write a file with (place, English, translation)."""
    path = folder / CODE / f"{name}.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog = Catalog("pt")
    for place, text, translated in entries:
        catalog.add(text, translated, context=place, flags=flags)
    with path.open("wb") as file:
        write_po(file, catalog)
    return path


def titles(folder: Path) -> dict[str, str]:
    return pages.read(folder, CODE).content["titles"]


def test_a_text_is_in_the_language_where_it_is_there_and_in_english_where_not(folder: Path) -> None:
    translate(folder, "pages", ("titles/watch", "Watch", "Ver"), ("titles/learn", "Learn", ""))
    assert titles(folder) | {"watch": "Watch"} == pages.read(folder).content["titles"]
    assert titles(folder)["watch"] == "Ver"


@pytest.mark.parametrize(("said", "shown"), [("{c} i {b}", "{c} i {b}"), ("{c}", "{c}"), ("{cc}", None), ("{c", None)])
def test_a_translation_with_a_figure_that_its_page_has_not_is_english(folder: Path, said: str, shown: str) -> None:
    """Found: one wrong brace, and who asked for that language saw an error and no page."""
    (folder / "pages.yaml").write_text('a:\n  b: "{b} of {c}"\n', encoding="utf-8")
    translate(folder, "pages", ("a/b", "{b} of {c}", said))
    assert pages.read(folder, CODE).content["a"]["b"] == (shown or "{b} of {c}")


def test_a_browser_or_a_link_names_a_language_loosely() -> None:
    for wanted in (["xx", "en-GB"], ["EN_us"]):
        assert find_language(wanted) == "en"
    assert find_language(["", "../../etc", "x" * 5000, "\0"]) is None


def test_words_are_counted_as_the_language_counts() -> None:
    for code, words, said in (
        ("en", "word|words", ["words", "word", "words", "words"]),
        ("zh-Hans", "词|词", ["词"] * 4),
        ("fr", "mot|mots", ["mot", "mot", "mots", "mots"]),  # none is one
        ("pl", "słowo|słowa|słów", ["słów", "słowo", "słowa", "słów"]),  # one, few, many
    ):
        set_language(code)
        assert [fill(f"{{n:{words}}}", {"n": n}) for n in (0, 1, 2, 5)] == said
    assert fill("{n:word|words}", {"n": 5}) == "words", "an English text in Polish"
    assert fill("{n:词|词}", {"n": "1,024"}) == "词", "a figure that is a text"


def test_a_list_and_a_share_are_written_as_the_language_writes_them() -> None:
    said = []
    for code in ("en", "es", "zh-Hans"):
        set_language(code)
        said.append((join_choices([1, 2, 3]), join_choices(["a", "b"], "and"), percent(0.69)))
    assert said == [("1, 2 or 3", "a and b", "69 %"), ("1, 2 o 3", "a y b", "69\xa0%"), ("1、2或3", "a和b", "69%")]


def test_a_figure_that_is_missing_or_written_otherwise_is_named(folder: Path) -> None:
    (folder / "pages.yaml").write_text('a:\n  b: "{share!p} of {count} {count:token|tokens}"\n')
    translate(folder, "pages", ("a/b", "{share!p} of {count} {count:token|tokens}", "{share} de {count:x|y}"))
    languages.cache_clear()
    wrong = [each for each in text_problems(folder) if each.startswith("pt/pages.po, a/b: ")]
    assert sorted(re.findall(r"\{.*?\}", " ".join(wrong))) == ["{share!p}", "{share}"], "one missing, one too many"
    languages.cache_clear()


def test_a_page_is_exported_in_a_language_and_the_next_command_is_english_again(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    run = str(ROOT / "assets" / "traces" / "first.json")
    assert main(["export", run, "-o", str(page), "--lang", "es"]) == 0
    assert '<html lang="es">' in page.read_text(encoding="utf-8")
    assert current_language() == "en"
    assert main(["export", run, "-o", str(page), "--lang", "../es"]) == 2


def test_tables_and_ready_lesson_plans_are_in_the_language_of_who_reads_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = "Accept all in the target’s top {TOP_ACCEPTED}"
    translate(folder, "tables/rules", ("top-k/title", english, "Os {TOP_ACCEPTED} primeiros"))
    titles = [rule.title for rule in rule_texts.read(folder, CODE).content]
    assert titles[:1] + titles[4:5] == ["The real rule", "Os 10 primeiros"]
    translate(folder, "lessons/ten-minutes", ("title", "Ten minutes", "Dez minutos"))
    monkeypatch.setattr(plans, "TEXTS", folder)
    assert plans.all_plans.__wrapped__()[0].title == "Ten minutes"  # type: ignore[attr-defined]
    set_language(CODE)
    ready, *_ = plans.all_plans.__wrapped__()  # type: ignore[attr-defined]
    assert (ready.title, ready.moments[0].title) == ("Dez minutos", "The draft guesses")


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("en", "1.41× 0.12 2.67 0.50 +0.25 1,024 12,345 81% 81 % 1e-05 0.7 4096 -1,024.5"),
        ("es", "1,41× 0,12 2,67 0,50 +0,25 1024 12.345 81\xa0% 81\xa0% 1e-05 0,7 4096 -1024,5"),
        ("zh-Hans", "1.41× 0.12 2.67 0.50 +0.25 1024 12,345 81% 81% 1e-05 0.7 4096 -1024.5"),
        ("pl", "1,41× 0,12 2,67 0,50 +0,25 1024 12\xa0345 81% 81% 1e-05 0,7 4096 -1024,5"),
        ("fr", "1,41× 0,12 2,67 0,50 +0,25 1024 12\u202f345 81\xa0% 81\xa0% 1e-05 0,7 4096 -1024,5"),
    ],
)
def test_figures_are_written_as_the_language_has_them(code: str, written: str) -> None:
    set_language(code)
    """Rounded as in English, half to even and as a binary fraction: a library would do it in its own way."""
    text = "{a:.2f}× {y:.2f} {z:.2f} {b:.2f} {c:+.2f} {d:,} {e:,} {f:.0%} {f!p} {g:.0e} {h} {i} {j:,.1f}"
    figures = (1.41, 0.5, 0.25, 1024, 12345, 0.81, 1e-5, 0.7, 4096, -1024.5, 0.125, 2.675)
    assert fill(text, dict(zip("abcdefghijyz", figures, strict=True))) == written


TYPED = re.compile(r'(?<=[\d}"])(?<!95) %["`]')  # 95 % is a name of columns


def test_no_percent_sign_is_typed_after_a_figure() -> None:
    """English and Spanish write a space before it, Polish and Chinese none."""
    browser = [file for file in (ROOT / "assets" / "browser").rglob("*.ts*") if "dist" not in file.parts]
    sources = [file for file in [*(ROOT / "specviz").rglob("*.py"), *browser] if file.stem != "numbers"]
    assert len(browser) > 50
    lines = [(file.name, line) for file in sources for line in file.read_text(encoding="utf-8").splitlines()]
    assert [each for each in lines if TYPED.search(each[1].replace('replaceAll(" %"', ""))] == []


def test_a_figure_that_is_a_text_stays_as_it_is_and_choices_are_figures() -> None:
    set_language("es")
    assert fill("{version} {name}", {"version": "2.13.0", "name": "a.b"}) == "2.13.0 a.b"
    assert join_choices([0, 0.7, "x.y"], "and").startswith("0, 0,7")
