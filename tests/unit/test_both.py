"""What is computed in Python and in JavaScript alike: the tables of cases that tests/js/both.test.js reads too."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

from specviz.core import metrics
from specviz.core.csv_cells import safe_cell
from specviz.core.intervals import speedup_interval, student_t
from specviz.core.judge import judge, widen_for_next_run
from specviz.core.names import first_words, machine_in_words
from specviz.core.readable import readable, spelled, whole_text
from specviz.core.replay import DraftGuesses, replay
from specviz.core.rounds import Candidate, ResidualCandidate, Round
from specviz.core.settings import SETTINGS
from specviz.core.theory import verification_steps
from specviz.core.trace import Autoregressive, DrafterInfo, Output, Prompt
from specviz.core.verdict import compare_texts, is_trusted, verdict_of_run
from specviz.player.data import compared, draft_name, result_data, stage_data
from specviz.player.sheet import tree_rows
from specviz.ui.shared.components import to_json
from specviz.ui.watch.tried import TriedRun, tried_row
from tests.support.both import FOLDER, round_from, run_from, table
from tests.support.drawn import drawn


def same(found: object, expected: object, which: object = None) -> None:
    """Numbers to six digits after the point."""
    read = json.loads(json.dumps(found), parse_float=lambda digits: round(float(digits), 6))
    assert read == expected, which


def test_both_languages_read_every_table() -> None:
    names = {file.stem for file in FOLDER.iterdir()}
    for suite in (Path(__file__), FOLDER.parents[1] / "js/both.test.js"):
        code = suite.read_text(encoding="utf-8")
        assert names == {name for name in names if f'table("{name}")' in code}
    assert all(table(name) for name in names)


def test_v_of_k_also_beyond_what_was_measured() -> None:
    for case in table("verification_steps"):
        known = {int(tokens): steps for tokens, steps in case["table"].items()}
        same(verification_steps(known, case["tokens"]), case["steps"], case)


def test_a_machine_in_a_sentence_is_short() -> None:
    for machine, said in table("machines"):
        assert machine_in_words(machine) == said


def test_the_figures_after_each_round_and_by_position() -> None:
    for case in table("running"):
        trace = run_from(case)
        after = [
            [counts.emitted, counts.accepted, counts.drafted, speedup] for counts, speedup in metrics.running(trace)
        ]
        same(after, case["after"], case["case"])
        places = metrics.count_by_position(trace.rounds, len(case["positions"]))
        assert [[place.accepted, place.judged] for place in places] == case["positions"], case["case"]


def test_the_interval_of_a_runs_speedup_and_the_word_for_it() -> None:
    for freedom, t in table("intervals")["student_t"]:
        same(student_t(freedom), t)
    for case in table("intervals")["runs"]:
        trace = run_from(case)
        timing = speedup_interval(trace)
        found = metrics.speedup(trace), timing and widen_for_next_run(timing), is_trusted(trace)
        same(found, [case["speedup"], case["interval"], case["trusted"]], case["case"])
    for speedup, interval, word in table("intervals")["words"]:
        assert judge(speedup, interval and (interval[0], interval[1])).word == word


def test_the_costs_of_a_run() -> None:
    for case in table("costs"):
        found = metrics.costs(run_from(case))
        same(found and [found.step_seconds, found.cost_ratio, found.verification, found.overhead], case["costs"], case)


def test_of_the_numbers_of_a_server_the_browser_says_what_it_says_of_its_own() -> None:
    cases, names = table("results")["runs"], ("says", "reason", "speedup", "interval", "trusted", "where")
    sent: list[Any] = [
        stage_data(run, run_id="", source="live", running=False)
        | {"result": json.loads(to_json(result_data(run, "measured in this browser", None)))}
        for run in map(run_from, cases)
    ]
    for case, shown in zip(cases, drawn(*sent), strict=True):
        same([shown["result"][name] for name in names], [case[name] for name in names], case["case"])


def test_whether_both_decoders_wrote_the_same_text() -> None:
    for case in table("results")["texts"]:
        trace = run_from({"rounds": []})
        settings, ids = replace(trace.settings, temperature=case["temperature"]), case["alone"]
        alone = Autoregressive([], ids) if ids else None
        said = compare_texts(
            replace(trace, settings=settings, autoregressive=alone, output=Output(case["output"], "", "length"))
        )
        assert case["says"] in said.lower(), case


def test_parts_of_a_character_are_shown_as_that_character() -> None:
    for texts, shown in table("readable")["spelled"]:
        assert spelled(texts) == shown
    for texts, pieces in table("readable")["merged"]:
        assert whole_text(texts) == "".join(pieces)
    for case in table("readable")["runs"]:
        prompt = Prompt("", [], case.get("prompt", ["Once"]))
        read = readable(replace(run_from({"rounds": []}), rounds=_rounds(case), prompt=prompt)).rounds
        assert [[*(token.text for token in each.drafted), each.emitted.text] for each in read] == case["shown"]
        if "alternatives" in case:
            for found in (read[0].drafted[1].candidates, read[0].emitted.residual_top):
                assert [alternative.text for alternative in found] == case["alternatives"][1]
        assert read[0].draft_tokens == case.get("draft_tokens", [[], []])[1]


def _rounds(case: dict[str, Any]) -> list[Round]:
    """With the texts of each token, and the same alternatives to each of them."""
    alternatives = list(enumerate(case.get("alternatives", [[]])[0], start=50))
    candidates = [Candidate(token, text, 0.5, 0.5) for token, text in alternatives]
    residual = [ResidualCandidate(token, text, 0.5) for token, text in alternatives]
    made = []
    for index, (guesses, texts, own, text) in enumerate(case["rounds"]):
        plain = round_from(index, guesses, own, [1, 4, 0.5])
        tokens = zip(plain.drafted, texts, strict=True)
        drafted = [replace(token, text=written, candidates=candidates) for token, written in tokens]
        emitted = replace(plain.emitted, text=text, residual_top=residual)
        own_tokens = case.get("draft_tokens", [[]])[0]
        made.append(replace(plain, drafted=drafted, emitted=emitted, draft_tokens=own_tokens))
    return made


def test_the_run_at_other_draft_lengths() -> None:
    for case in table("replay"):
        output, info = case["output"], DrafterInfo("model", "draft")
        guesses = DraftGuesses(info, output, case.get("guesses"), case.get("proposals"), {}, True)
        ends = frozenset(output[-1:] if case["ended"] else [])
        for length, expected in case["rounds"].items():
            rounds = replay(guesses, int(length), case["max_new_tokens"], ends)
            statuses = ["".join(token.status[0] for token in each.drafted) for each in rounds]
            ids = [[token.id for token in each.drafted] for each in rounds]
            found = [list(parts) for parts in zip(ids, statuses, (each.added for each in rounds), strict=True)]
            assert found == expected, (case["case"], length)


def test_the_rows_of_a_tree() -> None:
    for case in table("tree_rows")["trees"]:
        assert tree_rows(round_from(0, case["guesses"], case["own"], [1, 4, 0.5])) == case["rows"]


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    for text, cell in table("csv_cells"):
        assert safe_cell(text) == cell


def test_a_row_of_the_list_of_what_was_tried() -> None:
    for case in table("tried")["rows"]:
        trace = run_from(case)
        row = tried_row(TriedRun(case["number"], Mock(trace=trace), verdict_of_run(trace)))
        columns = [name for name in row if "calibrated" not in name]
        assert columns == table("tried")["columns"]
        same([row[name] for name in columns], case["row"], case["case"])
    for text, characters, shown in table("tried")["first_words"]:
        assert first_words(text, characters) == shown


def test_what_a_run_is_called_and_what_is_different_about_another_one() -> None:
    assert table("other_runs")["unusual"] == {name: row.words for name, row in SETTINGS.items() if row.words}
    for kind, name, said in table("other_runs")["drafts"]:
        assert draft_name(run_from({"rounds": [], "draft": kind, "name": name})) == said
    cases, sent = table("other_runs")["names"], list[Any]()
    for case in cases:
        run, before = (run_from({"rounds": [["a", "bonus"]], **case[which]}) for which in ("run", "before"))
        data = stage_data(run, run_id="", source="live", running=False)
        sent.append(data | {"before": compared(before, None, None)})
        assert '"rounds":[]' not in to_json(sent[-1]).decode(), (
            "a run without rounds has none yet: visitors wait for them"
        )
    for case, shown in zip(cases, drawn(*sent), strict=True):
        said = [", ".join(filter(None, parts)) for parts in zip(case["names"], case["differs"], strict=True)]
        assert [shown["before"]["names"][which] for which in ("run", "before")] == said, case["case"]


def test_the_times_of_a_run_at_other_draft_lengths_and_what_others_are_compared_with() -> None:
    for case in table("other_runs")["times"]:
        trace, info, known = run_from(case), DrafterInfo("model", "draft"), case["guesses"]
        guesses = DraftGuesses(info, trace.output.token_ids, known, None, {}, True) if known else None
        sent = stage_data(trace, run_id="", source="live", running=False, guesses=guesses)
        same(sent["run"]["times"], case["at_lengths"], case["case"])
        before = compared(trace, guesses, None)
        length = before["named"]["draft_length"]
        shares, speeds = ([value and round(value, 4) for value in before[name]] for name in ("acceptance", "speedup"))
        lengths = [[share and round(share, 4), speed and round(speed, 2)] for share, speed in before["lengths"]]
        found = {**before, "lengths": lengths, "acceptance": shares, "speedup": speeds, "draft_length": length}
        same({name: found[name] for name in case["before"]}, case["before"], case["case"])
