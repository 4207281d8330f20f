"""The family of drafting methods on one screen: what each draft knows, what it costs, who uses it, and its run.

Who uses what is from the documentation and issues of the projects named.
"""

from dataclasses import dataclass

from specviz.data.lessons.story import Says


@dataclass(frozen=True, slots=True)
class Member:
    """One method."""

    name: str  # of its recorded run, in links; empty: it is shown on the page of the proof
    title: Says
    knows: Says  # what the draft sees
    costs: Says
    used: Says
    lossless: Says
    measured: str = ""  # its name in the comparison of methods; empty: not measured there


YES = Says("yes", "yes")
SAME_COST = Says("The same.", "The same.")

FAMILY = (
    Member(
        "method-small-model",
        Says("Small model", "A small intern"),
        Says("The text.", "The text."),
        Says("A step of a small model for each guess.", "A short thought for each word."),
        Says("llama.cpp, LM Studio, vLLM, transformers", "llama.cpp, LM Studio, vLLM, transformers"),
        YES,
        "wren-nano",
    ),
    Member(
        "method-eagle",
        Says("EAGLE or MTP head", "An intern with the editor’s notes"),
        Says(
            "The text, the target’s last hidden state, and its own guesses so far.",
            "The text, the editor’s notes, and the words suggested so far.",
        ),
        Says("One layer for each guess. It must be trained for its target.", "A short thought for each word."),
        Says("vLLM, SGLang; MTP: llama.cpp, transformers", "vLLM, SGLang, llama.cpp, transformers"),
        YES,
        "wren-eagle",
    ),
    Member(
        "method-medusa",
        Says("Medusa heads", "Several helpers with the notes"),
        Says(
            "The target’s last hidden state. No head knows another’s guess.",
            "The editor’s notes. No helper hears another.",
        ),
        Says("One pass for all guesses.", "One short thought for all words."),
        Says("the Medusa project, with trees", "the Medusa project"),
        YES,
        "wren-medusa",
    ),
    Member(
        "method-prompt-lookup",
        Says("Prompt lookup", "Copying from the page"),
        Says("What followed the same words earlier in the text.", "What followed the same words earlier."),
        Says("Nearly nothing: there is no model.", "Nearly nothing."),
        Says("vLLM, under the name n-gram", "vLLM"),
        YES,
        "prompt-lookup",
    ),
    Member(
        "method-early-exit",
        Says("Early exit", "The editor’s first quick thought"),
        Says("The text, as the target’s first layers see it.", "The text, as the editor first sees it."),
        Says("Those layers for each guess; no further memory.", "A part of a look for each word."),
        Says("research (LayerSkip)", "research"),
        YES,
        "early-exit:4",
    ),
    Member(
        "method-tree",
        Says("A tree of guesses", "Several words for one place"),
        Says("As its drafter. It offers several guesses for a place.", "As before, with second suggestions."),
        Says("A draft step for each depth, and a wider check.", "A longer look."),
        Says("SGLang with EAGLE heads; Medusa", "SGLang, Medusa"),
        YES,
        "wren-nano tree",
    ),
    Member(
        "method-argmax",
        Says("Most probable drafts", "Always the best word"),
        Says("As its drafter. It takes its most probable token.", "As before, but never by lot."),
        SAME_COST,
        Says("vLLM, SGLang, llama.cpp", "vLLM, SGLang, llama.cpp"),
        YES,
        "wren-nano argmax",
    ),
    Member(
        "method-block",
        Says("Block verification", "All words judged together"),
        Says("As its drafter. The draft is judged as a whole.", "As before. All words are judged together."),
        SAME_COST,
        Says("in work for SGLang (#36516)", "in work for SGLang"),
        YES,
        "wren-nano block",
    ),
    Member(
        "",
        Says("Typical acceptance, ensembles", "A lenient editor"),
        Says("As its drafter. The check is relaxed on purpose.", "As before. The editor lets more words stay."),
        Says("Less: more is accepted.", "Less."),
        Says("Medusa; an option of transformers", "Medusa, transformers"),
        Says("no", "no"),
    ),
)
