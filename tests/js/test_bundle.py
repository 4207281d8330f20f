"""The components' JavaScript: modules that import each other, joined into the one text that Streamlit takes."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from specviz.core.files import BROWSER
from specviz.core.languages import set_language
from specviz.player.html_file import BundleError, bundle

ENTRIES = (
    "chart/chart.js",
    "engine/worker.js",
    "stage/component.js",
    "offline/lesson.js",
    "offline/player.js",
    "stage/feed.js",
    "stage/run.js",
    "components/follow.js",
    "live/live.js",
    "live/take.js",
    "live/service_worker.js",
    "components/keep.js",
    "components/memory.js",
    "components/secret.js",
    "components/frame.js",
    "race/race.js",
    "roofline/roofline.js",
    "be_the_draft/be_the_draft.js",
    "components/vocabulary.js",
)
FILES = {path.relative_to(BROWSER).as_posix() for path in BROWSER.glob("*/*.js")}

needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node reads the joined text")


def write(folder: Path, **files: str) -> Path:
    """Modules `name.js`, the entry among them."""
    for name, text in files.items():
        (folder / f"{name}.js").write_text(text + "\n", encoding="utf-8")
    return folder / "entry.js"


def run(folder: Path, script: str) -> str:
    """What node prints for a bundle followed by `console.log(made())`."""
    file = folder / "bundled.mjs"
    file.write_text(script.replace("export default ", "const made = ") + "\nconsole.log(made());\n", encoding="utf-8")
    return subprocess.run(["node", file], capture_output=True, text=True, check=True).stdout.strip()


@needs_node
def test_modules_run_in_the_order_of_their_imports_and_keep_their_own_names(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        entry="""import { b } from "./b.js";
import {
  a,
  more,
} from "./a.js";
export default () => a() + b() + more;""",
        b='import { a } from "./a.js";\nconst own = "b";\nexport function b() {\n  return own + a();\n}',
        a='const own = "a";\nexport const more = own;\nexport function a() {\n  return own;\n}',
    )
    script = bundle(entry)
    assert script.count("a.js") == 1  # once, although two import it
    assert run(tmp_path, script) == "abaa"


WRITTEN = """
import {{ sayer }} from "{shared}/fill.js";
import {{ fixed, grouped, localize }} from "{shared}/localize.js";
import {{ percent, prob, times }} from "{shared}/numbers.js";
import {{ layoutOf }} from "{chart}/layout.js";
const say = sayer({{ heat: "{{t}}: {{n:one|many}}" }});
export default () => [
  times(1.405), prob(0.0078), prob(0.99999), percent(0.81), fixed(1234.5, 1), grouped(1024), grouped(12345.5),
  say("heat", {{ t: 0.7, n: 1 }}), say("heat", {{ t: 1024, n: 2 }}), layoutOf({{}}, {{}}, 0).separators,
].join(" | ");
"""


@needs_node
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "1.41× | 0.78 % | >99.9 % | 81 % | 1234.5 | 1,024 | 12,345.5 | 0.7: one | 1024: many | .,"),
        ("es", "1,41× | 0,78 % | >99,9 % | 81 % | 1234,5 | 1024 | 12.345,5 | 0,7: one | 1024: many | ,."),
        (
            "zh-Hans",
            "1.41× | 0.78 % | >99.9 % | 81 % | 1234.5 | 1024 | 12,345.5 | 0.7: many | 1024: many | .,",
        ),
    ],
)
def test_a_browser_writes_figures_in_the_language_of_its_texts(tmp_path: Path, code: str, said: str) -> None:
    shared, chart = (Path(os.path.relpath(BROWSER / part, tmp_path)).as_posix() for part in ("shared", "chart"))
    entry = write(tmp_path, entry=WRITTEN.format(shared=shared, chart=chart))
    set_language(code)
    script = bundle(entry)
    set_language("en")
    assert run(tmp_path, script) == said


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"entry": 'import { a } from "./a.js";\nexport default a;'}, "a.js, which does not exist"),
        ({"entry": 'import { b } from "./a.js";\nexport default b;', "a": "export const a = 1;"}, "does not export b"),
        (
            {
                "entry": 'import { a } from "./a.js";\nexport default a;',
                "a": 'import { b } from "./b.js";\nexport const a = 1;',
                "b": 'import { a } from "./a.js";\nexport const b = 1;',
            },
            "A circle of imports: .*a.js → .*b.js → .*a.js",
        ),
        ({"entry": "const a = 1;"}, "export default"),
        ({"entry": 'import { a } from "./a.js";\nexport default a;', "a": "export default 1;"}, "export default"),
        ({"entry": 'import a from "./a.js";\nexport default a;', "a": "export const a = 1;"}, "import a from"),
        ({"entry": 'import * as a from "./a.js";\nexport default a;', "a": "export const a = 1;"}, r"import \* as"),
        ({"entry": 'import { a as b } from "./a.js";\nexport default b;', "a": "export const a = 1;"}, "a as b"),
        ({"entry": 'import { a } from "a";\nexport default a;'}, 'from "a"'),
        ({"entry": 'import "./a.js";\nexport default 1;', "a": "export const a = 1;"}, "import "),
        ({"entry": 'export default () => import("./a.js");'}, r"import\("),
        ({"entry": "export default () => import.meta.url;"}, r"import\.meta"),
        ({"entry": 'import { a } from "./a.js";\nexport default a;', "a": "const a = 1;\nexport { a };"}, "export {"),
        ({"entry": 'import { a } from "./a.js";\nexport default a;', "a": "export let a = 1;"}, "export let"),
        (
            {"entry": 'import { a } from "./a.js";\nexport default a;', "a": "export const { a } = {};"},
            "export const {",
        ),
        ({"entry": 'export * from "./a.js";\nexport default 1;', "a": "export const a = 1;"}, r"export \*"),
    ],
)
def test_what_cannot_be_joined_is_refused_with_the_reason(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    with pytest.raises(BundleError, match=problem):
        bundle(write(tmp_path, **files))


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_component_is_one_module_without_imports(entry: str) -> None:
    script = bundle(BROWSER / entry)
    assert script.count("export default ") == 1
    assert not re.search(r"^import\b", script, re.MULTILINE)
    assert "innerHTML" not in script  # text from models is never HTML


@needs_node
@pytest.mark.parametrize("entry", ENTRIES)
def test_node_reads_every_component(entry: str, tmp_path: Path) -> None:
    file = tmp_path / "bundled.mjs"
    file.write_text(bundle(BROWSER / entry), encoding="utf-8")
    subprocess.run(["node", "--check", file], check=True)


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_comment_is_sent_to_the_browser(entry: str) -> None:
    said = re.compile(r"\s*(//|/\*|\* )|.*[;,{] //[^\"'`]*$")  # with a quote it may be a part of a string
    comments = [line for line in bundle(BROWSER / entry).splitlines() if said.match(line)]
    assert [line for line in comments if not re.fullmatch(r"// \w+/\w+\.js", line)] == []  # names of files


def test_no_underline_has_a_shorthand_that_webkit_does_not_read() -> None:
    styles = [path.read_text(encoding="utf-8") for path in BROWSER.glob("*/*.css")]
    assert [found for style in styles for found in re.findall(r"text-decoration: *[\w-]+ +[^;}]+", style)] == []
    assert any("text-decoration-style: dotted" in style for style in styles)


def test_every_file_is_part_of_a_component() -> None:
    used = {
        found for entry in ENTRIES for found in re.findall(r"^// (\w+/\w+\.js)$", bundle(BROWSER / entry), re.MULTILINE)
    }
    assert used == FILES
