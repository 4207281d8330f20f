"""The payoff: why the text is the same, and four steps on the gain. Texts are templates, filled by `story.facts_of`."""

from specviz.data.lessons.story import Question, Says, Step, option

SAME = Step(
    name="same",
    title=Says("The same text, by construction", "The same text, and why that is certain"),
    text=Says(
        "Look at the finished run. {accepted} of its {emitted} tokens were written by the draft, and yet the target "
        "alone writes the same {emitted}, id for id. It must be so: a drafted token stays only where it equals the "
        "target’s choice, and everywhere else the target’s choice is written. Only rounding can make them differ, "
        "where two tokens are nearly equally likely, and the app shows where. Above temperature zero tokens are "
        "drawn at random, and the rule gives every token the same probability as the target alone.",
        "Look at the finished text. {accepted} of its {emitted} words came from the intern, and yet the editor "
        "alone writes the very same text. It must be so: a suggested word stays only where the editor would have "
        "written it, and everywhere else the editor’s own word is written.",
    ),
    trace="round",
    asks_at=("end", "judge"),
    reveals_at=("end", "judge"),
    focus="strip",
    question=Question(
        Says(
            "Swap the draft for one that guesses nonsense. What changes?", "Send an intern who writes nonsense. Then?"
        ),
        (
            option(
                "The text turns to nonsense",
                "The text turns to nonsense",
                "Every nonsense token would be rejected and replaced by the target’s own.",
                "Every nonsense word would be crossed out and replaced by the editor’s own.",
            ),
            option(
                "The text gets a little worse",
                "The text gets a little worse",
                "Not even a little. No token is accepted that the target would not have written.",
                "Not even a little. No word stays that the editor would not have written.",
            ),
            option(
                "Only the speed: the text is the same",
                "Only the speed, the text is the same",
                "The draft decides how fast, never what. A bad draft wastes time and nothing else.",
                "The intern decides how fast, never what. A bad intern wastes time and nothing else.",
                right=True,
            ),
        ),
    ),
)

PAYS = Step(
    name="pays",
    title=Says("When it pays", "When it pays"),
    text=Says(
        "Here is another text, and an easy one to guess. The target accepted {accepted} of {drafted} drafted "
        "tokens. It made {passes} passes and wrote {emitted} tokens, {per_call} a pass, and a guess cost {cost} "
        "target steps. This run was measured {speedup} times as fast as the target alone (one pair of runs, "
        "recorded on {machine}). It was chosen from {tried} runs, one a prompt, because it gains most: expect less of "
        "others.",
        "Here is another text, and an easy one to guess. Of {drafted} suggested words {accepted} stayed. The editor "
        "looked {passes} times and {emitted} words were done. On the clock, this was {speedup} times as fast as the "
        "editor alone. It was chosen from {tried} texts because it gains most, so expect less of others.",
    ),
    trace="pays",
    asks_at=("end", "judge"),
    reveals_at=("end", "judge"),
    focus="timeline",
    question=Question(
        Says("What does this gain depend on most?", "What does this gain depend on most?"),
        (
            option(
                "Cheap guesses that are mostly right",
                "Quick guesses that are mostly right",
                "Both are needed. Each accepted token saves a target step, and each guess costs a draft step.",
                "Both are needed. Each word that stays saves the editor time, and each guess costs the intern time.",
                right=True,
            ),
            option(
                "A clever draft, whatever it costs",
                "A clever intern, however slow",
                "A draft as slow as the target saves nothing, however clever it is.",
                "An intern as slow as the editor saves nothing, however clever.",
            ),
            option(
                "A less careful target",
                "A less careful editor",
                "The target is as careful as ever: same model, same text.",
                "The editor is as careful as ever: same editor, same text.",
            ),
        ),
    ),
)

NO_GAIN = Step(
    name="no-gain",
    title=Says("When there is no real gain", "When there is no real gain"),
    text=Says(
        "Here the same draft meets a text that is hard to guess, and drafts {draft_length} tokens a round. The "
        "target accepted only {accepted} of {drafted} drafted tokens. The hatched blocks in the timeline are wasted "
        "drafting time. It looks busy, but it writes only {per_call} tokens a pass, for the price of {draft_length} "
        "guesses each time. It was chosen from {tried} runs, one a prompt, because it loses most.",
        "Here the same intern meets a text that is hard to guess, and suggests {draft_length} words a round. Of "
        "{drafted} suggested words {accepted} stayed. The hatched blocks are the intern’s wasted time. It looks "
        "busy, but hardly moves. It was chosen from {tried} texts because it loses most.",
    ),
    trace="no-gain",
    asks_at=("wasted", "judge"),
    reveals_at=("end", "judge"),
    focus="timeline",
    question=Question(
        Says("How did this run end, against the target alone?", "Who was faster in the end?"),
        (
            option(
                "Faster: it drafts more",
                "Intern and editor together",
                "More guesses help only if they are accepted. This run had {speedup} times the target’s speed: a loss.",
                "More guesses help only if they stay. This run had {speedup} times the editor’s own speed, so it lost.",
            ),
            option(
                "About even: the target does the work anyway",
                "About even",
                "The target works as much as before, and drafting and longer checks are added: {speedup} times its "
                "speed alone.",
                "The editor works as much as before, and the intern’s time is added. This run had {speedup} times "
                "the editor’s own speed.",
            ),
            option(
                "Slower: the guesses cost time and were thrown away",
                "The editor alone",
                "{together_ms} ms instead of {alone_ms} ms, {speedup} times the speed. The text is the same: the "
                "effort brought no real gain.",
                "This run had {speedup} times the editor’s own speed. The text is the same: the effort brought no "
                "real gain.",
                right=True,
            ),
        ),
    ),
)

TOGETHER = Step(
    name="together",
    title=Says("Many texts at once", "Many texts at once"),
    text=Says(
        "A server decodes many texts at once: one pass reads the next tokens of all. Measured on {batch_machine}, with "
        "{batch_length} guesses a round: for one text the draft brings {batch_alone} times the speed, for {batch_most} "
        "together {batch_together} times. Every text accepts as much as it does alone. But checking {batch_checked} "
        "tokens of each takes {batch_check} plain passes instead of {batch_check_alone}. And texts wait for each "
        "other: {batch_empty} of the places in the passes were empty, because their texts had ended.",
        "A big machine writes for many people at once: one look covers the next words of all texts. Measured with "
        "{batch_length} words suggested a round: one text is done {batch_alone} times as fast as without an intern, "
        "{batch_most} texts together {batch_together} times. The intern is right as often as before. But a look over "
        "{batch_checked} words of each text now takes {batch_check} times as long as a look at one word of each, and "
        "for one text alone only {batch_check_alone} times. And the texts wait for the slowest one.",
    ),
    trace="round",
    asks_at=("full", "check"),
    reveals_at=("full", "check"),
    focus="diagram",
    picture="weights",
    question=Question(
        Says(
            "What changes for one text when others are decoded with it?",
            "What changes for one text when others are written with it?",
        ),
        (
            option(
                "Only the time: it is the same text, with the same guesses accepted",
                "Only the time, the text is the same",
                "Each text has its own draft and its own check. The texts share passes and nothing else, so only "
                "rounding can change a token, where two are nearly equally likely.",
                "Each text has its own suggestions and its own check. They share the looks and nothing else.",
                right=True,
            ),
            option(
                "Fewer of its guesses are accepted",
                "Fewer suggested words stay",
                "Acceptance depends on the text and the two models, not on the other texts. What changes is the price "
                "of a check.",
                "That depends on the text, the intern and the editor, not on the other texts. What changes is the "
                "price of a look.",
            ),
            option(
                "The texts mix: a pass reads all of them",
                "The texts mix, because one look covers all of them",
                "No token looks at another text: the attention of each text is masked.",
                "They do not: in one look the editor reads each text by itself.",
            ),
        ),
    ),
)

ENGINEER = Step(
    name="engineer",
    title=Says("What a serving engineer does with it", "What an engineer does with it"),
    text=Says(
        "Measure, then choose. On {prompts} story prompts (recorded on {sweep_machine}) the draft lengths "
        "{near_lengths} were {near_speedups} times as fast as the target alone. So few prompts cannot say which is "
        "best. At {longest_length} it was {longest_speedup} times, clearly less: late guesses are rarely accepted, and "
        "each one costs time. So an engineer measures acceptance and costs on the real traffic, sets the draft "
        "length, and switches speculation off where it loses.",
        "Measure, then choose. On {prompts} children’s stories, {near_lengths} words at a "
        "time were about as fast as each other. So few stories cannot say which is best. With {longest_length} it was "
        "clearly slower, since late guesses rarely stay and each takes time. So an engineer measures on real texts, "
        "picks how many to suggest, and switches it off where it loses.",
    ),
    trace="pays",
    asks_at=("start", "judge"),
    reveals_at=("end", "judge"),
    focus="diagram",
    question=Question(
        Says(
            "You double the draft length. What is certain?",
            "You double the words suggested in a round. What is certain?",
        ),
        (
            option(
                "It gets faster",
                "It gets faster",
                "Only while the extra guesses are accepted often enough to pay for themselves.",
                "Only while the extra guesses stay often enough to pay for themselves.",
            ),
            option(
                "The text changes",
                "The text changes",
                "It does not, at any draft length.",
                "It does not, however many are suggested.",
            ),
            option(
                "Every round costs more, whether or not more is accepted",
                "Every round takes longer, whether or not more words stay",
                "A longer draft may save more passes, but it always costs more time.",
                "More guesses may save more looks, but they always take more time.",
                right=True,
            ),
        ),
    ),
)
