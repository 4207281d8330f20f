"""Training on a corpus of a few lines: losses fall, runs resume to the bit, drafts come nearer, what is saved loads."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

from specviz import (
    DecodeSettings,
    InputError,
    ModelDrafter,
    autoregressive_decode,
    load_model,
    speculative_decode,
)
from specviz.decoding import Drafter, HeadDrafter
from specviz.models.heads import load_head
from training.__main__ import main
from training.chats import Chat, batch_of, endless, load_chats
from training.data import Domain, Mixture, read_corpus, read_documents, train_tokenizer
from training.eagle import Eagle
from training.heads import head_objective
from training.lessons import corpus_rows, read_with
from training.loop import Plan, Rates, next_token, train
from training.losses import distillation_loss, next_token_loss
from training.muon import Muon
from training.shapes import averaged, new_model, with_layers

VOCABULARY = 300
RATES = Rates(warmup=5)
COURSE = "--steps 10 --rows 4 --warmup 2"
MIX = "--mix pets=1,places=1 --length 32"
Command = Callable[[str, str, str], tuple[Path, Any]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kinds of text, 100 documents each."""
    folder, rng = tmp_path_factory.mktemp("corpus"), Random(0)
    for kind, words in {"pets": ["cat", "dog", "hen"], "places": ["pond", "park", "hill"]}.items():
        documents = [
            "\n".join(f"The {rng.choice(words)} saw the {rng.choice(words)}." for _ in range(12)) for _ in range(100)
        ]
        (folder / f"{kind}.txt").write_text("\n<|endoftext|>\n".join(documents))
    return folder


@pytest.fixture(scope="module")
def vocabulary(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tokenizer of that corpus."""
    folder = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer((text for texts in read_documents(corpus).values() for text in texts), VOCABULARY, folder)
    return folder


@pytest.fixture(scope="module")
def domains(corpus: Path, vocabulary: Path) -> list[Domain]:
    return read_corpus(corpus, Tokenizer.from_file(str(vocabulary / "tokenizer.json")))


@pytest.fixture(scope="module")
def mixture(domains: list[Domain]) -> Mixture:
    return Mixture({domain.name: domain.training for domain in domains}, {"pets": 2, "places": 1}, seed=0)


def test_an_interrupted_run_ends_with_the_same_weights(mixture: Mixture, tmp_path: Path) -> None:
    objective = next_token(mixture, 4, 16)

    def run(checkpoint: Path, cut_at: int | None = None) -> dict[str, torch.Tensor]:
        def until_cut(model: LlamaForCausalLM, step: int) -> torch.Tensor:
            if step == cut_at:
                raise KeyboardInterrupt
            return objective(model, step)

        model = new_model(1, 32, VOCABULARY, heads=2, context=64)
        with suppress(KeyboardInterrupt):
            train(model, until_cut, Plan(12, RATES, save_every=5), checkpoint)
        return model.state_dict()

    at_once = run(tmp_path / "once.pt")
    losses = torch.load(tmp_path / "once.pt", weights_only=True)["progress"]["losses"]
    assert losses[-1] < losses[0]
    run(tmp_path / "parts.pt", cut_at=7)
    assert (tmp_path / "parts.pt").is_file()
    in_parts = run(tmp_path / "parts.pt")
    assert all(torch.equal(at_once[name], in_parts[name]) for name in at_once)


def test_a_grown_model_writes_what_its_source_writes_and_an_average_lies_between_its_models() -> None:
    one, other = (new_model(2, 16, 30, heads=2, seed=seed).eval() for seed in (1, 2))
    ids, grown = torch.arange(30).view(2, 15), with_layers(one, [0, 0, 1, 1]).eval()
    assert grown.config.num_hidden_layers == 4
    assert torch.allclose(grown(ids).logits, one(ids).logits, atol=1e-5)
    mean = averaged([one, other], [3.0, 1.0]).lm_head.weight
    assert torch.allclose(mean, one.lm_head.weight * 0.75 + other.lm_head.weight * 0.25)
    with pytest.raises(InputError, match="same shape"):
        averaged([one, grown], [1.0, 1.0])


def test_the_sliced_losses_equal_the_plain_ones() -> None:
    """Values and gradients, to bfloat16's precision."""
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(600, 16, generator=generator, requires_grad=True)
    weight = torch.randn(50, 16, generator=generator, requires_grad=True)
    labels = torch.randint(50, (600,), generator=generator)
    taught, teacher = torch.randn(600, 24, generator=generator), torch.randn(50, 24, generator=generator)
    log_p, log_q = (taught @ teacher.T).log_softmax(-1), (hidden @ weight.T).log_softmax(-1)
    plain = {
        next_token_loss(hidden, weight, labels): torch.nn.functional.nll_loss(log_q, labels),
        distillation_loss(hidden, weight, taught, teacher): (log_p.exp() * (log_p - log_q)).sum(-1).mean(),
    }
    for ours, theirs in plain.items():
        assert ours.item() == pytest.approx(theirs.item(), rel=0.01)
        for one, other in zip(_gradients(ours, hidden, weight), _gradients(theirs, hidden, weight), strict=True):
            assert (one - other).norm() < 0.02 * other.norm()


def _gradients(loss: torch.Tensor, *of: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(loss, of, retain_graph=True)


@pytest.fixture(scope="module")
def command(corpus: Path, vocabulary: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs a command of `python -m training` on the corpus; returns what it made and, where there is one, its log."""
    folder = tmp_path_factory.mktemp("made")

    def run(kind: str, name: str, options: str) -> tuple[Path, Any]:
        arguments = [kind, str(corpus), str(folder / name), "--tokenizer", str(vocabulary), "--threads", "1"]
        assert main([*arguments, *options.format(folder=folder).split()]) == 0
        log = folder / name / "training.json"
        return folder / name, json.loads(log.read_text()) if log.is_file() else None

    run("target", "target", f"{COURSE} {MIX} --depth 2 --width 32")
    run("lessons", "lessons.pt", f"{MIX} --teacher {{folder}}/target --rows 8")
    return run


def written(target: Path, drafter: Drafter | None) -> list[int]:
    settings, loaded = DecodeSettings(max_new_tokens=8, stop_at_eos=False), load_model(str(target))
    text = "The cat saw the"
    if drafter:
        return speculative_decode(loaded, drafter, text, settings).output.token_ids
    return autoregressive_decode(loaded, text, settings).output.token_ids


def test_from_corpus_to_a_pair_that_decodes(command: Command) -> None:
    lessons = "--lessons {folder}/lessons.pt"
    draft, log = command("draft", "draft", f"{COURSE} {lessons} --start {{folder}}/target --layers 0")
    assert (log["steps"], log["started_from"], log["tokens_seen"]) == (10, "target", 10 * 4 * 32)
    how = {"rows": 8, "written_by_the_target": 0, "length": 32, "seed": 0}
    assert log["lessons"] == [how | {"mix": {"pets": 1.0, "places": 1.0}}]
    reshaped, about = command("target", "reshaped", f"{MIX} --start {{folder}}/target --layers 1 --steps 0")
    assert load_model(str(reshaped)).model.config.num_hidden_layers == 1
    target = reshaped.with_name("target")
    assert about["grown_from"] == {"layers": [1], "log": json.loads((target / "training.json").read_text())}
    assert set(about["held_out_loss"]) == {"pets", "places"}
    _, mean = command("average", "mean", "--models {folder}/draft {folder}/reshaped --shares 0.5 0.5")
    assert mean["average_of"][0] == {"model": "draft", "log": log}
    _, longer = command("draft", "longer", f"{COURSE} {lessons} --start {{folder}}/draft")
    assert longer["before"] == log
    assert written(target, ModelDrafter(load_model(str(draft)))) == written(target, None)


@pytest.mark.parametrize(("kind", "more"), [("eagle", "--start {folder}/target --width 32"), ("medusa", "")])
def test_from_a_target_to_heads_that_draft(kind: str, more: str, command: Command) -> None:
    sources = f"{COURSE} --lessons {{folder}}/lessons.pt --target {{folder}}/target {more}"
    first, before = command(kind, kind, sources)
    longer, log = command(kind, f"{kind}-longer", f"{sources} --earlier {first} --guesses 2")
    assert log["before"] == before
    assert (log["guesses"], len(log["held_out_loss"]["pets"])) == (2, 4)
    target = first.with_name("target")
    drafter = HeadDrafter(load_head(kind, load_model(str(target)), folder=longer))
    assert written(target, drafter) == written(target, None)


TEMPLATE = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</>{% endfor %}<assistant>"


@pytest.fixture(scope="module")
def chats(command: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of chats, and that of the target that wrote them."""
    target, folder = tmp_path_factory.mktemp("speaker"), tmp_path_factory.mktemp("chats")
    made, _ = command("target", "speaker", f"{COURSE} {MIX} --depth 2 --width 32")
    shutil.copytree(made, target, dirs_exist_ok=True)
    (target / "chat_template.jinja").write_text(TEMPLATE)
    assert main(f"chats {folder} --target {target} --threads 1 --chats 60 --seed 3".split()) == 0
    return folder, target


def test_chats_are_the_targets_own_with_its_states(chats: tuple[Path, Path]) -> None:
    folder, target = chats
    loaded, found = load_model(str(target)), load_chats(folder)
    assert len(found) >= 60
    greedy = 0
    for chat in found:
        ids = chat.ids.long()
        with torch.no_grad():
            states = loaded.model.model(ids[None, :-1]).last_hidden_state[0]
        assert torch.allclose(chat.states.float(), states, atol=0.02)
        text = loaded.tokens.decode(ids[: chat.answer].tolist())
        assert text.startswith("<user>")
        assert text.endswith("</><assistant>")
        expected = (states @ loaded.model.lm_head.weight.T).argmax(-1)
        greedy += bool((expected[chat.answer - 1 :] == ids[chat.answer :]).float().mean() > 0.99)
    assert len(found) / 2 < greedy < len(found), "most answers are greedy, some are drawn"


def test_from_chats_to_a_head_of_few_words_that_drafts(chats: tuple[Path, Path], tmp_path: Path) -> None:
    folder, target = chats
    how = f"--target {target} --threads 1 --tokens 900 --words 50 --width 32 --warmup 2 --average 4"
    assert main(f"chat-head {folder} {tmp_path}/head {how} --steps 12 --marks 1 1000 --seed 2".split()) == 0
    first, last = (json.loads((tmp_path / each / "training.json").read_text()) for each in ("head/0k", "head"))
    assert (first["tokens_seen"], last["steps"], last["words"]) == (0, 12, 50)
    assert last["held_out"]["divergence"][0] < first["held_out"]["divergence"][0]
    assert {each.name for each in (tmp_path / "head").iterdir() if each.is_dir()} == {"0k", "1k"}
    loaded = load_model(str(target))
    drafter = HeadDrafter(load_head("tiny", loaded, folder=tmp_path / "head"))
    assert written(target, drafter) == written(target, None)
    assert len(drafter.head.network.words) == 50
    earlier = f"--earlier {tmp_path}/head --steps 0"
    assert main(f"chat-head {folder} {tmp_path}/longer {how} {earlier}".split()) == 0
    longer = json.loads((tmp_path / "longer" / "training.json").read_text())
    assert (longer["before"], longer["held_out"]) == (last, last["held_out"])


def test_a_chat_is_judged_at_its_own_places_whatever_is_beside_it() -> None:
    def chat(user: int, answer: int, length: int) -> Chat:
        return Chat(torch.arange(length, dtype=torch.int32), torch.ones(length - 1, 3).half(), user, answer)

    ids, states, often = batch_of([chat(2, 4, 8), chat(1, 3, 5)])
    assert ids.tolist() == [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 0, 0, 0]]
    assert states[1, :, 0].tolist() == [1, 1, 1, 1, 0, 0, 0]
    rest = pytest.approx(0.3)
    assert often.tolist() == [[0, rest, rest, 1, 1, 1, 1], [rest, rest, 1, 1, 0, 0, 0]]


def test_each_chat_is_used_once_a_turn_and_a_held_out_one_never() -> None:
    made = [Chat(torch.tensor([number] * (2 + number % 5)), torch.ones(1, 1), 0, 0) for number in range(1, 60)]
    taught = {int(chat.ids[0]) for chat in made if not chat.is_held_out}
    stream, seen = endless(lambda: made, 20, seed=0), list[int]()
    while len(seen) < 3 * len(taught):
        group = next(stream)
        assert len(group) * max(len(chat.ids) for chat in group) <= 20
        seen += [int(chat.ids[0]) for chat in group]
    turns = [seen[start : start + len(taught)] for start in range(0, len(seen), len(taught))]
    assert all(set(turn) == taught for turn in turns[:3])
    assert turns[0] != turns[1]
    assert len(taught) < len(made)


def test_our_muon_moves_a_matrix_as_torchs_does() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape in ((24, 60), (60, 24)):
        start, one, other = (
            torch.randn(shape, generator=generator),
            *(torch.nn.Parameter(torch.zeros(shape)) for _ in "ab"),
        )
        ours, theirs = Muon([one], lr=0.1, weight_decay=0.1), torch.optim.Muon([other], lr=0.1, weight_decay=0.1)
        one.data, other.data = start.clone(), start.clone()
        for _ in range(3):
            one.grad = torch.randn(shape, generator=generator)
            other.grad = one.grad.clone()
            ours.step()
            theirs.step()
        assert (one - other).norm() < 0.02 * (other - start).norm()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("chat-head . out --target wren-nano", "The folder . has no chats."),
        ("chats out --target wren-nano", "wren-nano writes no chats: they need a chat template and our forward pass."),
        ("tokenizer nowhere out", "There is no corpus folder nowhere."),
        ("target . out --tokenizer nowhere", "There is no tokenizer at nowhere/tokenizer.json."),
    ],
)
def test_a_bad_command_is_one_sentence(
    arguments: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments.split()) == 2
    assert capsys.readouterr().err == f"training: {sentence}\n"


def test_a_corpus_fits_its_mix_and_rows(tmp_path: Path, domains: list[Domain], mixture: Mixture) -> None:
    with pytest.raises(InputError, match=r"no \.txt files"):
        read_documents(tmp_path)
    (tmp_path / "one.txt").write_text("only one document\n")
    with pytest.raises(InputError, match="fewer than two documents"):
        read_documents(tmp_path)
    texts = {domain.name: domain.training for domain in domains}
    for shares, sentence in (({"fish": 1.0}, "names fish"), ({"pets": -1.0}, "at least 0"), ({}, "at least 0")):
        with pytest.raises(InputError, match=sentence):
            Mixture(texts, shares, seed=0)
    with pytest.raises(InputError, match="do not fit"):
        mixture.batch(0, 1, 10**7)


def test_the_loss_of_a_head_is_the_divergence_where_all_guesses_are(mixture: Mixture) -> None:
    """By definition, without slices: guess d at place j is compared with the target after token j + d + 1."""
    target = new_model(2, 32, VOCABULARY, heads=2, context=64)
    lessons = read_with(target, corpus_rows(mixture, 4, 12))
    head = Eagle(with_layers(target, [1]), width=24)
    weights = (1.0, 0.5, 0.25)
    loss = head_objective(lessons, 4, seed=0, share=1.0, weights=weights)(head, 0)
    ids, taught = lessons.batch(0, 4, seed=0)
    wanted = (taught.float() @ lessons.weight.T).log_softmax(-1)
    total = 0.0
    for guess, (made, weight) in enumerate(zip(head.guesses(taught.float(), ids, 3), weights, strict=True)):
        log_q = (made @ lessons.weight.T).log_softmax(-1)
        guessed = log_q[:, 2 - guess : 11 - guess]  # before the tokens at the places 3 to 11
        apart = torch.nn.functional.kl_div(guessed, wanted[:, 3:12], log_target=True, reduction="none")
        total += weight * apart.sum(-1).mean().item()
    assert loss.item() == pytest.approx(total / sum(weights), rel=0.03)
