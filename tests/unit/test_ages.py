"""Which stored measurements are older than the pass that they measured."""

from benchmarks.ages import PASS, STORED, committed, older
from benchmarks.serving import ROOT


def test_what_is_of_an_earlier_day_is_named_the_oldest_first() -> None:
    days = {"b.json": "2026-10-02", "a.json": "2026-10-02", "old.json": "2025-12-31", "new.json": "2026-11-01"}
    assert older(days, "2026-11-01") == ["2025-12-31  old.json", "2026-10-02  a.json", "2026-10-02  b.json"]


def test_the_files_of_the_pass_and_the_measurements_exist() -> None:
    assert all((ROOT / f"specviz/models/{name}.py").exists() for name in PASS)
    assert all(any(ROOT.glob(pattern)) for pattern in STORED)
    assert committed(["there/is/no/such.file"]) == {}
