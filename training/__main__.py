"""`python -m training`: train a tokenizer, a target, and drafts for it. training/README.md explains."""

import argparse
import os
import sys
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

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
    documents = read_documents(options.corpus)
    texts = (text for found in documents.values() for text in found)
    train_tokenizer(texts, options.vocabulary, options.out)


def _target(options: argparse.Namespace) -> None:
    domains = _domains(options)
    mixture = Mixture({domain.name: domain.training for domain in domains}, _mix(options.mix), options.seed)
    if options.start:
        source = load_llama(options.start)
        layers = range(source.config.num_hidden_layers)
        model = with_layers(source, options.layers or [layer for layer in layers for _ in range(options.times)])
    else:
        vocabulary = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json")).get_vocab_size()
        model = new_model(options.depth, options.width, vocabulary, seed=options.seed)
    objective = next_token(mixture, options.rows, options.length)
    about = {"objective": "next token", "mix": _mix(options.mix), "rows": options.rows, "length": options.length}
    if options.start:
        about |= {
            "grown_from": {"layers": options.layers or f"{options.times} times each", "log": read_log(options.start)}
        }
    _run(model, objective, domains, options, options.rows * options.length, about)


def _average(options: argparse.Namespace) -> None:
    model = averaged([load_llama(folder) for folder in options.models], options.shares)
    losses = held_out_losses(model, _domains(options))
    logs = [{"model": folder.name, "log": read_log(folder)} for folder in options.models]
    about = {"average_of": logs, "shares": options.shares}
    save_model(model, options.tokenizer, options.out, about | {"held_out_loss": losses})


def _lessons(options: argparse.Namespace) -> None:
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
    model = Eagle(load_llama(options.start), options.width)
    _train_head(model, options, {"started_from": options.start.resolve().name})


def _medusa(options: argparse.Namespace) -> None:
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
    end = _until(options.until)
    target = load_model(options.target)
    write_chats(target, options.out, options.chats, options.seed, _say, lambda: end is not None and time.time() > end)


def _chat_head(options: argparse.Namespace) -> None:
    """At each mark the head is stored as it would be if the run ended there."""
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    commands = parser.add_subparsers(required=True)
    _add_tokenizer(commands)
    _add_target(commands)
    _add_average(commands)
    _add_lessons(commands)
    _add_draft(commands)
    _add_heads(commands)
    _add_chat_head(commands)
    return parser


def _command(commands: Any, name: str, about: str, run: Any) -> Any:
    command = commands.add_parser(name, help=about, description=about)
    command.set_defaults(command=run)
    command.add_argument("corpus", type=Path, help="folder of .txt files, one for each kind of text")
    command.add_argument("out", type=Path)
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    command.add_argument("--seed", type=int, default=0)
    if name != "tokenizer":
        command.add_argument("--tokenizer", type=Path, required=True, help="folder with tokenizer.json")
        command.add_argument("--cache", type=Path, help="file that stores the corpus as token ids")
    return command


def _add_tokenizer(commands: Any) -> None:
    command = _command(commands, "tokenizer", "a byte-level BPE over the corpus", _tokenizer)
    command.add_argument("--vocabulary", type=int, default=4096)


def _add_target(commands: Any) -> None:
    command = _command(commands, "target", "a target, from random weights or grown from another", _target)
    _add_course(command, Rates(), rows=16)
    _add_mix(command, length=256)
    command.add_argument("--start", type=Path, help="model to grow; otherwise --depth and --width from random weights")
    command.add_argument(
        "--times", type=int, default=2, help="copies of each layer; all except the first add nothing at the start"
    )
    command.add_argument("--layers", type=int, nargs="+", help="instead of --times: layers of the start, in order")
    command.add_argument("--depth", type=int, default=8)
    command.add_argument("--width", type=int, default=256)


def _add_average(commands: Any) -> None:
    command = _command(commands, "average", "the mean of models that were trained from the same one", _average)
    command.add_argument("--models", type=Path, nargs="+", required=True)
    command.add_argument("--shares", type=float, nargs="+", required=True)


def _add_lessons(commands: Any) -> None:
    command = _command(commands, "lessons", "texts with a target's last hidden states, for training drafts", _lessons)
    _add_mix(command, length=256)
    command.add_argument("--teacher", type=Path, required=True)
    command.add_argument("--rows", type=int, default=4000)
    command.add_argument(
        "--written", type=float, default=0.0, help="share of rows that the target writes itself, 0 to 1"
    )


def _add_draft(commands: Any) -> None:
    command = _command(commands, "draft", "a draft from layers of a target, distilled on lessons", _draft)
    _add_course(command, Rates(muon=0.015, adam=2e-3), rows=16)
    command.add_argument("--lessons", type=Path, nargs="+", required=True)
    command.add_argument("--start", type=Path, required=True, help="the target, or a draft to train further")
    command.add_argument("--layers", type=int, nargs="+", help="layers of the start, in order; without it, all")


def _add_heads(commands: Any) -> None:
    for name, run in (("eagle", _eagle), ("medusa", _medusa)):
        command = _command(commands, name, f"a head ({name}) on a target, distilled on lessons", run)
        _add_course(command, Rates(muon=0.015, adam=2e-3), rows=8)
        command.add_argument("--lessons", type=Path, nargs="+", required=True)
        command.add_argument("--target", type=Path, required=True)
        command.add_argument("--share", type=float, default=0.4, help="of the places of a batch that are judged")
        command.add_argument("--guesses", type=int, default=4, choices=range(1, 5), help="of a round that are judged")
        command.add_argument("--earlier", type=Path, help="a head to train further")
        if name == "eagle":
            command.add_argument("--start", type=Path, required=True, help="a model whose first layer it starts from")
            command.add_argument("--width", type=int, default=576, help="of the feed-forward part")


def _chat_command(commands: Any, name: str, about: str, run: Any) -> Any:
    command = commands.add_parser(name, help=about, description=about)
    command.set_defaults(command=run)
    command.add_argument("--target", required=True, help="as the app calls it, or a path")
    command.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    command.add_argument("--seed", type=int, default=0)
    return command


def _add_chat_head(commands: Any) -> None:
    about = "a chat model's own chats with its last hidden states, for training a head on it"
    command = _chat_command(commands, "chats", about, _chats)
    command.add_argument("out", type=Path)
    command.add_argument("--chats", type=int, default=2500)
    command.add_argument("--until", help="time of day (12:40) at which it ends at the latest")
    about = "a head (eagle) on a chat model, with that model's embedding, distilled on its chats"
    command = _chat_command(commands, "chat-head", about, _chat_head)
    command.add_argument("chats", type=Path, help="folder of chats with the target's states")
    command.add_argument("out", type=Path)
    _add_course(command, Rates(muon=0.01, adam=1e-3), rows=0)
    command.add_argument("--tokens", type=int, default=2048, help="of a batch, at most")
    command.add_argument("--most", type=int, help="tokens of chats that are used; without it, all")
    command.add_argument("--words", type=int, default=8192, help="the most frequent ones, which it guesses")
    command.add_argument("--width", type=int, default=1536, help="of the feed-forward part")
    command.add_argument("--share", type=float, default=0.6, help="of the answers' places that are judged")
    command.add_argument("--guesses", type=int, default=3, choices=range(1, 5), help="of a round that are judged")
    command.add_argument("--average", type=int, default=30, help="steps over which the weights are averaged")
    command.add_argument("--marks", type=int, nargs="*", default=[], help="thousands of tokens at which it is stored")
    command.add_argument("--earlier", type=Path, help="a head to train further")


def _add_mix(command: Any, length: int) -> None:
    command.add_argument("--mix", default="tinystories=4,python=3,structured=1.5,prose=1.5")
    command.add_argument("--length", type=int, default=length, help="tokens a row")


def _add_course(command: Any, rates: Rates, rows: int) -> None:
    command.add_argument("--steps", type=int, default=2000, help="0 only combines the layers")
    command.add_argument("--until", help="time of day (12:40) at which the run and its schedule end at the latest")
    command.add_argument("--rows", type=int, default=rows, help="rows of a batch")
    command.add_argument("--muon", type=float, default=rates.muon, help="peak learning rate of the matrices")
    command.add_argument("--adam", type=float, default=rates.adam, help="of embeddings and norms")
    command.add_argument("--warmup", type=int, default=rates.warmup)
    command.add_argument("--hold", type=float, default=rates.hold, help="share of the run at the peak")
    command.add_argument("--save-every", type=int, default=100, help="steps between checkpoints")


if __name__ == "__main__":
    sys.exit(main())
