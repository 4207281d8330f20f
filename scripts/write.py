"""Write what is made of stored figures or of types: python -m scripts.write [--check]

With --check: status 1, and a line for each file that holds something else.
"""

import sys

from scripts import write_cards, write_measured_tables, write_payload_types, write_settings_table

WRITERS = (write_cards, write_measured_tables, write_payload_types, write_settings_table)

if __name__ == "__main__":
    pages = {path: text for each in WRITERS for path, text in each.pages().items()}
    other = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(f"{path} is not what its script writes." for path in other) or None)
    for path in other:
        path.write_text(pages[path], encoding="utf-8")
