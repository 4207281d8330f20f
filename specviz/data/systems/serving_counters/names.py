"""One table: how each system names what it counts, whether the target's own token is in it, and which rates it gives.

A record is one object of JSON, one row of a table, or one block of lines “name: value”. A system is recognised by the
names that its records need. Sources are the systems' own files, named beside each row.
"""

from dataclasses import dataclass, fields, replace

from specviz.core.texts import AppTexts, NonEmptyText

conventions = AppTexts("tables/conventions", dict[str, NonEmptyText])

Names = tuple[str, ...]  # the first that a record has counts: older names follow newer ones


@dataclass(frozen=True, slots=True)
class SystemNames:
    """Names of a system. An empty tuple: it does not report this."""

    engine: str
    needs: Names  # a record of this system has one of them …
    with_all: Names = ()  # … and all of these,
    without: Names = ()  # and none of these
    convention: str = "own"  # the name of a text, as `rates` are
    limit: Names = ("num_spec_tokens", "num_speculative_tokens")  # the most that a round may draft
    rounds: Names = ()  # calls of the target that checked a draft
    drafted: Names = ()
    accepted: Names = ()  # without the target's own token, or as pairs “accepted/drafted”
    emitted: Names = ()  # accepted tokens and the target's own ones
    rejected: Names = ()  # drafted, not accepted
    ignored: Names = ()  # drafted, but never checked
    length: Names = ()  # tokens of a call, with the target's own one
    histogram: Names = ()  # entry j: rounds that accepted exactly j drafted tokens
    lengths: Names = ()  # the same, counted with the target's own token: entry j + 1
    heads: Names = ()  # tokens by position; the first position is the target's own
    marginal: Names = ()  # rates
    conditional: Names = ()
    written: Names = ()  # output tokens
    requests: Names = ()
    milliseconds: Names = ()  # mean, for an output token of a request
    total_milliseconds: Names = ()  # of all output tokens
    per_second: Names = ()  # output tokens of one request
    per_round: Names = ()  # drafted tokens, the same number in every round
    listed: bool = False  # a count may be a list, one number for each turn of a conversation
    running_totals: bool = False  # each record counts since the server started, so the last one counts
    by_written: bool = False  # whether calls may be computed from written and accepted tokens
    first_in_round: bool = False  # whether the first token of an answer may be one of a round


ANSWER = ("completion_tokens",)
# vllm bench serve, as printed
BENCH = SystemNames(
    "vLLM",
    needs=("acceptance length",),
    rounds=("drafts",),
    drafted=("draft tokens",),
    accepted=("accepted tokens",),
    length=("acceptance length",),
    marginal=("position (%)",),
    written=("total generated tokens",),
    requests=("successful requests",),
    milliseconds=("mean tpot (ms)",),
)
EMITTED = ("number of emitted tokens", "number of emitted tokens tokens")
DRAFTED = ("number of draft tokens", "number of draft tokens tokens")
SYSTEMS = (
    # TensorRT-LLM: tensorrt_llm/serve/openai_protocol.py
    SystemNames(
        "TensorRT-LLM",
        needs=("total_draft_tokens",),
        rounds=("num_spec_steps",),
        accepted=("total_accepted_draft_tokens",),
        drafted=("total_draft_tokens",),
        histogram=("acceptance_histogram",),
        length=("avg_decoded_tokens_per_iter",),
        written=ANSWER,
        by_written=True,
    ),
    # TensorRT-LLM's statistics of iterations: acceptanceLength is (accepted + requests) / requests
    SystemNames(
        "TensorRT-LLM",
        needs=("numDraftTokens",),
        rounds=("numRequestsWithDraftTokens",),
        accepted=("numAcceptedTokens",),
        drafted=("numDraftTokens",),
    ),
    # vLLM: docs/features/speculative_decoding/acceptance_metrics.md. AIPerf stores the same record for each request.
    SystemNames(
        "vLLM",
        needs=("mean_acceptance_length", "acceptance_histogram", "per_step_accepted", "per_step_drafted"),
        with_all=("num_spec_steps",),
        without=("total_draft_tokens",),
        rounds=("num_spec_steps",),
        accepted=("num_accepted_draft_tokens",),
        drafted=("num_draft_tokens",),
        histogram=("acceptance_histogram",),
        written=ANSWER,
    ),
    # AIPerf, profile_export_aiperf.json: docs/tutorials/spec-decode-metrics.md
    SystemNames(
        "AIPerf",
        needs=("pooled_spec_decode_acceptance_histogram",),
        histogram=("pooled_spec_decode_acceptance_histogram",),
    ),
    # vllm bench serve --save-result: vllm/benchmarks/serve.py
    SystemNames(
        "vLLM",
        needs=("spec_decode_num_drafts", "spec_decode_acceptance_length"),
        with_all=("spec_decode_draft_tokens",),
        rounds=("spec_decode_num_drafts",),
        drafted=("spec_decode_draft_tokens",),
        accepted=("spec_decode_accepted_tokens",),
        length=("spec_decode_acceptance_length",),
        marginal=("spec_decode_per_position_acceptance_rates",),
        written=("total_output_tokens",),
        requests=("completed",),
        milliseconds=("mean_tpot_ms",),
    ),
    # SGLang: benchmark/mtbench, “#questions: 80, Throughput: …, Acceptance length: 5.36”
    SystemNames("SGLang", needs=("acceptance length",), with_all=("#questions",), length=("acceptance length",)),
    # AIPerf, as printed
    SystemNames("AIPerf", needs=("acceptance length",), with_all=("spec decode steps",), length=("acceptance length",)),
    BENCH,
    replace(BENCH, needs=("draft tokens",), with_all=("drafts", "accepted tokens")),
    # vLLM before its version 1: vllm/spec_decode/metrics.py
    SystemNames(
        "vLLM",
        needs=EMITTED,
        with_all=("number of speculative tokens",),
        per_round=("number of speculative tokens",),
        drafted=DRAFTED,
        emitted=EMITTED,
        running_totals=True,
        convention="old_line",
    ),
    # vLLM 0.8, whose lines have no calls
    SystemNames(
        "vLLM",
        needs=DRAFTED,
        with_all=("number of accepted tokens",),
        without=EMITTED,
        drafted=DRAFTED,
        accepted=("number of accepted tokens",),
        by_written=True,
    ),
    SystemNames(
        "vLLM",
        needs=("drafted",),
        with_all=("accepted", "draft acceptance rate"),
        drafted=("drafted",),
        accepted=("accepted",),
        by_written=True,
    ),
    # vLLM's examples/offline_inference/spec_decode.py, as printed
    SystemNames(
        "vLLM",
        needs=("acceptance at token",),
        with_all=("num_drafts",),
        rounds=("num_drafts",),
        drafted=("num_draft_tokens",),
        accepted=("num_accepted_tokens",),
        marginal=("acceptance at token",),
    ),
    # SGLang: python/sglang/bench_serving.py, as printed and as JSON lines; SpecForge: benchmarks
    SystemNames(
        "SGLang",
        needs=("accept length", "average accept length"),
        length=("accept length", "average accept length"),
        milliseconds=("mean tpot (ms)",),
    ),
    SystemNames("SGLang", needs=("accept_length",), length=("accept_length",), milliseconds=("mean_tpot_ms",)),
    # NVIDIA Model Optimizer: specdec_bench, speculation_profile.json
    SystemNames(
        "speculation_profile.json",
        needs=("marginal_accept_rates", "conditional_accept_rates"),
        length=("mean_accept_length",),
        lengths=("acceptance_length_histogram",),
        marginal=("marginal_accept_rates",),
        conditional=("conditional_accept_rates",),
        convention="both_rates",
    ),
    # PaddlePaddle FastDeploy: fastdeploy/engine/request.py, SpeculateMetrics
    SystemNames(
        "FastDeploy",
        needs=("accepted_tokens_per_head",),
        emitted=("accepted_tokens",),
        rejected=("rejected_tokens",),
        heads=("accepted_tokens_per_head",),
        convention="fastdeploy",
    ),
    # mlx-vlm has llama.cpp's names and counts its rounds.
    SystemNames(
        "mlx-vlm",
        needs=("draft_rounds",),
        with_all=("draft_n",),
        rounds=("draft_rounds",),
        drafted=("draft_n",),
        accepted=("draft_n_accepted",),
        written=("predicted_n",),
        total_milliseconds=("predicted_ms",),
        first_in_round=True,
    ),
    # llama.cpp: tools/server, the field `timings`. ik_llama.cpp has the same.
    SystemNames(
        "llama.cpp",
        needs=("draft_n",),
        drafted=("draft_n",),
        accepted=("draft_n_accepted",),
        written=("predicted_n",),
        total_milliseconds=("predicted_ms",),
        by_written=True,
        convention="from_written",
    ),
    # LM Studio: its TypeScript client, and its REST answers and Python client
    SystemNames(
        "LM Studio",
        needs=("totalDraftTokensCount",),
        drafted=("totalDraftTokensCount",),
        accepted=("acceptedDraftTokensCount",),
        ignored=("ignoredDraftTokensCount",),
        written=("predictedTokensCount", *ANSWER),
        per_second=("tokensPerSecond",),
        by_written=True,
        convention="from_written",
    ),
    SystemNames(
        "LM Studio",
        needs=("total_draft_tokens_count",),
        drafted=("total_draft_tokens_count",),
        accepted=("accepted_draft_tokens_count",),
        ignored=("ignored_draft_tokens_count",),
        written=("predicted_tokens_count", *ANSWER),
        per_second=("tokens_per_second",),
        by_written=True,
        convention="from_written",
    ),
    # llama.cpp: examples/speculative, as printed. “n_draft” is the most that a round drafts.
    SystemNames(
        "llama.cpp",
        needs=("n_drafted",),
        with_all=("n_predict", "n_accept"),
        written=("n_predict",),
        drafted=("n_drafted",),
        accepted=("n_accept",),
        limit=(),
        by_written=True,
        convention="from_written",
    ),
    # llama.cpp: the sum of a table of runs
    SystemNames(
        "llama.cpp",
        needs=("total_draft_accepted",),
        with_all=("total_draft",),
        written=("total_predicted",),
        drafted=("total_draft",),
        accepted=("total_draft_accepted",),
        requests=("n_requests",),
        by_written=True,
        convention="from_written",
    ),
    # llama.cpp: a table of runs, “pred= 192 draft= 180 acc= 146”
    SystemNames(
        "llama.cpp",
        needs=("pred",),
        with_all=("draft", "acc"),
        written=("pred",),
        drafted=("draft",),
        accepted=("acc",),
        per_second=("tok/s",),
        by_written=True,
        convention="from_written",
    ),
    # ik_llama.cpp: the table of its speculation benchmark
    SystemNames(
        "ik_llama.cpp",
        needs=("a.len",),
        with_all=("rounds",),
        rounds=("rounds",),
        accepted=("accepted",),
        length=("a.len",),
        marginal=("pos accept",),
        written=("tokens",),
        per_second=("tok/s",),
    ),
    # speculators: examples/evaluate, CSV
    SystemNames(
        "vLLM",
        needs=("acceptance_length",),
        with_all=("num_drafts",),
        rounds=("num_drafts",),
        drafted=("num_draft_tokens",),
        accepted=("num_accepted_tokens",),
        length=("acceptance_length",),
        marginal=("acceptance_at_pos",),
        milliseconds=("mean_itl_ms",),
    ),
    # KoboldCpp: /api/extra/perf, of the last answer
    SystemNames(
        "KoboldCpp",
        needs=("last_draft_success",),
        with_all=("last_token_count",),
        written=("last_token_count",),
        accepted=("last_draft_success",),
        per_second=("last_eval_speed",),
        by_written=True,
        convention="from_written",
    ),
    # Spec-Bench: evaluation/speed.py, as printed, and its files of answers
    SystemNames("Spec-Bench", needs=("#mean accepted tokens",), length=("#mean accepted tokens",)),
    SystemNames(
        "Spec-Bench",
        needs=("decoding_steps",),
        with_all=("new_tokens",),
        rounds=("decoding_steps",),
        emitted=("new_tokens",),
        listed=True,
    ),
    # gpt-fast: generate.py, the share of rounds that accepted 0, 1, 2, … drafted tokens
    SystemNames("gpt-fast", needs=("acceptance probs",), histogram=("acceptance probs",)),
    # TabbyAPI: common/gen_logging.py, “Draft: 120 / 180 tokens accepted”
    SystemNames(
        "TabbyAPI",
        needs=("Draft",),
        written=("tokens generated",),
        accepted=("Draft",),
        per_second=("Generate",),
        by_written=True,
        convention="from_written",
    ),
)
# Asked last: counts that other readers know better, and a length without the counts that it comes from.
ASKED_LAST = (
    # vllm/v1/spec_decode/metrics.py, SpecDecodingStats as Python prints it
    SystemNames(
        "vLLM",
        needs=("num_drafts",),
        with_all=("num_draft_tokens", "num_accepted_tokens"),
        rounds=("num_drafts",),
        drafted=("num_draft_tokens",),
        accepted=("num_accepted_tokens",),
    ),
    # A part of vLLM's log line, copied without its counts
    SystemNames(
        "vLLM",
        needs=("mean acceptance length",),
        without=("num_drafts",),
        length=("mean acceptance length",),
        marginal=("per-position acceptance rate",),
    ),
)
# Fields of OpenAI's usage. Other servers have them with zeros: so they are asked last, and zeros are no record.
USAGE = SystemNames(
    "OpenAI API",
    needs=("accepted_prediction_tokens",),
    accepted=("accepted_prediction_tokens",),
    rejected=("rejected_prediction_tokens",),
    written=ANSWER,
    by_written=True,
    convention="from_written",
)
# The names that lines and tables are searched for.
NAMES = {
    name
    for system in SYSTEMS + ASKED_LAST
    for field in fields(system)
    if isinstance(names := getattr(system, field.name), tuple)
    for name in names
}
# SGLang's answers: `accept` counts the target's own token, `correct` does not.
SGLANG_ANSWER = SystemNames(
    "SGLang",
    needs=("spec_verify_ct", "spec_accept_length", "avg_spec_accept_length"),
    rounds=("spec_verify_ct",),
    accepted=("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"),
    drafted=("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"),
    histogram=("spec_correct_drafts_histogram", "spec_accept_histogram"),
    length=("spec_accept_length", "avg_spec_accept_length"),
    written=ANSWER,
    convention="sglang",
)
