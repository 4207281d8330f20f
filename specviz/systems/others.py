"""Other tools: systems that are only other names for the same counts, and guidellm's file, which measures any system.

A system that needs code of its own to be read is not here: who has one writes its two counts by hand.
"""

from collections.abc import Sequence

from specviz.systems.benches import FAILED, ToolAnswer, ToolRun
from specviz.systems.counts import Counts
from specviz.systems.fields import NEEDED, Fields
from specviz.systems.finding import JsonObject
from specviz.systems.table import ANSWER, SystemNames, counts_of, records_of

# fmt: off
# Spec-Bench: evaluation/speed.py, as printed
ROWS = (SystemNames("Spec-Bench", needs=("#mean accepted tokens",), length=("#mean accepted tokens",)),)
# Fields of OpenAI's usage. Other servers have them with zeros: so they are asked last, and zeros are no record.
USAGE = SystemNames(
    "OpenAI API", needs=("accepted_prediction_tokens",), accepted=("accepted_prediction_tokens",),
    rejected=("rejected_prediction_tokens",), written=ANSWER, convention="from_written",
)
# fmt: on


def counts_in_usage(found: Sequence[JsonObject]) -> Counts | None:
    usage = records_of(USAGE, found)
    counted = any(record.number(USAGE.accepted) or record.number(USAGE.rejected) for record in usage)
    return counts_of(usage) if counted else None


def bench(values: Sequence[Fields]) -> list[ToolRun] | None:
    """The file of guidellm (0.3 to 0.5), which has several loads."""
    runs = values[0].every("benchmarks") if len(values) == 1 and values[0].has("benchmarks") else []
    found = list[ToolRun]()
    for run in runs:
        requests, config = run.inner("requests"), run.inner("config" if run.has("config") else "args")
        if not requests.has("successful"):
            continue
        done, strategy = requests.every("successful"), config.inner("strategy")
        began = [each.number("request_start_time") or each.number("start_time") for each in done]
        start = min((at for at in began if at), default=0.0)
        answers = list[ToolAnswer]()
        for each, at in zip(done, began, strict=True):
            first, said = each.number("time_to_first_token_ms"), each.value.get("output")
            answers.append(
                ToolAnswer(
                    began=(at or start) - start,
                    first=None if first is None else first / 1000,
                    seconds=each.read("request_latency", NEEDED),
                    tokens=each.tokens("output_tokens") or 0,
                    prompt_tokens=each.tokens("prompt_tokens"),
                    text=said[:100_000] if isinstance(said, str) else "",
                )
            )
        answers += [ToolAnswer(problem=FAILED) for _ in requests.every("errored")]
        alone = "synchronous" in (strategy.value.get("type_"), strategy.value.get("type"))
        streams = 1 if alone else strategy.whole("streams") or strategy.whole("max_concurrency")
        found.append(ToolRun("guidellm", answers, concurrency=streams, began_known=all(began)))
    return found
