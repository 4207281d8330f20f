"""Training on a corpus of a few lines: losses fall, runs resume to the bit, drafts come nearer, what is saved loads."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

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
from specviz.decoding import HeadDrafter
from specviz.models.heads import load_head
from training.__main__ import main
from training.data import Domain, Mixture, read_corpus, read_documents
from training.eagle import Eagle
from training.heads import head_objective, held_out_head_losses
from training.lessons import corpus_rows, load_lessons, read_with, written_rows
from training.loop import Plan, distil, next_token, states, train
from training.losses import distillation_loss, next_token_loss
from training.medusa import Medusa
from training.optimizers import Rates
from training.report import held_out_losses
from training.shapes import averaged, new_model, with_layers
from training.tokenizers import train_tokenizer

VOCABULARY = 300
RATES = Rates(warmup=5)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small gain nothing from more, and lose much on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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


@pytest.fixture(scope="module")
def trained(mixture: Mixture) -> tuple[LlamaForCausalLM, list[float]]:
    model = new_model(2, 32, VOCABULARY, heads=2, context=64)
    return model, train(model, next_token(mixture, 8, 32), Plan(60, RATES)).losses


def test_the_loss_falls(trained: tuple[LlamaForCausalLM, list[float]], domains: list[Domain]) -> None:
    model, losses = trained
    assert losses[-1] < losses[0] / 2
    assert max(held_out_losses(model, domains).values()) < losses[0] / 2


def test_an_interrupted_run_ends_with_the_same_weights(mixture: Mixture, tmp_path: Path) -> None:
    def run(*stops: int) -> dict[str, torch.Tensor]:
        checkpoint = tmp_path / f"{stops}.pt"
        for stop in stops:  # a new process each, as far as the run can tell
            model = new_model(1, 32, VOCABULARY, heads=2, context=64)
            # the schedule is of all 12 steps: a stop is a checkpoint cut out of the same run
            objective = next_token(mixture, 4, 16)
            _train_until(model, objective, stop, checkpoint)
        return model.state_dict()

    at_once, in_parts = run(12), run(5, 12)
    assert all(torch.equal(at_once[name], in_parts[name]) for name in at_once)


class _Cut(Exception):
    """The machine went away."""


def _train_until(model: LlamaForCausalLM, objective, stop: int, checkpoint: Path) -> None:  # type: ignore[no-untyped-def]
    def until_stop(one: LlamaForCausalLM, step: int) -> torch.Tensor:
        if step == stop:
            raise _Cut
        return objective(one, step)

    try:
        train(model, until_stop, Plan(12, RATES, save_every=5), checkpoint)
    except _Cut:
        assert checkpoint.is_file()


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


def test_a_grown_model_writes_what_its_source_writes(trained: tuple[LlamaForCausalLM, list[float]]) -> None:
    model, _ = trained
    grown = with_layers(model, [0, 0, 1, 1]).eval()
    ids = torch.arange(40).view(2, 20)
    assert grown.config.num_hidden_layers == 4
    assert torch.allclose(grown(ids).logits, model(ids).logits, atol=1e-5)


def test_an_average_lies_between_its_models() -> None:
    models = [new_model(1, 16, 30, heads=2, seed=seed) for seed in (1, 2)]
    mean = averaged(models, [3.0, 1.0]).lm_head.weight
    assert torch.allclose(mean, models[0].lm_head.weight * 0.75 + models[1].lm_head.weight * 0.25)
    with pytest.raises(InputError, match="same shape"):
        averaged([models[0], new_model(2, 16, 30, heads=2)], [1.0, 1.0])


def test_distilling_brings_a_draft_closer_to_the_target(
    trained: tuple[LlamaForCausalLM, list[float]], mixture: Mixture, tmp_path: Path
) -> None:
    target, _ = trained
    rows = torch.cat([corpus_rows(mixture, 24, 32), written_rows(target, mixture, 8, 32, seed=0)])
    read_with(target, rows).save(tmp_path / "lessons.pt")
    draft = with_layers(target, [1])
    before = _agreement(draft, target, rows)
    losses = train(draft, distil(load_lessons([tmp_path / "lessons.pt"]), 8, seed=0), Plan(40, RATES)).losses
    assert losses[-1] < losses[0] / 2
    assert _agreement(draft, target, rows) > before


def _agreement(one: LlamaForCausalLM, other: LlamaForCausalLM, rows: torch.Tensor) -> float:
    """Share of places at which both give the highest probability to the same token."""
    with torch.no_grad():
        choices = [(states(model, rows.long()) @ model.lm_head.weight.T).argmax(-1) for model in (one, other)]
    return (choices[0] == choices[1]).float().mean().item()


def test_a_pass_uses_each_row_once(trained: tuple[LlamaForCausalLM, list[float]], mixture: Mixture) -> None:
    lessons = read_with(trained[0], corpus_rows(mixture, 12, 8))
    one_pass = torch.cat([lessons.batch(step, 4, seed=0)[0] for step in range(3)])
    assert sorted(one_pass.tolist()) == sorted(lessons.ids.tolist())


def test_from_corpus_to_a_pair_that_decodes(corpus: Path, vocabulary: Path, tmp_path: Path) -> None:
    shared = ["--tokenizer", str(vocabulary), "--threads", "1"]
    course = [*shared, "--steps", "10", "--rows", "4", "--warmup", "2"]
    mix = ["--mix", "pets=1,places=1", "--length", "32"]
    target, draft, lessons = tmp_path / "target", tmp_path / "draft", tmp_path / "lessons.pt"
    assert main(["target", str(corpus), str(target), *course, *mix, "--depth", "2", "--width", "32"]) == 0
    commands = ["lessons", str(corpus), str(lessons), *shared, *mix, "--teacher", str(target), "--rows", "8"]
    assert main(commands) == 0
    sources = ["--lessons", str(lessons), "--start", str(target), "--layers", "0"]
    assert main(["draft", str(corpus), str(draft), *course, *sources]) == 0
    reshaped = tmp_path / "reshaped"
    start = ["--start", str(target), "--layers", "1", "--steps", "0"]
    assert main(["target", str(corpus), str(reshaped), *shared, *mix, *start]) == 0
    assert load_model(str(reshaped)).model.config.num_hidden_layers == 1
    log = json.loads((draft / "training.json").read_text())
    assert log["steps"] == 10
    assert log["started_from"] == "target"
    assert log["tokens_seen"] == 10 * 4 * 32
    how = {"rows": 8, "written_by_the_target": 0, "length": 32, "seed": 0}
    assert log["lessons"] == [how | {"mix": {"pets": 1.0, "places": 1.0}}]
    grown = json.loads((reshaped / "training.json").read_text())["grown_from"]
    assert grown["layers"] == [1]
    assert grown["log"] == json.loads((target / "training.json").read_text())
    assert set(log["held_out_loss"]) == {"pets", "places"}
    mean = tmp_path / "mean"
    shares = ["--models", str(draft), str(reshaped), "--shares", "0.5", "0.5"]
    assert main(["average", str(corpus), str(mean), *shared, *shares]) == 0
    assert json.loads((mean / "training.json").read_text())["average_of"][0] == {"model": "draft", "log": log}
    longer = tmp_path / "longer"
    more = ["--lessons", str(lessons), "--start", str(draft)]
    assert main(["draft", str(corpus), str(longer), *course, *more]) == 0
    assert json.loads((longer / "training.json").read_text())["before"] == log
    pair = load_model(str(target)), ModelDrafter(load_model(str(draft)))
    settings = DecodeSettings(max_new_tokens=8, stop_at_eos=False)
    assert len(speculative_decode(*pair, "The cat saw the", settings).output.token_ids) == 8


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tokenizer", "nowhere", "out"], "There is no corpus folder nowhere."),
        (["target", ".", "out", "--tokenizer", "nowhere"], "There is no tokenizer at nowhere/tokenizer.json."),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"training: {sentence}\n"


def test_a_corpus_must_hold_documents(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.txt files"):
        read_documents(tmp_path)
    (tmp_path / "one.txt").write_text("only one document\n")
    with pytest.raises(InputError, match="fewer than two documents"):
        read_documents(tmp_path)


@pytest.mark.parametrize(
    ("shares", "sentence"), [({"fish": 1.0}, "names fish"), ({"pets": -1.0}, "at least 0"), ({}, "at least 0")]
)
def test_a_mix_must_fit_the_corpus(domains: list[Domain], shares: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Mixture({domain.name: domain.training for domain in domains}, shares, seed=0)


def test_rows_longer_than_the_corpus_are_refused(mixture: Mixture) -> None:
    with pytest.raises(InputError, match="do not fit"):
        mixture.batch(0, 1, 10**7)


@pytest.mark.parametrize("kind", ["eagle", "medusa"])
def test_a_head_learns_every_guess_of_a_round(
    kind: str, trained: tuple[LlamaForCausalLM, list[float]], mixture: Mixture, domains: list[Domain]
) -> None:
    target, _ = trained
    lessons = read_with(target, corpus_rows(mixture, 24, 32))
    head = Eagle(with_layers(target, [1]), width=24) if kind == "eagle" else Medusa(32)
    before = held_out_head_losses(head, target, domains[:1])
    train(head, head_objective(lessons, 8, seed=0, share=0.5), Plan(20, RATES))
    after = held_out_head_losses(head, target, domains[:1])
    assert set(after) == {"pets"}
    for name, losses in after.items():
        assert len(losses) == 4
        assert all(new < old for new, old in zip(losses, before[name], strict=True))


def test_the_loss_of_a_head_is_the_divergence_at_the_places_that_all_guesses_have(
    trained: tuple[LlamaForCausalLM, list[float]], mixture: Mixture
) -> None:
    """By definition, without slices: guess d at place j is compared with the target after token j + d + 1."""
    target, _ = trained
    lessons = read_with(target, corpus_rows(mixture, 4, 12))
    head = Eagle(with_layers(target, [1]), width=24)
    weights = (1.0, 0.5, 0.25)
    loss = head_objective(lessons, 4, seed=0, share=1.0, weights=weights)(head, 0)
    ids, taught = lessons.batch(0, 4, seed=0)
    wanted = (taught.float() @ lessons.weight.T).log_softmax(-1)
    total = 0.0
    for guess, (made, weight) in enumerate(zip(head.guesses(taught.float(), ids, 3), weights, strict=True)):
        log_q = (made @ lessons.weight.T).log_softmax(-1)
        places = [(row, after) for row in range(4) for after in range(3, 12)]
        each = [
            torch.nn.functional.kl_div(
                log_q[row, after - 1 - guess], wanted[row, after], log_target=True, reduction="sum"
            )
            for row, after in places
        ]
        total += weight * torch.stack(each).mean().item()
    assert loss.item() == pytest.approx(total / sum(weights), rel=0.03)


def test_from_a_target_to_heads_that_draft(corpus: Path, vocabulary: Path, tmp_path: Path) -> None:
    shared = ["--tokenizer", str(vocabulary), "--threads", "1"]
    course = [*shared, "--steps", "6", "--rows", "4", "--warmup", "2"]
    mix = ["--mix", "pets=1,places=1", "--length", "32"]
    target, lessons = tmp_path / "target", tmp_path / "lessons.pt"
    assert main(["target", str(corpus), str(target), *course, *mix, "--depth", "2", "--width", "32"]) == 0
    reading = [*shared, *mix, "--teacher", str(target), "--rows", "8"]
    assert main(["lessons", str(corpus), str(lessons), *reading]) == 0
    sources = ["--lessons", str(lessons), "--target", str(target)]
    loaded = load_model(str(target))
    settings = DecodeSettings(max_new_tokens=8, stop_at_eos=False)
    plain = autoregressive_decode(loaded, "The cat saw the", settings).output.token_ids
    for kind, more in (("eagle", ["--start", str(target), "--width", "32"]), ("medusa", [])):
        folder, longer = tmp_path / kind, tmp_path / f"{kind}-longer"
        assert main([kind, str(corpus), str(folder), *course, *sources, *more]) == 0
        again = ["--earlier", str(folder), "--guesses", "2"]
        assert main([kind, str(corpus), str(longer), *course, *sources, *more, *again]) == 0
        log = json.loads((longer / "training.json").read_text())
        assert log["before"] == json.loads((folder / "training.json").read_text())
        assert (log["guesses"], len(log["held_out_loss"]["pets"])) == (2, 4)
        drafter = HeadDrafter(load_head(kind, loaded, folder=longer))
        assert speculative_decode(loaded, drafter, "The cat saw the", settings).output.token_ids == plain
