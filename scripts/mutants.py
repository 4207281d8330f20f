"""What share of small faults the tests find, in the parts that decide what people read: make mutants

`make mutants OF=judge` asks about one part. It fails where fewer are found than benchmarks/results/mutants.json says.
mutmut makes the faults, but none in constants and in functions with a decorator. A line whose faults change nothing
ends in `# pragma: no mutate` and the reason.
"""

import json
import os
import shutil
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from mutmut.__main__ import create_file_mutants, run  # type: ignore[import-not-found]
from mutmut.configuration import config  # type: ignore[import-not-found]
from mutmut.mutation.data import SourceFileMutationData  # type: ignore[import-not-found]
from mutmut.mutation.diff_apply import get_diff_for_mutant  # type: ignore[import-not-found]
from mutmut.stats import status_by_exit_code  # type: ignore[import-not-found]
from mutmut.workers.isolation import run_in_fork_with_result  # type: ignore[import-not-found]

RESULTS = Path("benchmarks/results/mutants.json")
SAMPLE, SEED = 30, 61
# Packages that are read once, for all parts.
LARGE = ("playwright.sync_api", "scipy.stats", "streamlit.testing.v1", "torch", "transformers")

# A part: its files below specviz/, and the tests that guard it, below tests/.
PARTS: dict[str, tuple[list[str], list[str]]] = {
    "verification": (["decoding/verification"], ["tiny/test_verification"]),
    "metrics": (["core/metrics"], ["unit/test_metrics", "unit/test_verdict"]),
    "judge": (["core/judge", "core/verdict"], ["unit/test_judge", "unit/test_verdict"]),
    "summary": (["measure/sweep/study"], ["unit/test_study"]),
    "timing": (["measure/compare", "measure/race"], ["unit/test_race", "tiny/test_compare"]),
    "calibration": (["measure/calibration"], ["unit/test_costs", "tiny/test_compare"]),
    "reports": (["measure/endpoints/report"], ["unit/test_bench_findings"]),
    "output": (["cli/output"], ["unit/test_cli", "unit/test_printed"]),
    "tables": (["measure/sweep/rows", "core/csv_cells"], ["unit/test_tables_read"]),
    "vllm": (["systems/vllm"], ["unit/test_importers", "unit/test_serving_counters"]),
    "worksheet": (
        ["measure/worksheet/model", "measure/worksheet/exercises"],
        ["unit/test_worksheet"],
    ),
    "downloads": (["game/saved", "player/sheet"], ["unit/test_game", "unit/test_offline"]),
}


def answers(file: Path) -> dict[str, int | None]:
    """Each fault of a file, and how its tests ended; None where they did not run."""
    data = SourceFileMutationData(path=file)
    data.load()
    return dict(data.exit_code_by_key)


def ask_about(part: str) -> tuple[int, int]:
    """How many faults were made in the part, and how many of them its tests find. The others are printed."""
    files, tests = PARTS[part]
    paths = [Path(f"specviz/{file}.py") for file in files]
    config().only_mutate = [str(path) for path in paths]
    config().pytest_add_cli_args_test_selection = [f"tests/{test}.py" for test in tests]
    shutil.rmtree("mutants", ignore_errors=True)
    for path in paths:
        create_file_mutants(path)
    made = {name: path for path in paths for name in answers(path)}
    # By a hash: a change of one function leaves the drawn faults of the others.
    drawn = sorted(made, key=lambda name: sha256(f"{SEED} {name}".encode()).hexdigest())[:SAMPLE]
    run.main(["--max-children", "1", *drawn], standalone_mode=False)
    ends = {name: status_by_exit_code[code] for path in paths for name, code in answers(path).items()}
    left = [name for name in drawn if ends[name] not in ("killed", "timeout")]
    for name in left:
        print(f"\n{name}: {ends[name]}\n{get_diff_for_mutant(name, path=made[name])}")
    shutil.rmtree("mutants")
    return len(drawn), len(drawn) - len(left)


def ask_and_store(part: str) -> int:
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    made, found = ask_about(part)
    rate, stored = round(found / made, 3), before.get(part, {"rate": 0.0})["rate"]
    print(f"\n{part}: {found} of {made} found, {rate:.1%}; stored: {stored:.1%}", flush=True)
    if rate < stored:
        return 1
    files, tests = PARTS[part]
    row = {"files": files, "tests": tests, "seed": SEED, "mutants": made, "killed": found, "rate": rate}
    RESULTS.write_text(json.dumps(dict(sorted((before | {part: row}).items())), indent=1) + "\n")
    return 0


def main(parts: list[str]) -> int:
    os.environ["OMP_NUM_THREADS"] = "1"
    for module in LARGE:
        import_module(module)
    codes: list[int] = [run_in_fork_with_result(ask_and_store, part) for part in parts or PARTS]  # each in a process
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
