from hashlib import sha256

from specviz.core.request import prompt_problem
from specviz.data.prompts import workloads
from specviz.data.prompts.workloads import WORKLOADS
from specviz.models.loading import read_tokens

PRESETS = [preset for workload in WORKLOADS for preset in workload.all_prompts]


def test_a_prompt_leaves_room_to_continue() -> None:
    tokens = read_tokens("wren-base")
    for preset in PRESETS:
        assert prompt_problem(preset.text) is None, preset.name
        assert preset.text == preset.text.rstrip(), "a space or newline at the end would split the next token"
        assert 10 <= len(tokens(preset.text)["input_ids"]) <= 120, preset.name


def test_the_text_of_a_name_in_a_link_never_changes_and_no_prompt_is_there_twice() -> None:
    texts = "\0".join(f"{preset.name}\0{preset.text}" for preset in PRESETS)
    assert len(PRESETS) == len({preset.text for preset in PRESETS}) == 10 * len(WORKLOADS) == 80
    assert sha256(texts.encode()).hexdigest()[:16] == "a23c92c92a56b8ea"
    assert workloads.find_preset("code-2") is WORKLOADS[1].prompts[1]
    assert workloads.workload_of("code-2") is workloads.find_workload("code") is WORKLOADS[1]
    unknown = (workloads.find_preset("code-99"), workloads.find_workload("poetry"), workloads.workload_of("poetry-1"))
    assert unknown == (None, None, None)
