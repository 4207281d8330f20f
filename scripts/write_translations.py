"""Write what there is to translate: python -m scripts.write_translations CODE

Adds to assets/texts/CODE each English text that is new, keeps what is
translated, and marks what was translated from another English text (fuzzy), with that text (#|). Translate in any
editor for gettext files, then check: python -m scripts.check_texts

With --pot FOLDER instead of CODE it writes templates (.pot), for programs that make and update translations themselves.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from babel import UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from scripts.check_texts import all_texts
from scripts.translating import ANY_FORMS, explain_figures, forms_of, texts_to_translate
from specviz.core.errors import InputError
from specviz.core.files import TEXTS
from specviz.core.languages import ENGLISH, Entry, locale, translation
from specviz.core.texts import AppTexts

USAGE = "Name a language by its code, as in fr, pt-BR or zh-Hant: python -m scripts.write_translations CODE"
LINE = 100_000  # characters: Babel cuts a long comment into lines, and a previous text is none
HEADER = "# Texts of specviz. Each entry: where it stands, the English text, and the same in this language."


def main() -> None:
    """Write each file of one language, or each template."""
    try:
        match sys.argv[1:]:
            case ["--pot", folder]:
                for texts in all_texts():
                    template(texts, TEXTS, Path(folder))
            case [code] if _is_language(code):
                for texts in all_texts():
                    write(texts, code, TEXTS)
            case _:
                sys.exit(USAGE)
    except InputError as error:
        sys.exit(str(error))


def _is_language(code: str) -> bool:
    try:
        return code != ENGLISH and str(locale(code)).replace("_", "-") == code
    except (ValueError, UnknownLocaleError):
        return False


def write(texts: AppTexts[Any], code: str, folder: Path) -> None:
    """One file, as today's English texts want it."""
    path = folder / code / f"{texts.name}.po"
    before, today = translation(folder, texts.name, code), texts_to_translate(texts.read(folder), texts.name)
    gone = [entry for key, entry in before.items() if key not in set(today) and entry.text]
    catalog, forms = _begun(path, code), forms_of(code)
    for place, english in today:
        entry = before.get((place, english))
        if entry is None and (old := next((each for each in gone if each.place == place), None)):
            gone.remove(old)
            previous = (old.outdated and old.previous) or old.english
            entry = replace(old, english=english, outdated=True, previous=previous)
        _add(catalog, entry or Entry(place, english), forms)
    _save(catalog, path)


def template(texts: AppTexts[Any], folder: Path, into: Path) -> None:
    """The same without a language."""
    catalog = Catalog(header_comment=HEADER, project="specviz", version="1")
    for place, english in texts_to_translate(texts.read(folder), texts.name):
        _add(catalog, Entry(place, english))
    _save(catalog, into / f"{texts.name}.pot")


def _add(catalog: Catalog, entry: Entry, forms: Sequence[str] = ANY_FORMS) -> None:
    message = catalog.add(
        entry.english,
        entry.text,
        context=entry.place,
        flags=["fuzzy"] * entry.outdated,
        auto_comments=filter(None, [explain_figures(entry.english, forms)]),
        user_comments=entry.notes,
        previous_id=entry.previous,
    )
    message.flags.discard("python-format")  # it is none: "95 % interval"


def _save(catalog: Catalog, path: Path) -> None:
    if len(catalog):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalog, width=LINE, include_previous=True)


def _begun(path: Path, code: str) -> Catalog:
    """Empty, with the head of the file that is there: its dates change where its texts do, in git."""
    new = Catalog(locale(code), header_comment=HEADER, project="specviz", version="1", fuzzy=False)
    new.msgid_bugs_address = new.last_translator = new.language_team = ""
    new.revision_date = new.creation_date
    if path.is_file():
        with path.open("rb") as file:
            old = read_po(file)
        new.creation_date, new.revision_date = old.creation_date, old.revision_date
        new.last_translator, new.language_team = old.last_translator, old.language_team
    return new


if __name__ == "__main__":
    main()
