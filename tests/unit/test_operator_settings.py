"""What the operator sets: one table, and one sentence at start for whatever cannot be used, at every way in."""

import re
from pathlib import Path

import pytest

from specviz.cli.main import main
from specviz.core.operator_settings import OPERATOR_SETTINGS, check_operator_settings, operator_setting
from tests.support.strategies import refusal

ROOT = Path(__file__).parents[2]
PRODUCT = [file for folder in ("specviz", "pages", "cloud") for file in (ROOT / folder).rglob("*.py")]
PRODUCT += [ROOT / "app.py", ROOT / "serve.py"]
NUMBERS = ("-5", "1.5", "5m", "many", "9" * 5_000, "٣", " 1")
WRONG = {
    "SPECVIZ_MODELS": ("bundeled", "BUNDLED", "hub,", "hub folders", "everything"),
    "SPECVIZ_CACHE_GB": NUMBERS,
    "SPECVIZ_MODEL_MB": ("0", *NUMBERS),
    "SPECVIZ_ENGINES": ("0", "65", *NUMBERS, "ray:auto", "https://", "https://host:99999", "https://user:secret@host"),
    "SPECVIZ_ENGINES_TOKEN": ("short", "a secret of two words", "two lines of\nit, all"),
    "SPECVIZ_STREAMS": ("0", "65", *NUMBERS),
    "SPECVIZ_JOB_SECONDS": ("0", *NUMBERS),
    "SPECVIZ_RUNS": ("MEMORY", "memori", "runs"),
    "SPECVIZ_PACKED": ("off", "2"),
    "SPECVIZ_FORWARD": ("transformer",),
    "SPECVIZ_DEVICE": ("gpu", "CPU"),
    "SPECVIZ_LANG": ("xx", "Español"),
    "SPECVIZ_LESSONS": ("/no/such/folder", __file__),
    "SPECVIZ_FRAMES": ("a; script-src *", "a\r\nset-cookie: b", "javascript:alert(1)", "'self'", "https://a/b"),
    "SPECVIZ_METRICS": ("yes", "true"),
}
RIGHT = {
    "SPECVIZ_MODELS": ("bundled", "smollm2", "hub, folders", "any"),
    "SPECVIZ_CACHE_GB": ("0", "5"),
    "SPECVIZ_ENGINES": ("1", "10", "64", "http://engines:8000", "https://engines.example/specviz"),
    "SPECVIZ_ENGINES_TOKEN": ("0123456789abcdef",),
    "SPECVIZ_RUNS": ("memory", "./runs", "/data/runs", "~/runs", r"C:\runs", "s3://bucket/runs"),
    "SPECVIZ_LANG": ("en", "es", "es-MX", "zh-Hans"),
    "SPECVIZ_LESSONS": (str(ROOT),),
    "SPECVIZ_FRAMES": ("none", "*.example.org", "https://a.example b.example:8443"),
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_what_cannot_be_used_is_refused_in_one_sentence_that_does_not_repeat_it(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: a mistyped limit was no limit, a mistyped word opened the catalogue, MEMORY was a folder."""
    monkeypatch.setenv(name, text)
    for read in (check_operator_settings, lambda: operator_setting(name)):
        assert refusal(read) == f"{name} must be {OPERATOR_SETTINGS[name].rule}."
    assert "secret" not in OPERATOR_SETTINGS[name].rule


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in OPERATOR_SETTINGS for text in RIGHT.get(name, [""])]
)
def test_what_can_be_used_is_taken_and_an_empty_one_is_as_none(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    check_operator_settings()
    assert operator_setting(name) == text or not text
    for text in ("", OPERATOR_SETTINGS[name].default):
        monkeypatch.setenv(name, text)
        check_operator_settings()
        assert operator_setting(name) == OPERATOR_SETTINGS[name].default


def test_a_mistyped_name_and_a_missing_secret_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a cluster sets itself is not."""
    monkeypatch.delenv("SPECVIZ_ENGINES_TOKEN", raising=False)
    missing = refusal(lambda: operator_setting("SPECVIZ_ENGINES_TOKEN", needed=True))
    assert "must be the same text, of at least 16 letters and digits" in missing
    for name in ("PORT", "SERVICE_HOST", "SERVICE_PORT_HTTP", "PORT_8501_TCP_ADDR", "APP_SERVICE_PORT"):
        monkeypatch.setenv(f"SPECVIZ_{name}", "tcp://10.0.0.1:8501")
    check_operator_settings()
    monkeypatch.setenv("SPECVIZ_MODEL", "bundled")
    said = "There is no setting SPECVIZ_MODEL. The settings are SPECVIZ_MODELS, "
    assert refusal(check_operator_settings).startswith(said)


def test_the_command_line_says_it_before_it_does_anything(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPECVIZ_CACHE_GB", "much")
    assert main(["models"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "specviz: SPECVIZ_CACHE_GB must be a whole number of gigabytes.\n")


def test_nothing_else_reads_a_setting_and_every_name_in_the_code_is_one() -> None:
    code = {file: file.read_text(encoding="utf-8") for file in PRODUCT if file.name != "operator_settings.py"}
    assert len(code) > 100
    reads = re.compile(r"environ[^\n]{0,9}\W(SPECVIZ_|[A-Z]+_VARIABLE)")
    assert [file for file, text in code.items() if reads.search(text)] == []
    assert OPERATOR_SETTINGS.keys() - WRONG.keys() == {"SPECVIZ_GGUF"}, "that folder may come later"
    assert {name for text in code.values() for name in re.findall(r"SPECVIZ_[A-Z_]*\w", text)} == {*OPERATOR_SETTINGS}


def test_operating_has_a_row_for_each_with_its_default() -> None:
    text = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(SPECVIZ_[A-Z_]+)` \|.*\| ([^|]+) \|$", text, re.MULTILINE))
    assert list(rows) == list(OPERATOR_SETTINGS)
    for name, setting in OPERATOR_SETTINGS.items():
        assert f"`{setting.default}`" in f"{rows[name]}``"
