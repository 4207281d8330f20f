"""`specviz bench`: measure two running servers, one with speculative decoding and one without, prompt by prompt."""

import asyncio
import json
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from typer import Option

from specviz import __version__
from specviz.cli.options import ResultOptions, add_command, check_one_given, new_group
from specviz.cli.output import StatusLine, note, print_line, print_table, status_line, write_file, write_json
from specviz.cli.plots import check_plots, write_bench_plots
from specviz.cli.sweep import WorkloadOptions, chosen_prompts, listed
from specviz.core.errors import InputError, UnmetError
from specviz.core.files import content_of, write_whole
from specviz.measure.endpoints import result as bench_file
from specviz.measure.endpoints.findings import BenchFindings, broken_setup
from specviz.measure.endpoints.importers import import_files
from specviz.measure.endpoints.pairs import Within
from specviz.measure.endpoints.report import Cell, compare_servers, dump_csv, dump_report, lowest, table
from specviz.measure.endpoints.result import BenchResult, Side, dump_result
from specviz.measure.endpoints.sentences import conclusion
from specviz.measure.paired import show_rest
from specviz.measure.sweep.plan import SweepPrompt

SAVE_SECONDS = 2.0  # a file of many answers is not written after each
SAME = ("settings", "with_", "without", "prompts", "against_itself")  # of a bench that is taken up again


group = new_group()


@dataclass(frozen=True, kw_only=True)
class BenchOptions(WorkloadOptions, ResultOptions):
    with_: Annotated[
        list[str] | None,
        Option("--with", metavar="URL", help="the server with speculative decoding; can be given several times"),
    ] = None
    without: Annotated[
        str | None, Option(metavar="URL", help="the same model without it; one server alone has no ratio")
    ] = None
    drafts: Annotated[
        list[str] | None,
        Option(metavar="TEXT", help="how it drafts, for the record: servers do not say; one for each --with"),
    ] = None
    aa: Annotated[
        str | None, Option(metavar="URL", help="a server against itself: how small a difference can be told")
    ] = None
    model: Annotated[str | None, Option(metavar="NAME", help="as the servers call it (default: their only one)")] = None
    model_with: Annotated[str | None, Option(metavar="NAME", help="the same, with speculation")] = None
    model_without: Annotated[str | None, Option(metavar="NAME", help="the same, without speculation")] = None
    api: Annotated[Literal["completions", "chat"], Option(help="of OpenAI's format")] = "completions"
    key_env: Annotated[
        str | None, Option(metavar="NAME", help="the environment variable that holds the servers' key")
    ] = None
    key_env_with: Annotated[str | None, Option(metavar="NAME", help="the same, with speculation")] = None
    key_env_without: Annotated[str | None, Option(metavar="NAME", help="the same, without speculation")] = None
    prefix_cache: Annotated[
        Literal["cold", "warm"], Option(help="warm: servers may take a prompt from their cache")
    ] = "cold"
    extra_body: Annotated[str, Option(metavar="JSON", help="further fields of each request")] = ""
    files: Annotated[
        tuple[Path, Path] | None,
        Option(
            "--import",
            metavar="WITH WITHOUT",
            help="read another tool's result files (docs/bench.md): with and without speculation",
        ),
    ] = None
    show: Annotated[Path | None, Option(metavar="FILE", help="say again what a bench found")] = None
    fail_below: Annotated[float | None, Option(metavar="X", help="status 1 where an interval begins below X")] = None
    max_new_tokens: Annotated[
        int, Option(metavar="N", min=1, max=bench_file.MAX_TOKENS, help="tokens of each answer")
    ] = 64
    temperature: Annotated[float, Option(metavar="X", min=0, max=100, help="0 is greedy")] = 0.0
    seed: Annotated[int, Option(metavar="N", help="that the servers are given")] = 0
    concurrency: Annotated[str | None, Option(metavar="C,C,...", help="requests under way at once (default: 1)")] = None
    rate: Annotated[
        str | None, Option(metavar="X,X,...", help="in place of it: requests a second, at drawn moments")
    ] = None
    goodput: Annotated[
        str | None, Option(metavar="ttft:500ms,tpot:50ms", help="say the share of requests within these limits")
    ] = None
    repeats: Annotated[int, Option(metavar="R", min=1, max=1_000, help="of each prompt; prompts are the sample")] = 1


@add_command(
    group,
    "bench --with http://localhost:8000 --without http://localhost:8001 --workload story code --json bench.json",
    "bench --with http://localhost:8000 --without http://localhost:8001 --prompts-file prompts.jsonl --api chat "
    "--concurrency 1,4,16 --csv rows.csv --plots figures",
    "bench --import with.json without.json",
)
def bench(options: BenchOptions) -> None:
    """Measure two running servers, with and without speculative decoding, on the same prompts."""
    if options.plots:
        check_plots(options.plots)
    if options.csv and not options.csv.parent.is_dir():
        raise InputError(f"{options.csv} cannot be written: its folder does not exist.")
    for name, given in (("with", options.with_), ("without", options.without)):
        check_one_given(**{"show": options.show, "import": options.files, name: given or None, "aa": options.aa})
    check_one_given(show=options.show, drafts=options.drafts or None)
    if options.aa:
        options = replace(options, with_=[options.aa], without=options.aa)
    within, asked = _within(options.goodput), _benches(options, options.with_ or [""])
    if options.show:
        results = [bench_file.read_result(content_of(options.show, bench_file.MOST_MEGABYTES * 10**6))]
    elif options.files:
        ours, plain = (content_of(path, bench_file.MOST_MEGABYTES * 10**6) for path in options.files)
        results = [import_files(ours, plain, "".join(options.drafts or []))]
    elif options.with_:
        results = [measure(each) for each in asked]
    else:
        raise InputError("Give --with URL and --without URL, or --import WITH WITHOUT.")
    for result, each in zip(results, asked, strict=True):
        show(result, each, within)
    if len(results) > 1:
        print_line()
        rows, said = compare_servers(results)
        _print_rows(rows)
        print_line("\n".join(said))
    if broken := next(filter(None, map(broken_setup, results)), ""):
        raise InputError(broken)
    least = options.fail_below
    if least is not None and any((low := lowest(result)) is None or low < least for result in results):
        raise UnmetError(f"The speedup is not certain to be at least {least:g}×.")


def _benches(options: BenchOptions, servers: Sequence[str]) -> list[BenchOptions]:
    """The options of each server's own bench. Of several, each has files of its own, with its number in their names."""
    drafts = options.drafts or []
    if len(drafts) > len(servers):
        raise InputError("There are more --drafts than --with.")
    if len(servers) == 1:
        return [options]
    if options.json == "-":
        raise InputError("--json - holds one bench: with several --with name a file.")
    if not options.without:
        raise InputError("Several --with are compared with the same --without: give it too.")

    def numbered(path: Path, number: int) -> Path:
        return path.with_name(f"{path.stem}-{number}{path.suffix}")

    return [
        replace(
            options,
            with_=[server],
            drafts=drafts[number - 1 : number],
            json=options.json and str(numbered(Path(options.json), number)),
            csv=options.csv and numbered(options.csv, number),
            plots=options.plots and numbered(options.plots, number),
        )
        for number, server in enumerate(servers, 1)
    ]


def _within(text: str | None) -> Within | None:
    """Of `--goodput`: InputError where it is not one limit for a time, or one for each of the two."""
    if text is None:
        return None
    found = re.findall(r"(?:^|,)(ttft|tpot):(\d{1,6}(?:\.\d{1,3})?)(ms|s)(?=,|$)", text)
    limits = {name: float(number) / (1000 if unit == "ms" else 1) for name, number, unit in found}
    if not limits or len(limits) != text.count(",") + 1:
        raise InputError(f"--goodput takes limits such as ttft:500ms,tpot:50ms, not {text[:60]!r}.")
    return Within(limits.get("ttft"), limits.get("tpot"))


def measure(options: BenchOptions) -> BenchResult:
    """Ask both servers what is not answered yet; a file that is named with --json is written on the way."""
    from specviz.measure.endpoints.client import Endpoint, open_client, parse_address  # imports httpx2
    from specviz.measure.endpoints.turns import BenchInTurns, ServerGone, plan

    addresses: dict[Side, str] = {"with": parse_address("".join(options.with_ or []), "--with")}
    if options.without:
        addresses["without"] = parse_address(options.without, "--without")
    settings, prompts = _settings(options), _prompts(options)
    keys = {side: _key(options, side) for side in addresses}
    asked_for = _asked_for(options, addresses, settings, prompts)
    blocks = plan(len(prompts), settings, list(addresses))
    file = Path(options.json) if options.json not in (None, "-") else None

    async def ask(status: StatusLine) -> BenchResult:
        async with open_client(max(block.concurrency or len(block.jobs) for block in blocks)) as http:
            endpoints = {side: Endpoint(base, http, settings, keys[side]) for side, base in addresses.items()}
            for side, endpoint in endpoints.items():
                status.show(f"asking {endpoint.address}")
                model = getattr(options, f"model_{side}") or options.model
                await endpoint.meet(model, min(prompts, key=lambda each: len(each.text)))
            servers = {side: endpoint.server for side, endpoint in endpoints.items()}
            ours = replace(servers["with"], drafts=asked_for.with_.drafts)
            result = replace(asked_for, with_=ours, without=servers.get("without"))
            if file and file.exists():
                result = _taken_up(file, result)
            if broken := broken_setup(result):
                raise InputError(broken)
            _save(file, result)  # a file that cannot be written is found now
            began = saved = monotonic()

            def after_block(done: int, total: int) -> None:
                nonlocal saved
                rest = show_rest(began, done, total) if done < total else ""
                status.show(f"{done} of {total} blocks measured{rest}")
                if monotonic() - saved > SAVE_SECONDS:
                    _save(file, result)
                    saved = monotonic()

            try:
                await BenchInTurns(result, endpoints, prompts, blocks).measure(after_block)
            finally:  # also after Ctrl-C, or where a server is gone
                _save(file, result)
            return result

    try:
        with status_line(lines=True) as status:
            return asyncio.run(ask(status))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_explain_resume(file)) from None
    except ServerGone as error:
        raise InputError(f"{str(error).rstrip('.')}; {_explain_resume(file)}") from None


def _asked_for(
    options: BenchOptions, addresses: dict[Side, str], settings: bench_file.BenchSettings, prompts: list[SweepPrompt]
) -> BenchResult:
    """The bench before anything is asked; InputError where it is beyond the bounds of a bench file."""
    found = BenchResult(
        1,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors; specviz {__version__}",
        settings,
        bench_file.Server(addresses["with"], "", drafts="".join(options.drafts or [])),
        bench_file.Server(addresses["without"], "") if options.without else None,
        [bench_file.BenchPrompt(each.name, each.workload, each.text_hash) for each in prompts],
        against_itself=bool(options.aa),
    )
    try:
        return bench_file.read_result(dump_result(found).encode())
    except ValueError as error:
        raise InputError(f"These options ask for no bench. {error}") from None


def _prompts(options: BenchOptions) -> list[SweepPrompt]:
    prompts = chosen_prompts(options)
    if not prompts:
        raise InputError("Say what to ask: --prompts-file F or --workload NAME.")
    if options.api == "completions" and (talk := next((each.name for each in prompts if each.messages), None)):
        raise InputError(f"{talk!r} is a conversation: ask it with --api chat.")
    return prompts


def _settings(options: BenchOptions) -> bench_file.BenchSettings:
    if options.rate and options.concurrency:
        raise InputError("--concurrency and --rate are two kinds of load: give one of them.")
    rates = listed("--rate", "numbers", options.rate, float) if options.rate else ()
    concurrency = () if rates else listed("--concurrency", "whole numbers", options.concurrency or "1", int)
    try:
        known = isinstance(json.loads(options.extra_body or "{}"), dict)
    except ValueError:
        known = False
    if not known:
        raise InputError('--extra-body takes one JSON object, such as \'{"draft_model": "small"}\'.')
    return bench_file.BenchSettings(
        options.max_new_tokens,
        options.temperature,
        options.seed,
        options.repeats,
        sorted(concurrency),
        options.api,
        options.extra_body,
        options.prefix_cache,
        sorted(rates),
    )


def _key(options: BenchOptions, side: Side) -> str:
    name = getattr(options, f"key_env_{side}") or options.key_env
    key = os.environ.get(name, "").strip() if name else ""
    if name and not (key and key.isascii() and key.isprintable()):
        raise InputError(f"--key-env: there is no environment variable {name[:60]!r} with a key.")
    return key


def _taken_up(file: Path, new: BenchResult) -> BenchResult:
    """The result that the file holds, which must be of the same bench."""
    held = bench_file.read_result(content_of(file, bench_file.MOST_MEGABYTES * 10**6))
    for name in SAME:
        if getattr(held, name) != getattr(new, name):
            raise InputError(f"{file} holds another bench (its {name.rstrip('_')} differ): name another file.")
    return held


def _save(file: Path | None, result: BenchResult) -> None:
    try:
        if file:
            write_whole(file, f"{dump_result(result)}\n".encode(), 0o644)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from error


def _explain_resume(file: Path | None) -> str:
    """What to do after Ctrl-C, or when a server is gone."""
    if file and file.exists():
        return f"what was measured is in {file}; the same command measures the rest."
    return "nothing is saved: with --json PATH what is measured is saved, and the same command goes on."


def show(result: BenchResult, options: BenchOptions, within: Within | None) -> None:
    """Print what the result says; write the rows and the figures that were asked for."""
    found = BenchFindings(result)
    if options.csv:
        write_file(options.csv, dump_csv(found))
    if write_json(options.json, dump_report(result, within)):
        _print_rows(table(found))
        print_line()
        print_line("\n".join(conclusion(result, within)))
    for path in write_bench_plots(options.plots, result) if options.plots else ():
        note(f"wrote {path}")


def _print_rows(rows: Sequence[dict[str, Cell]]) -> None:
    if rows:
        print_table(list(rows[0]), (list(row.values()) for row in rows))
