"""`python -m training`: train a tokenizer, a target, and drafts for it. training/README.md explains."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from benchmarks.timing import add_options
from specviz.core.errors import InputError
from specviz.models.catalogue import weights_hash
from specviz.models.loading import load_model
from training.chats import chat_objective, endless, frequent_words, held_out_guesses, load_chats
from training.data import Domain, Mixture, read_corpus, read_documents, train_tokenizer
from training.eagle import Eagle
from training.heads import WEIGHTS, Head, Medusa, go_on_from, head_objective, held_out_head_losses, save_head
from training.lessons import corpus_rows, load_lessons, read_with, written_rows
from training.loop import Objective, Plan, Progress, Rates, distil, next_token, train
from training.report import describe_run, held_out_losses, read_log, save_model
from training.shapes import averaged, load_llama, new_model, with_layers
from training.write_chats import write_chats

STARTED_FROM = 250  # chats that a head's linear start is computed from
JUDGED_CHATS = 40  # held-out chats that a head is judged on


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 done, 2 bad input (one sentence on standard error)."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    try:
        options.command(options)
        return 0
    except InputError as error:
        print(f"training: {error}", file=sys.stderr)
        return 2


def _say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


def _tokenizer(options: argparse.Namespace) -> None:
    """A byte-level BPE over the corpus."""
    documents = read_documents(options.corpus)
    texts = (text for found in documents.values() for text in found)
    train_tokenizer(texts, options.vocabulary, options.out)


def _target(options: argparse.Namespace) -> None:
    """A target from random weights, or grown from --start: its --layers in order, or all of them --times."""
    domains = _domains(options)
    mixture = Mixture({domain.name: domain.training for domain in domains}, _mix(options.mix), options.seed)
    if options.start:
        source = load_llama(options.start)
        each = range(source.config.num_hidden_layers)
        model = with_layers(source, options.layers or [layer for layer in each for _ in range(options.times)])
    else:
        vocabulary = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json")).get_vocab_size()
        model = new_model(options.depth, options.width, vocabulary, seed=options.seed)
    objective = next_token(mixture, options.rows, options.length)
    about = {"objective": "next token", "mix": _mix(options.mix), "rows": options.rows, "length": options.length}
    if options.start:
        layers = options.layers or f"{options.times} times each"
        about |= {"grown_from": {"layers": layers, "log": read_log(options.start)}}
    _run(model, objective, domains, options, options.rows * options.length, about)


def _average(options: argparse.Namespace) -> None:
    """The mean of models that were trained from the same one."""
    model = averaged([load_llama(folder) for folder in options.models], options.shares)
    losses = held_out_losses(model, _domains(options))
    logs = [{"model": folder.name, "log": read_log(folder)} for folder in options.models]
    about = {"average_of": logs, "shares": options.shares}
    save_model(model, options.tokenizer, options.out, about | {"held_out_loss": losses})


def _lessons(options: argparse.Namespace) -> None:
    """Texts with a target's last hidden states; --written is the share of rows that the target writes itself."""
    mixture = Mixture({d.name: d.training for d in _domains(options)}, _mix(options.mix), options.seed)
    teacher = load_llama(options.teacher)
    written = round(options.rows * options.written)
    parts = [corpus_rows(mixture, options.rows - written, options.length)] if written < options.rows else []
    if written:
        parts.append(written_rows(teacher, mixture, written, options.length, options.seed, _say))
    lessons = read_with(teacher, torch.cat(parts), _say)
    how = {"rows": options.rows, "written_by_the_target": written, "length": options.length, "seed": options.seed}
    lessons.about.append(how | {"mix": _mix(options.mix)})
    lessons.save(options.out)


def _draft(options: argparse.Namespace) -> None:
    """A draft from layers of a target, or a draft to train further, distilled on lessons."""
    domains, lessons = _domains(options), load_lessons(options.lessons)
    source = load_llama(options.start)
    model = with_layers(source, options.layers or range(source.config.num_hidden_layers))
    about = {"objective": "KL from the target", "started_from": options.start.name, "layers": options.layers}
    about |= {"lesson_tokens": lessons.ids.numel(), "lessons": lessons.about}
    if not options.layers:  # a draft that is trained further: its log also describes the earlier run
        about |= {"before": read_log(options.start)}
    objective = distil(lessons, options.rows, options.seed)
    _run(model, objective, domains, options, options.rows * lessons.ids.shape[1], about)


def _eagle(options: argparse.Namespace) -> None:
    """A head on a target, distilled on lessons, that starts from the first layer of --start."""
    model = Eagle(load_llama(options.start), options.width)
    _train_head(model, options, {"started_from": options.start.resolve().name})


def _medusa(options: argparse.Namespace) -> None:
    """Several heads on a target, distilled on lessons."""
    target = load_llama(options.target)
    _train_head(Medusa(target.config.hidden_size), options, {})


def _train_head(model: Head, options: argparse.Namespace, about: dict[str, Any]) -> None:
    domains, lessons, target = _domains(options), load_lessons(options.lessons), load_llama(options.target)
    about |= {"objective": "KL from the target", "guesses": options.guesses, "judged_share": options.share}
    about |= {"lesson_tokens": lessons.ids.numel(), "lessons": lessons.about, "seed": options.seed}
    if options.earlier:
        go_on_from(model, options.earlier)
        about |= {"before": read_log(options.earlier)}
    objective = head_objective(lessons, options.rows, options.seed, options.share, WEIGHTS[: options.guesses])
    plan = _plan(options)
    progress = train(model, objective, plan, options.out / "checkpoint.pt", _say)
    about |= {"held_out_loss": held_out_head_losses(model, target, domains)}
    _say(f"held-out losses of each guess {about['held_out_loss']}")
    log = describe_run(plan, progress, options.rows * lessons.ids.shape[1], **about)
    name, digest = options.target.resolve().name, weights_hash(options.target)
    save_head(model, target, name, digest, options.out, log)


def _chats(options: argparse.Namespace) -> None:
    """A chat model's own chats with its last hidden states, for training a head on it."""
    end = _until(options.until)
    target = load_model(options.target)
    write_chats(target, options.out, options.chats, options.seed, _say, lambda: end is not None and time.time() > end)


def _chat_head(options: argparse.Namespace) -> None:
    """A head (eagle) on a chat model, distilled on its chats; stored at --marks thousands of tokens, as if it ended."""
    target, chats = load_model(options.target), load_chats(options.chats)
    words = frequent_words(chats, options.words)
    model = Eagle(target.model, options.width, layer=target.model.config.num_hidden_layers - 1, vocabulary=words)
    if options.earlier:
        go_on_from(model, options.earlier)
    else:
        model.start_linear([(chat.ids[:-1], chat.states) for chat in chats[:STARTED_FROM] if not chat.is_held_out])
    weight = target.model.lm_head.weight.detach().float()[words]
    seen, plan = list[int](), _plan(options)
    stream = endless(partial(load_chats, options.chats, options.most), options.tokens, options.seed)
    objective = chat_objective(stream, weight, options.share, WEIGHTS[: options.guesses], seen)
    judged = [chat for chat in chats if chat.is_held_out][:JUDGED_CHATS]
    about = {"objective": "KL from the target over its frequent words", "started_from": "ridge", "seed": options.seed}
    about |= {"guesses": options.guesses, "judged_share": options.share, "words": len(words)}
    about |= {"before": read_log(options.earlier)} if options.earlier else {}

    def store(folder: Path, progress: Progress) -> None:
        found = held_out_guesses(model, judged, weight, len(WEIGHTS))
        _say(f"{sum(seen)} tokens, held-out guesses {found}")
        log = describe_run(plan, progress, options.tokens, **about, held_out=found) | {"tokens_seen": sum(seen)}
        save_head(model, target.model, target.name, target.info.weights_hash, folder, log)

    marks = [mark for mark in (0, *options.marks) if not (options.out / f"{mark}k").is_dir()]

    def at_marks(progress: Progress) -> None:
        if marks and sum(seen) >= 1000 * marks[0]:
            store(options.out / f"{marks.pop(0)}k", progress)

    at_marks(Progress())
    progress = train(model, objective, plan, options.out / "checkpoint.pt", _say, at_marks)
    store(options.out, progress)


def _plan(options: argparse.Namespace) -> Plan:
    rates = Rates(options.muon, options.adam, warmup=options.warmup, hold=options.hold)
    average = getattr(options, "average", 0)
    return Plan(options.steps, rates, until=_until(options.until), save_every=options.save_every, average=average)


def _run(
    model: Any,
    objective: Objective[Any],
    domains: list[Domain],
    options: argparse.Namespace,
    tokens_a_step: int,
    about: dict[str, Any],
) -> None:
    plan = _plan(options)
    progress = train(model, objective, plan, options.out / "checkpoint.pt", _say)
    losses = held_out_losses(model, domains)
    _say(f"held-out losses {losses}")
    log = describe_run(plan, progress, tokens_a_step, **about, seed=options.seed, held_out_loss=losses)
    save_model(model, options.tokenizer, options.out, log)


def _domains(options: argparse.Namespace) -> list[Domain]:
    file = options.tokenizer / "tokenizer.json"
    if not file.is_file():
        raise InputError(f"There is no tokenizer at {file}.")
    return read_corpus(options.corpus, Tokenizer.from_file(str(file)), options.cache)


def _mix(text: str) -> dict[str, float]:
    try:
        return {name: float(share) for name, share in (part.split("=") for part in text.split(","))}
    except ValueError as error:
        raise InputError(f"The mix must look like tinystories=4,python=3, not {text!r}.") from error


def _until(text: str | None) -> float | None:
    if not text:
        return None
    try:
        hour = datetime.strptime(text, "%H:%M").time()
    except ValueError as error:
        raise InputError(f"--until must be a time of today such as 12:40, not {text!r}.") from error
    return datetime.combine(datetime.now().date(), hour).timestamp()


CORES = os.cpu_count() or 1
PLACES: dict[str, Any] = {"corpus": Path, "out": Path}
MIX = {"--mix": "tinystories=4,python=3,structured=1.5,prose=1.5", "--length": 256}
CORPUS = PLACES | {"--tokenizer": Path, "--cache": (Path, None)}


def _course(rates: Rates, rows: int) -> dict[str, Any]:
    """How a run goes. 0 steps only combine the layers; `--until`, like 12:40, is its latest end."""
    speeds = {"--muon": rates.muon, "--adam": rates.adam, "--warmup": rates.warmup, "--hold": rates.hold}
    return {"--steps": 2000, "--until": (str, None), "--rows": rows, **speeds, "--save-every": 100}


DISTILLED = {"--lessons": [Path], **_course(Rates(muon=0.015, adam=2e-3), rows=8)}
HEAD = CORPUS | DISTILLED | {"--target": Path, "--share": 0.4, "--guesses": 4, "--earlier": (Path, None)}
# What a command does, and its places and options as `add_options` takes them.
COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], None], dict[str, Any]]] = {
    "tokenizer": (_tokenizer, PLACES | {"--vocabulary": 4096}),
    "target": (
        _target,
        {**CORPUS, **_course(Rates(), rows=16), **MIX, "--start": (Path, None), "--times": 2}
        | {"--layers": ([int], None), "--depth": 8, "--width": 256},
    ),
    "average": (_average, CORPUS | {"--models": [Path], "--shares": [float]}),
    "lessons": (_lessons, CORPUS | MIX | {"--teacher": Path, "--rows": 4000, "--written": 0.0}),
    "draft": (_draft, CORPUS | DISTILLED | {"--rows": 16, "--start": Path, "--layers": ([int], None)}),
    "eagle": (_eagle, HEAD | {"--start": Path, "--width": 576}),
    "medusa": (_medusa, HEAD),
    "chats": (_chats, {"out": Path, "--target": str, "--chats": 2500, "--until": (str, None)}),
    "chat-head": (
        _chat_head,
        {"chats": Path, "out": Path, "--target": str, **_course(Rates(muon=0.01, adam=1e-3), rows=0)}
        | {"--tokens": 2048, "--most": (int, None), "--words": 8192, "--width": 1536, "--share": 0.6, "--guesses": 3}
        | {"--average": 30, "--marks": ([int], []), "--earlier": (Path, None)},
    ),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, (run, options) in COMMANDS.items():
        command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(command=run)
        add_options(command, {"--threads": CORES, "--seed": 0} | options)
    return parser


if __name__ == "__main__":
    sys.exit(main())
