"""The glossary's words for other ways to draft and to verify than a small model and a chain."""

from specviz.data.lessons.story import Says
from specviz.data.lessons.word import Word

METHOD_WORDS = (
    Word(
        "head",
        Says(
            "A small part on top of the target that guesses its next tokens from its last hidden state.",
            "A small helper that reads the editor’s notes and suggests words.",
        ),
        "",
        "head",
        also=("heads",),
    ),
    Word(
        "hidden state",
        Says(
            "The numbers that a model has made of the text up to a token, before it makes probabilities of them.",
            "The editor’s notes: what the editor made of the text so far.",
        ),
        "",
        "head",
        also=("hidden states",),
    ),
    Word(
        "EAGLE",
        Says(
            "A head that makes one guess after the other. Each one uses the target’s state and the guess before it.",
            "A helper that suggests one word after the other, with the editor’s notes.",
        ),
        "",
        "head",
    ),
    Word(
        "MTP",
        Says(
            "Multi-token prediction: a head of the EAGLE kind that is trained together with the target.",
            "A helper that learned together with the editor.",
        ),
        "",
        "head",
    ),
    Word(
        "Medusa",
        Says(
            "Several heads on one state of the target, one for each next place. They guess at once and know nothing of "
            "each other’s guesses.",
            "Several helpers, each with a place of its own. All suggest at once and do not hear each other.",
        ),
        "",
        "head",
    ),
    Word(
        "early exit",
        Says(
            "The target’s first layers draft, and all its layers check. No other model is needed.",
            "The editor’s first quick thought suggests, the whole editor checks.",
        ),
        "",
        "head",
        also=("early exits",),
    ),
    Word(
        "tree",
        Says(
            "A draft with several guesses for one place. Each guess can have guesses after it.",
            "Several suggestions for one place, each with words that could follow it.",
        ),
        "",
        "tree",
        also=("trees",),
    ),
    Word(
        "node",
        Says(
            "One guess in a tree. The target’s pass reads every node, so each one makes the check wider.",
            "One suggested word in such a draft.",
        ),
        "",
        "tree",
        also=("nodes",),
    ),
    Word(
        "sibling",
        Says(
            "Another guess for the same place in a tree. Siblings are judged one after the other until one is "
            "accepted.",
            "Another suggestion for the same place.",
        ),
        "",
        "tree",
        also=("siblings",),
    ),
    Word(
        "depth",
        Says(
            "How many places after the text a node of a tree stands. The depth of the tree is the longest path.",
            "How many words ahead a suggestion is.",
        ),
        "",
        "tree",
        also=("depths",),
    ),
    Word(
        "not taken",
        Says(
            "A node of a tree that was never judged: another path was accepted, or the path ended before it.",
            "A suggestion that the editor never judged.",
        ),
        "",
        "tree",
    ),
    Word(
        "block verification",
        Says(
            "The whole draft is judged together. The output stays the target’s, and in expectation never fewer tokens "
            "are accepted than token by token.",
            "All suggested words are judged together.",
        ),
        "",
        "sampled",
    ),
    Word(
        "argmax draft",
        Says(
            "The draft takes its most probable token instead of drawing one, so q is 1 on it. vLLM and llama.cpp do "
            "this.",
            "The intern always suggests the word that seems best.",
        ),
        "",
        "sampled",
        also=("argmax drafts", "most probable drafts"),
    ),
)
