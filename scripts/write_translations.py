"""Write what there is to translate: python -m scripts.write_translations CODE

Adds to assets/texts/CODE each English text that is new, keeps what is translated, and marks what was translated from
another English text (fuzzy), with that text (#|). Translate in any editor for gettext files, then check: python -m
scripts.check_texts
"""

import sys
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from scripts.check_texts import all_texts
from scripts.translating import explain_figures, texts_to_translate
from specviz.core.files import TEXTS
from specviz.core.languages import Entry, locale, translation
from specviz.core.texts import AppTexts

LINE = 100_000  # characters: Babel cuts a long comment into lines, and a previous text is none
HEADER = "# Texts of specviz. Each entry: where it stands, the English text, and the same in this language."


def main() -> None:
    """Write each file of one language."""
    code = sys.argv[1]
    for texts in all_texts():
        write(texts, code, TEXTS)


def write(texts: AppTexts[Any], code: str, folder: Path) -> None:
    """One file, as today's English texts want it."""
    path = folder / code / f"{texts.name}.po"
    before, today = translation(folder, texts.name, code), texts_to_translate(texts.read(folder), texts.name)
    gone = [entry for key, entry in before.items() if key not in set(today) and entry.text]
    catalog = _begun(path, code)
    for place, english in today:
        entry = before.get((place, english))
        if entry is None and (old := next((each for each in gone if each.place == place), None)):
            gone.remove(old)
            entry = Entry(place, english, old.text, outdated=True, previous=old.english)
        entry = entry or Entry(place, english)
        message = catalog.add(
            english,
            entry.text,
            context=place,
            flags=["fuzzy"] * entry.outdated,
            auto_comments=filter(None, [explain_figures(english)]),
            previous_id=entry.previous,
        )
        message.flags.discard("python-format")  # it is none: "95 % interval"
    if len(catalog):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalog, width=LINE, include_previous=True)


def _begun(path: Path, code: str) -> Catalog:
    """Empty, with the dates of the file that is there: they change where its texts do, in git."""
    old = None
    if path.is_file():
        with path.open("rb") as file:
            old = read_po(file)
    new = Catalog(locale(code), header_comment=HEADER, project="specviz", version="1", fuzzy=False)
    new.msgid_bugs_address = new.last_translator = new.language_team = ""
    if old is not None:
        new.creation_date = new.revision_date = old.creation_date
    return new


if __name__ == "__main__":
    main()
