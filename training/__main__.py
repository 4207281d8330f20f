"""Train the bundled family step by step, as recipe.yaml says: python -m training FOLDER STEP ...

FOLDER has the corpus; each step writes FOLDER/STEP. training/README.md explains.
"""

import argparse
import os
import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import yaml
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

from specviz.core.errors import InputError
from specviz.models.catalogue import weights_hash
from specviz.models.loading import load_model
from training.chats import batch_of, endless, frequent_words, held_out_guesses, load_chats
from training.data import Domain, Mixture, read_corpus, read_documents, say, train_tokenizer
from training.eagle import Eagle
from training.heads import WEIGHTS, Batch, Head, Medusa, go_on_from, head_objective, held_out_head_losses, save_head
from training.lessons import load_lessons, read_with, written_rows
from training.loop import Objective, Plan, Progress, Rates, distil, next_token, train
from training.report import describe_run, held_out_losses, read_log, save_model
from training.shapes import averaged, load_llama, new_model, with_layers
from training.write_chats import write_chats

STARTED_FROM = 250  # chats that a head's linear start is computed from
JUDGED_CHATS = 40  # held-out chats that a head is judged on


def main() -> int:
    """Make these steps; 0 done, 2 bad input (one sentence on standard error)."""
    recipe = yaml.safe_load(Path(__file__).with_name("recipe.yaml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("steps", nargs="+", choices=recipe, metavar="STEP", help=f"of {', '.join(recipe)}")
    parser.add_argument("--until", type=time_of_day, help="a time of today, like 12:40: the latest end of a run")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    try:
        for name in options.steps:
            step = Step(name=name, folder=options.folder, until=options.until, **recipe[name])
            getattr(step, step.make)()
    except InputError as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    return 0


def time_of_day(text: str) -> float:
    """As seconds since the epoch."""
    return datetime.combine(datetime.now().date(), datetime.strptime(text, "%H:%M").time()).timestamp()


class Step(SimpleNamespace):
    """A step, with what the recipe says of it; each method makes one kind of step."""

    @property
    def out(self) -> Path:
        return self.path(self.name)

    def path(self, name: str) -> Path:
        """What another step has made."""
        found: Path = self.folder / name
        return found

    def tokenizer(self) -> None:
        """A byte-level BPE over the corpus."""
        documents = read_documents(self.path("corpus"))
        train_tokenizer((text for found in documents.values() for text in found), self.vocabulary, self.out)

    def target(self) -> None:
        """A target from random weights, or from these layers of `start`, or from all of them."""
        about: dict[str, Any] = {"objective": "next token", "mix": self.mix, "rows": self.rows, "length": self.length}
        if self.start:
            model = self._layers_of_start()
            about |= {"grown_from": {"layers": self.layers or "all", "log": read_log(self.path(self.start))}}
        else:
            model = new_model(self.depth, self.width, self._tokenizer().get_vocab_size(), seed=self.seed)
        self._train(model, next_token(self._mixture(), self.rows, self.length), self.rows * self.length, about)

    def average(self) -> None:
        """The mean of models that were trained from the same one, with the share of each."""
        model = averaged([load_llama(self.path(name)) for name in self.models], list(self.models.values()))
        logs = [{"model": name, "log": read_log(self.path(name))} for name in self.models]
        about: dict[str, Any] = {"average_of": logs, "shares": list(self.models.values())}
        about |= {"held_out_loss": held_out_losses(model, self._domains())}
        save_model(model, self.path("tokenizer"), self.out, about)

    def lessons(self) -> None:
        """Texts with a target's last hidden states: of the corpus, or those that the target writes."""
        mixture, target = self._mixture(), load_llama(self.path(self.teacher))
        if self.writes:
            ids = written_rows(target, mixture, self.rows, self.length, self.seed)
        else:
            ids = mixture.batch(0, self.rows, self.length)[:, :-1]
        made = read_with(target, ids)
        how = {"rows": self.rows, "written_by_the_target": self.rows if self.writes else 0, "length": self.length}
        made.about.append(how | {"seed": self.seed, "mix": self.mix})
        made.save(self.out)

    def draft(self) -> None:
        """A draft from layers of a target, or a draft to train further, distilled on lessons."""
        lessons = load_lessons(map(self.path, self.read))
        about = {"objective": "KL from the target", "started_from": self.start, "layers": self.layers}
        about |= {"lesson_tokens": lessons.ids.numel(), "lessons": lessons.about}
        if not self.layers:  # a draft that is trained further: its log also describes the earlier run
            about |= {"before": read_log(self.path(self.start))}
        objective, tokens = distil(lessons, self.rows, self.seed), self.rows * lessons.ids.shape[1]
        self._train(self._layers_of_start(), objective, tokens, about)

    def eagle(self) -> None:
        """A head on a target, distilled on lessons, that starts from the first layer of `start`."""
        self._head(Eagle(load_llama(self.path(self.start)), self.width), {"started_from": self.start})

    def medusa(self) -> None:
        """Several heads on a target, distilled on lessons."""
        self._head(Medusa(load_llama(self.path(self.teacher)).config.hidden_size), {})

    def _head(self, model: Head, about: dict[str, Any]) -> None:
        lessons, target = load_lessons(map(self.path, self.read)), load_llama(self.path(self.teacher))
        about |= {"objective": "KL from the target", "guesses": self.guesses, "judged_share": self.share}
        about |= {"lesson_tokens": lessons.ids.numel(), "lessons": lessons.about} | self._go_on(model)

        def batches(step: int) -> Batch:
            ids, states = lessons.batch(step, self.rows, self.seed)
            return ids, states, torch.ones(ids.shape)

        objective = head_objective(batches, lessons.weight, self.share, WEIGHTS[: self.guesses])
        progress = train(model, objective, self._plan(), self.out / "checkpoint.pt")
        about |= {"held_out_loss": held_out_head_losses(model, target, self._domains()), "seed": self.seed}
        say(f"held-out losses of each guess {about['held_out_loss']}")
        log = describe_run(self._plan(), progress, self.rows * lessons.ids.shape[1], **about)
        save_head(model, target, self.teacher, weights_hash(self.path(self.teacher)), self.out, log)

    def chats(self) -> None:
        """A chat model's own chats with its last hidden states, for training a head on it."""
        write_chats(load_model(self.teacher), self.out, self.count, self.seed, self.until)

    def chat_head(self) -> None:
        """A head on a chat model, distilled on its chats; stored at `marks` thousands of tokens, as if it ended."""
        target, chats = load_model(self.teacher), load_chats(self.path(self.read))
        words = frequent_words(chats, self.words)
        model = Eagle(target.model, self.width, layer=target.model.config.num_hidden_layers - 1, vocabulary=words)
        about = {"objective": "KL from the target over its frequent words", "started_from": "ridge"}
        about |= {"guesses": self.guesses, "judged_share": self.share, "words": self.words, "seed": self.seed}
        about |= self._go_on(model)
        if not self.earlier:
            model.start_linear([(chat.ids[:-1], chat.states) for chat in chats[:STARTED_FROM] if not chat.is_held_out])
        weight = target.model.lm_head.weight.detach().float()[words]
        judged = [chat for chat in chats if chat.is_held_out][:JUDGED_CHATS]
        seen, marks = list[int](), [mark for mark in self.marks if not (self.out / f"{mark}k").is_dir()]
        stream = endless(partial(load_chats, self.path(self.read)), self.tokens, self.seed)

        def batches(step: int) -> Batch:
            while len(seen) <= step:  # a run that goes on passes over what it has seen
                group = next(stream)
                seen.append(sum(len(chat.states) for chat in group))
            return batch_of(group)

        def store(folder: Path, progress: Progress) -> None:
            found = held_out_guesses(model, judged, weight, len(WEIGHTS))
            say(f"{sum(seen)} tokens, held-out guesses {found}")
            log = describe_run(self._plan(), progress, self.tokens, **about, held_out=found)
            log |= {"tokens_seen": sum(seen)}
            save_head(model, target.model, target.name, target.info.weights_hash, folder, log)

        def at_marks(progress: Progress) -> None:
            if marks and sum(seen) >= 1000 * marks[0]:
                store(self.out / f"{marks.pop(0)}k", progress)

        at_marks(Progress())
        objective = head_objective(batches, weight, self.share, WEIGHTS[: self.guesses])
        store(self.out, train(model, objective, self._plan(), self.out / "checkpoint.pt", at_marks))

    def _train(self, model: Any, objective: Objective[Any], tokens_a_step: int, about: dict[str, Any]) -> None:
        progress = train(model, objective, self._plan(), self.out / "checkpoint.pt")
        about |= {"seed": self.seed, "held_out_loss": held_out_losses(model, self._domains())}
        say(f"held-out losses {about['held_out_loss']}")
        log = describe_run(self._plan(), progress, tokens_a_step, **about)
        save_model(model, self.path("tokenizer"), self.out, log)

    def _plan(self) -> Plan:
        rates = Rates(**self.rates)
        return Plan(self.steps, rates, until=self.until, save_every=self.save_every, average=self.average_over)

    def _go_on(self, model: Head) -> dict[str, Any]:
        """Give the head the weights of an earlier run; what its log says then."""
        if not self.earlier:
            return {}
        go_on_from(model, self.path(self.earlier))
        return {"before": read_log(self.path(self.earlier))}

    def _layers_of_start(self) -> LlamaForCausalLM:
        source = load_llama(self.path(self.start))
        return with_layers(source, self.layers or range(source.config.num_hidden_layers))

    def _tokenizer(self) -> Tokenizer:
        file = self.path("tokenizer/tokenizer.json")
        if not file.is_file():
            raise InputError(f"There is no tokenizer at {file}.")
        return Tokenizer.from_file(str(file))

    def _domains(self) -> list[Domain]:
        return read_corpus(self.path("corpus"), self._tokenizer(), self.path("corpus.pt"))

    def _mixture(self) -> Mixture:
        return Mixture({domain.name: domain.training for domain in self._domains()}, self.mix, self.seed)


if __name__ == "__main__":
    sys.exit(main())
