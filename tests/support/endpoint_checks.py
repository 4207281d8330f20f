"""What the program reads of a server's answers, beside what the raw text says: for stored answers and fresh ones."""

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import Trace
from specviz.systems import RecordOptions, import_run, read_counters
from tests.support.endpoint_records import Answered, Asked, Rounds
from tests.support.known import known


def imported(answer: Answered) -> Trace:
    return import_run(answer.content, answer.system, RecordOptions())


def totals(rounds: Rounds) -> tuple[int, int]:
    return sum(drafted for drafted, _ in rounds), sum(accepted for _, accepted in rounds)


def has_a_place_for_each_round(answer: Answered) -> bool:
    """Whether its rounds are known: vLLM does not say where steps without a draft were."""
    whole = answer.file.endswith(".json") and answer.system != "vllm"
    steps = sum(accepted + 1 for _, accepted in answer.rounds)
    return bool(answer.rounds) and not whole and (answer.system != "vllm" or steps + 1 >= answer.written)


def check_run(answer: Answered) -> None:
    """Its import has the server's rounds, text and ids."""
    trace = imported(answer)
    found = [(len(each.drafted), each.accepted) for each in trace.rounds if each.drafted]
    assert found == answer.written_rounds
    assert sum(each.emits for each in trace.rounds) == answer.written
    assert trace.output.text == answer.text
    whole = len(answer.ids) == answer.written  # llama.cpp leaves out ids of a character that several tokens write
    assert trace.output.token_ids == (answer.ids if whole else [])


def check_pasted_answer(answer: Answered) -> None:
    read, rounds, (drafted, counted) = read_counters(answer.content.decode()), answer.rounds, totals(answer.rounds)
    assert read.drafted == drafted
    if answer.system == "vllm":
        at_limit = any(choice["finish_reason"] == "length" for part in answer.parts for choice in part["choices"])
        kept = min(counted, answer.written - 1 - len(rounds))  # each round's own token counts as written
        assert read.accepted == (counted if at_limit else kept)
        assert read.tokens_per_target_call == pytest.approx(1 + known(read.accepted) / len(rounds))
    else:
        passes = answer.written - 1 - counted
        assert read.accepted == counted
        assert read.tokens_per_target_call == pytest.approx((answer.written - 1) / passes)


def check_pages(batch: Asked) -> None:
    """Two pages of counters, pasted one after the other, count what the answers between them say."""
    rounds = [each for answer in batch.good for each in answer.rounds]
    drafted, counted = totals(rounds)
    assert batch.grown("spec_decode_num_drafts_total") == len(rounds)
    assert batch.grown("spec_decode_num_draft_tokens_total") == drafted
    assert batch.grown("spec_decode_num_accepted_tokens_total") == counted
    pages = f"{batch.before}\n{batch.after}"
    if not rounds:
        with pytest.raises(InputError, match="nothing was drafted"):
            read_counters(pages)
        return
    written = sum(answer.written for answer in batch.good)
    # vLLM also counts what passed the ends of the answers, by position too: it was judged on the same text
    kept = counted if batch.system == "vllm" else min(counted, written - len(batch.good) - len(rounds))
    read = read_counters(pages)
    assert (read.drafted, read.accepted) == (drafted, kept)
    assert read.tokens_per_target_call == pytest.approx(1 + kept / len(rounds))
    requests = len(batch.good) if batch.system == "vllm" else 0  # llama.cpp does not count them: they look like passes
    assert read.drafting_share == pytest.approx(min(1.0, len(rounds) / (written - requests - kept)))


def check_log_of_vllm(log: str) -> None:
    last = log.split("SpecDecoding metrics:")[-1]
    drafted, accepted = (int(last.split(f"{word}: ")[1].split()[0]) for word in ("Drafted", "Accepted"))
    read = read_counters(log)
    assert (read.drafted, read.accepted) == (drafted, accepted)
    assert read.draft_length == pytest.approx(4)


def check_log_of_llama_cpp(log: str, answers: list[Answered]) -> None:
    """Also with the requests that drafted nothing, of which no line says what was accepted."""
    rounds = [each for answer in answers for each in answer.rounds]
    drafted, accepted = totals(rounds)
    written = sum(answer.written for answer in answers)
    read = read_counters(log)
    assert (read.drafted, read.accepted) == (drafted, accepted)
    passes = written - len(answers) - accepted if read.over_all_calls else len(rounds)
    assert read.tokens_per_target_call == pytest.approx(1 + accepted / passes, rel=0.002)
