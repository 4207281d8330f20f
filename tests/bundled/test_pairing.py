"""The bundled pairs pass the check that every pair gets before a run."""

from specviz.models.pairing import check_pair


def test_the_bundled_pairs_are_fine() -> None:
    report = check_pair("wren-base", "wren-nano", greedy=False, new_tokens=64)
    assert (report.ok, report.tokens, report.notes, report.context) == (True, "same", [], 512)
