"""Counters as a serving engineer pastes them."""

# vLLM, draft length 5: 2.72 tokens a call, accepted by position 780, 450, 270, 140 and 80 of 1,000.
ISSUE = "\n".join(
    [
        "vllm:spec_decode_num_drafts_total 1000",
        "vllm:spec_decode_num_draft_tokens_total 5000",
        "vllm:spec_decode_num_accepted_tokens_total 1720",
        *(
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="{position}"}} {count}'
            for position, count in enumerate([780, 450, 270, 140, 80])
        ),
    ]
)
