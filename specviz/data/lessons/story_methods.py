"""Two steps beyond a small model: a head on the target, and a tree. Texts are filled by `story.facts_of`."""

from specviz.data.lessons.story import Question, Says, Step, option

HEAD = Step(
    name="head",
    title=Says("A draft that sees the target’s thoughts", "An intern who sees the editor’s notes"),
    text=Says(
        "A draft model knows the text only. A head is a small part on top of the target. It reads the text too, and "
        "also the target’s last hidden state: the numbers from which the target chose its last token. Over "
        "{methods_prompts} prompts of each kind (recorded on {methods_machine}) the head wren-eagle brought "
        "{eagle_per_call} tokens per target call, and wren-nano, a draft model of about its size, {nano_per_call}. A "
        "guess cost {eagle_step} and {nano_step} target steps.",
        "So far the intern knew the text only. Now the intern also sees the notes of the editor: what the editor "
        "thought about when the last word was chosen. Both were tried on {methods_prompts} texts of each kind. With "
        "the notes, one look of the editor brought {eagle_per_call} words, and {nano_per_call} with an intern who sees "
        "none. This is how many large services work today.",
    ),
    trace="method-eagle",
    asks_at=("mixed", "propose"),
    reveals_at=("mixed", "judge"),
    focus="diagram",
    question=Question(
        Says(
            "What does the head know that a small draft model does not?",
            "What does this intern know that another one does not?",
        ),
        (
            option(
                "The token that the target will choose next",
                "The word that the editor will choose next",
                "It does not: the target chooses only when it checks. The head guesses, and guesses can fail.",
                "Not that: the editor chooses later, while looking. This intern guesses too, and can be wrong.",
            ),
            option(
                "What the target computed about the text so far",
                "What the editor thought about the text so far",
                "The state is what the target made of the whole text. A small model must find that out alone.",
                "The notes hold what the editor understood. Another intern must find that out alone.",
                right=True,
            ),
            option(
                "A longer part of the text",
                "A longer part of the text",
                "Both know the same text. The head also knows what the target made of it.",
                "Both know the same text. This one also knows what the editor made of it.",
            ),
        ),
    ),
)

TREE = Step(
    name="tree",
    title=Says("A tree of guesses", "Two suggestions for one place"),
    text=Says(
        "In a chain, one wrong guess ends the round. A tree has several guesses for a place. In round {branch_round} "
        "the draft made {tree_nodes} guesses, and the target read all of them in one pass. "
        "“{branch_failed}” failed, and its sibling “{branch_taken}” was "
        "accepted. Over {methods_prompts} prompts of each kind (recorded on {methods_machine}) this tree brought "
        "{tree_per_call} tokens per target call, a chain of its depth {chain_per_call}. But its check cost "
        "{tree_check} target steps instead of {chain_check}.",
        "So far one wrong word ended a round. Now the intern may suggest two words for the same place, and go on after "
        "each of them. The editor looks at all of them at once. Here the first suggestion was wrong, and the second "
        "one stayed. Over {methods_prompts} texts of each kind one look brought {tree_per_call} words this way, and "
        "{chain_per_call} without second suggestions. But such a look takes longer: the editor reads more words.",
    ),
    trace="method-tree",
    asks_at=("branch", "check"),
    reveals_at=("branch", "judge"),
    focus="strip",
    question=Question(
        Says(
            "A tree has two guesses for a place. The first one fails. What happens?",
            "There are two suggestions for a place. The first one is wrong. What happens?",
        ),
        (
            option(
                "The second one is judged, and the round can go on after it",
                "The second one is read, and the round can go on after it",
                "The pass has read both, so the second one needs no pass of its own.",
                "The editor has looked at both, so no other look is needed.",
                right=True,
            ),
            option(
                "The round ends there with a correction",
                "The round ends there, and the editor writes a word",
                "That is a chain. In a tree the round ends only when all guesses for the place have failed.",
                "Only when all suggestions for the place are wrong.",
            ),
            option(
                "The draft makes another guess for the place",
                "The intern makes another suggestion for the place",
                "The draft is not asked again in a round. All its guesses were made before the pass.",
                "The intern is not asked again in a round. All suggestions were made before the look.",
            ),
        ),
    ),
)
