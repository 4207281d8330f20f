"""The texts as files, the glossary and the tour: what the check finds, what uses them, that they say what runs show."""

import ast
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from specviz.cli.main import main
from specviz.core.files import TEXTS
from specviz.core.metrics import count
from specviz.core.replay import replay
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences, TextError, Voices, figures_in, fill, join_choices, read_texts
from specviz.data.lessons import text_check
from specviz.data.lessons.facts import figure_texts
from specviz.data.lessons.glossary import GlossaryWord, explained, glossary, words_by_form
from specviz.data.lessons.story import LAST_ROUNDS, Beat, steps, tour_of
from specviz.data.lessons.text_check import CHECKS, text_problems
from specviz.data.measured.first_run import first_draft_guesses, first_trace
from specviz.data.texts import pages
from specviz.player.data import replayable, stage_data
from specviz.ui.learn.learn_state import LearnState, go_to_place
from specviz.ui.learn.vocabulary import entry
from specviz.ui.watch.watch_state import TourPlace
from tests.support.html import Html
from tests.support.known import known
from tests.unit.test_lessons import PLAIN
from tests.unit.test_structure import FILES, ROOT, tree_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TEXTS, tmp_path / "texts"))


def change(file: Path, old: str, new: str) -> int:
    """Replace the first place of a text; returns its line."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_nothing_is_wrong_with_the_texts_and_each_file_is_checked(folder: Path) -> None:
    assert text_problems() == []
    files = [*folder.glob("*.yaml"), *folder.glob("sentences/*.yaml")]  # tables and lesson plans are read elsewhere
    assert len(files) > len(CHECKS)
    for file in files:
        file.write_text("")
    assert sorted(text_problems(folder)) == sorted(f"{file.name} is empty." for file in files)


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("story", "{mean_ms} ms on", "{men_ms} ms on", "there is no figure {men_ms} here: {mean_ms}?"),
        ("story", "{mean_ms} ms on", "31 ms on", "a figure is typed here: name it, as in {accepted}."),
        ("story", "{mean_ms} ms on", "{mean_ms ms on", "a brace is open or closed alone"),
        ("story", "trace: round", "trace: rounds", "“rounds” is no run: there are round, pays"),
        ("story", "- name: idea", "- name: slow", "“slow” is there twice."),
        ("story", "focus: timeline", "focus: time line", "“focus”: Input should be 'timeline', 'diagram'"),
        ("story", "asks_at: [end, judge]", "asks_at: [end]", "“1” is missing."),
        ("story", "plain: One word at a time\n", "plein: One word at a time\n", "“plein” is not known here."),
        ("story", "  trace: round\n", "", "“trace” is missing."),
        ("story", "plain: One word at a time\n", "plain: 1\n", "write a text here; put a number, true and false"),
        ("story", "right: true", "right: false", "“question”: exactly one option has “right: true”."),
        ("story", "plain: One word at a time\n", "plain: One: word\n", "this is not YAML"),
        ("questions", "page: same_quality", "page: prove", "“prove” is no page"),
        ("questions", "draft: lookup", "drafts: lookup", "“drafts” is no setting"),
        ("glossary", "lesson: idea", "lesson: ideas", "“ideas” is no step of the story"),
        ("glossary", "also: [draft models]", "also: [target model]", "“target model” is there twice."),
        ("family", "measured: wren-eagle", "measured: wren-egale", "“wren-egale” is no method that was measured."),
        ("tour", "  - page: race", "  - page: races", "“races” is no page"),
        ("workloads", "      object:", "      regex: a\n      object:", "the form is either “regex” or “object”"),
        ("workloads", "- name: code", "- name: story", "“story” is there twice."),
        ("roofline", "machine: MI300X", "machine: MI30X", "“MI30X” is no machine"),
        ("pages", "watch: Watch", "watch: Wa{tch", "a brace is alone."),
        ("sentences/worksheet", "{needed!p}", "{needed!q}", "a figure is not written !q"),
    ],
)
def test_what_is_wrong_is_said_with_its_file_and_line(folder: Path, name: str, old: str, new: str, says: str) -> None:
    file = folder / f"{name}.yaml"
    line = change(file, old, new)
    problems = text_problems(folder)
    found = [re.match(rf"{file.name}, line (\d+): ", problem) for problem in problems if says in problem]
    assert found, problems
    assert found[0]
    assert abs(int(found[0][1]) - line) <= 18  # the text itself, or what it is a part of


def test_yes_and_a_date_are_texts_and_one_text_can_be_both_voices(tmp_path: Path) -> None:
    file = tmp_path / "texts.yaml"
    file.write_text("- no\n- 2026-01-01\n- {technical: on, plain: off}\n")
    read = read_texts(file, tuple[Voices, ...]).content  # type: ignore[arg-type]
    assert [(said.technical, said.plain) for said in read] == [("no", "no"), ("2026-01-01",) * 2, ("on", "off")]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"- \x00", b"a: &b [*b]", b"!!python/name:os.system x", b"- [", None])
def test_a_file_that_cannot_be_read_gives_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "story.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(TextError, match=r"^story\.yaml") as refused:
        read_texts(file, tuple[Voices, ...])  # type: ignore[arg-type]
    assert len(refused.value.problems) == 1


def test_the_command_line_checks_the_texts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lesson", "check"]) == 0
    line = change(folder / "quiz.yaml", "right: true", "right: no")
    monkeypatch.setattr(text_check.text_problems, "__defaults__", (folder,))
    assert main(["lesson", "check"]) == 2
    assert capsys.readouterr().err.startswith(f"quiz.yaml, line {line}: ")


CODE = {file.relative_to(ROOT).as_posix(): tree_of(file) for file in FILES}


def calls_of(function: str, trees: Iterable[ast.Module]) -> Iterator[ast.Call]:
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Call) and re.sub(r"^(plot|parts)\.", "", ast.unparse(node.func)) == function:
            yield node


def texts_in(node: ast.AST) -> Iterator[str]:
    yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def given_by(function: str, trees: Iterable[ast.Module]) -> dict[str, set[str | None]]:
    """The names of the arguments that the calls of this function have, by each text that is its first one."""
    given: dict[str, set[str | None]] = {}
    for call in calls_of(function, trees):
        for name in texts_in(call.args[0]):
            given.setdefault(name, set()).update(keyword.arg for keyword in call.keywords)
    return given


def named_in(*texts: str) -> set[str]:
    """The names in braces, without what follows a dot."""
    return {name.split(".")[0] for text in texts for name in figures_in(text)}


# modules of specviz/systems use two of them, and core/verdict.py too
OWN_NAMES = {"counters": "say_count", "records": "say_record", "result": "say_result"}


def test_modules_say_every_sentence_of_their_file_with_the_figures_that_it_names() -> None:
    said: dict[str, list[ast.Module]] = {}
    for tree in CODE.values():
        for name in given_by("Sentences", [tree]):
            said.setdefault(name, []).append(tree)
    assert {file.stem for file in (TEXTS / "sentences").iterdir()} | {"result"} == set(said)
    for name, trees in said.items():
        texts = Sentences(name, "browser" if name == "result" else "sentences").texts()
        wanted = {key: named_in(text) for key, text in texts.items()}
        function = OWN_NAMES.get(name)
        assert wanted == (given_by(function, CODE.values()) if function else given_by("say", trees)), name
    lessons = [CODE[f"specviz/data/lessons/{name}.py"] for name in ("facts", "questions")]
    parts = {name: named_in(*texts.values()) for name, texts in figure_texts().items()}
    assert parts == given_by("written", lessons)


def test_shares_and_words_for_several_are_written_as_a_reader_expects() -> None:
    text = "{share!p} of {count} {count:prompt|prompts}, {times:.2f}×"
    assert fill(text, {"share": 0.456, "count": 1, "times": 1.5}) == "46 % of 1 prompt, 1.50×"
    assert fill(text, {"share": 1, "count": 2, "times": 2}) == "100 % of 2 prompts, 2.00×"
    assert [join_choices([2]), join_choices([2, 3]), join_choices([2, 3, 4])] == ["2", "2 or 3", "2, 3 or 4"]


def asked_of_pages() -> Iterator[tuple[str, str]]:
    """The parts and the names that the code has as constants; a name that is put together is a pattern."""
    for tree in CODE.values():
        says = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "SAYS"]
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "SAYS":
                yield ast.literal_eval(says[0].value.args[0]), pattern(node.slice)  # type: ignore[attr-defined]


def pattern(name: ast.expr) -> str:
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    if isinstance(name, ast.JoinedStr):
        return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in name.values)
    return ".+"


def test_each_text_that_a_page_asks_for_is_there() -> None:
    asked = set(asked_of_pages())
    assert len(asked) > 90
    for part, name in asked:
        assert any(re.fullmatch(name, text) for text in pages()[part]), f"no text {name} in {part}"


@pytest.mark.parametrize("word", glossary(), ids=lambda word: word.id)
def test_a_word_has_a_short_explanation_a_picture_of_a_recorded_run_and_a_link_to_its_step(word: GlossaryWord) -> None:
    for said in (word.says.technical, word.says.plain):
        assert said.endswith(".")
        assert len(said.split()) <= 30
    assert PLAIN.fullmatch(word.says.plain), word.says.plain
    picture = entry(word, "technical")["picture"]
    assert bool(picture) == bool(word.picture)
    if picture and picture["kind"] == "times":
        assert picture["alt"]
        assert picture["bars"]
        assert all(ms > 0 for _, ms, _ in picture["bars"])
    elif picture:
        assert picture["alt"]
        assert picture["chips"]
        assert not word.marked or picture["ringed"], f"nothing in the picture is {word.marked}"
    address = urlsplit(entry(word, "plain")["link"])
    assert address.path == "./learn"
    state = LearnState()
    assert go_to_place(state, {name: values[0] for name, values in parse_qs(address.query).items()}) == []
    assert (steps()[state.lesson].name, state.words) == (word.lesson, "plain")


def test_a_word_explains_itself_once_in_its_voice_and_the_text_stays_the_same() -> None:
    text = "Rejected once, rejected twice; the acceptance rate is no draft-length-model and no <b>round</b>."
    reader = Html(explained(text, "here"))
    expected = ["tip-here-rejected", "tip-here-acceptance-rate", "tip-here-round"]
    assert reader.values_of("aria-describedby") == reader.values_of("id") == expected
    assert reader.tags == {"button", "span"}
    assert "<b>" in reader.text
    for word in ("rejected", "acceptance rate", "round"):
        assert reader.text.count(words_by_form()[word].says.technical) == 1
    assert Html(explained("an own token here", "k")).values_of("aria-describedby") == ["tip-k-own-token"]
    assert Html(explained("the target’s own token, its own tokens", "k")).values_of("aria-describedby") == [
        "tip-k-token"
    ]
    assert explained("a < b & c", "k") == "a &lt; b &amp; c"
    assert "intern" in explained("the draft model", "k", "plain")


SHORT = 330  # characters: a card that a phone shows above the tokens
TRACE = known(first_trace())
TOUR = known(tour_of(TRACE))


def beat(until: str) -> Beat:
    (found,) = [one for one in TOUR.beats if one.until == until]
    return found


def test_a_place_in_the_tour_is_remembered_and_a_wrong_one_is_not() -> None:
    place = TourPlace()
    place.begin(1)
    place.move(3, beats=6)
    assert (place.at, place.open, place.left) == (3, True, False)
    place.move(0, beats=6)
    assert (place.at, place.open, place.left) == (3, False, True)
    place.begin(place.at)
    place.move(7, beats=6)  # the end is a place too: its card is on screen until the visitor closes it
    assert (place.at, place.open, place.started) == (7, True, 2)
    place.move(0, beats=6)
    assert (place.at, place.open, place.left) == (0, False, True)


def test_the_tour_says_what_the_run_shows_and_ends_with_its_counts() -> None:
    judge, last = TOUR.beats[2], TOUR.beats[-1]
    round = TRACE.rounds[judge.round]
    accepted, rejected = ([t.text for t in round.drafted if t.status == status] for status in ("accepted", "rejected"))
    assert f"“{''.join(accepted).strip()}” ✓" in judge.says
    assert f"“{rejected[0].strip()}” ✗" in judge.says
    assert f"“{round.emitted.text.strip()}” ↻" in judge.says
    assert all(len(one.says + one.asks) <= SHORT for one in TOUR.beats)
    assert len(TRACE.rounds) - last.round == LAST_ROUNDS
    assert f"wrote {len(TRACE.output.token_ids)} tokens in {len(TRACE.rounds)} passes" in TOUR.end


def test_no_round_between_has_all_guesses_accepted_before_the_one_that_was_asked_for() -> None:
    """The visitor looks for the first such round; the next beat stands there."""
    start, found = beat("full").round, beat("length").round
    full = [round.index for round in TRACE.rounds if round.drafted and round.accepted == len(round.drafted)]
    assert found == min(index for index in full if index > start)
    assert found - start <= 5  # presses of a button
    assert len(TRACE.rounds[found].drafted) == TRACE.settings.draft_length
    assert TRACE.rounds[found].emitted.kind == "bonus"


def test_a_longer_draft_saves_passes_and_wastes_guesses_as_the_tour_says() -> None:
    said = beat("length").did["done"]
    stated = [int(number) for number in re.findall(r"instead of (\d+)", said)]
    wasted = sum(round.rejected + round.discarded for round in TRACE.rounds)
    assert stated == [len(TRACE.rounds), wasted]
    guesses = known(first_draft_guesses())
    assert replayable(TRACE, guesses)
    assert guesses.exact
    for length in range(beat("length").least, MAX_DRAFT_LENGTH + 1):
        counts = count(replay(guesses, length, TRACE.settings.max_new_tokens))
        assert counts.rounds < len(TRACE.rounds)
        assert counts.rejected + counts.discarded > wasted


def test_a_run_that_does_not_show_it_has_no_tour_and_none_is_sent_unasked() -> None:
    assert tour_of(replace(TRACE, rounds=TRACE.rounds[:4])) is None
    assert tour_of(replace(TRACE, rounds=TRACE.rounds[5:6])) is None
    assert "tour" not in stage_data(TRACE, run_id="first", source="recorded", running=False)
    assert TRACE.rounds[0].accepted
