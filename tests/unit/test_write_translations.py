"""What translators are given: files that keep what they wrote, a template, and what the check says."""

from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from scripts import write_translations
from scripts.translating import Translation, texts_to_translate
from scripts.write_translations import template, write
from specviz.core.errors import InputError
from specviz.core.languages import Entries, translation
from specviz.core.texts import AppTexts, Parts

TEXTS = AppTexts("made", Parts)
PLURAL = "{share!p} of {count} {count:token|tokens}"


def english(folder: Path, text: str) -> None:
    (folder / "made.yaml").write_text(f'a:\n  b: "{text}"\n', encoding="utf-8")


def written(folder: Path, code: str = "pl") -> str:
    write(TEXTS, code, folder)
    return (folder / code / "made.po").read_text(encoding="utf-8")


def edited(folder: Path, before: str, after: str, code: str = "pl") -> Entries:
    """As a translator's editor saves it."""
    path = folder / code / "made.po"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    return translation(folder, "made", code)


@pytest.mark.parametrize(
    ("text", "previous"),
    [("Watch", '#| msgid "Watch"'), (r"Watch\nit \"now\"", '#| msgid ""\n#| "Watch\\n"\n#| "it \\"now\\""')],
    ids=["a line", "two lines"],
)
def test_what_a_translator_wrote_stays_and_the_previous_text_is_the_one_that_was_translated(
    tmp_path: Path, text: str, previous: str
) -> None:
    """Also where the English text changes twice before somebody looks at it."""
    english(tmp_path, text)
    first = written(tmp_path)
    assert written(tmp_path) == first
    assert "YEAR-MO-DA" not in first, "msgfmt -c warns of a date that is none"
    edited(tmp_path, "Last-Translator: ", "Last-Translator: Anna <anna@example.org>")
    edited(tmp_path, 'msgctxt "a/b"', '# or: Patrz?\nmsgctxt "a/b"')
    path = tmp_path / "pl/made.po"
    path.write_text(path.read_text(encoding="utf-8").rstrip().removesuffix('""') + '"Oglądaj"\n', encoding="utf-8")
    for changed in ("Look", "See"):
        english(tmp_path, changed)
        again = written(tmp_path)
        assert written(tmp_path) == again
        kept = ("Anna <anna@example.org>", "# or: Patrz?\n", "#, fuzzy\n", 'msgstr "Oglądaj"')
        assert [each for each in kept if each not in again] == []
        [entry] = translation(tmp_path, "made", "pl").values()
        assert entry.previous == text.encode().decode("unicode_escape")
    shown = "".join(line for line in again.splitlines(keepends=True) if line.startswith("#|"))
    [entry] = edited(tmp_path, shown, f'#| msgctxt "a/msgid b"\n{previous}\n').values()  # as gettext's own tools do
    assert entry.previous == text.encode().decode("unicode_escape")


@pytest.mark.parametrize(("code", "forms"), [("pl", "one|few|many"), ("lv", "zero|one|other")])
def test_an_entry_says_which_words_its_language_has_for_a_count(tmp_path: Path, code: str, forms: str) -> None:
    english(tmp_path, PLURAL)
    template(TEXTS, tmp_path, tmp_path / "out")
    with (tmp_path / "out/made.pot").open("rb") as file:
        [message] = [each for each in read_po(file) if each.id]
    assert (message.context, message.id, message.string) == ("a/b", PLURAL, "")
    assert "python-format" not in message.flags
    comment = "#. {share}: per cent; {count}: a text or a whole number"
    assert f"{comment}; {{count:{forms}}}: a word for each of these counts\n" in written(tmp_path, code)
    assert f"{comment}\n" in written(tmp_path, "zh-Hans"), "one word for all counts"


@pytest.mark.parametrize(
    ("code", "said", "wrong"),
    [
        ("pl", "{share!p} z {count} {count:tokenu|tokenów|tokenów}", 0),
        ("pl", "{share!p} z {count} {count:tokenu|tokenów|tokenów|tokena}", 0),  # one more, for fractions
        ("pl", "{share!p} z {count} {count:tokenu|tokenów}", 1),
        ("zh-Hans", "{count} {count:个|个}词元中的 {share!p}", 0),
    ],
)
def test_a_word_for_a_count_that_is_missing_is_named(tmp_path: Path, code: str, said: str, wrong: int) -> None:
    english(tmp_path, PLURAL)
    written(tmp_path, code)
    entries = edited(tmp_path, f'msgid "{PLURAL}"\nmsgstr ""', f'msgid "{PLURAL}"\nmsgstr "{said}"', code)
    made = texts_to_translate(TEXTS.read(tmp_path), "made")
    found = list(Translation(code, "made", made, entries, {}).problems())
    assert len(found) == wrong
    assert all("{count:one|few|many}" in each for each in found)


def test_a_file_that_gettext_cannot_read_is_one_sentence(tmp_path: Path) -> None:
    english(tmp_path, "Watch")
    written(tmp_path)
    (tmp_path / "pl" / "made.po").write_text('"no gettext', encoding="utf-8")
    with pytest.raises(InputError, match=r"pl/made\.po cannot be read as a gettext file"):
        translation(tmp_path, "made", "pl")


@pytest.mark.parametrize("given", [[], ["polish"], ["en"], ["../x"], ["pl", "es"]])
def test_a_language_that_is_none_is_one_sentence(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["write_translations", *given])
    monkeypatch.setattr(write_translations, "write", lambda *_: pytest.fail("nothing is written"))
    with pytest.raises(SystemExit, match="Name a language by its code"):
        write_translations.main()
