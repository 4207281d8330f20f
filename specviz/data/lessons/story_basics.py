"""The basics: the first six steps of the story. Texts are templates, filled by `story.facts_of`."""

from specviz.data.lessons.story import Question, Says, Step, option

SLOW = Step(
    name="slow",
    title=Says("One token at a time", "One word at a time"),
    text=Says(
        "A language model writes one token, reads it back, and only then can write the next. Think of a hallway where "
        "the key to each door lies behind the door before it. The upper lane of the timeline is this run’s target "
        "model alone: {emitted} tokens, {emitted} full passes of {mean_ms} ms on average, {alone_ms} ms in all. "
        "Reading the prompt, the prefill, comes before that and is timed apart.",
        "A writing machine puts down one word, reads it back, and only then can think of the next. Picture a hallway "
        "where the key to each door lies behind the door before it. The upper bar of the marked part is the big "
        "machine working alone: {emitted} words, and it had to stop and think {emitted} times. Reading what you wrote "
        "comes before that and is timed apart.",
    ),
    trace="round",
    asks_at=("end", "judge"),
    reveals_at=("end", "judge"),
    focus="timeline",
    question=Question(
        Says("Why does the target not write ten tokens at once?", "Why does it not write ten words at once?"),
        (
            option(
                "It is too small for that",
                "It is too small for that",
                "Size is not the reason: the largest models write one token at a time as well.",
                "Size is not the reason: the largest machines write one word at a time as well.",
            ),
            option(
                "Each token depends on the one before it",
                "Each word depends on the one before it",
                "Without the first token there is nothing to base the second on. That is the bottleneck, and a faster "
                "chip does not remove it.",
                "Without the first word there is nothing to base the second on. That is the bottleneck.",
                right=True,
            ),
            option(
                "Its output is limited to one token",
                "It was asked to write only one",
                "No one limits it. It simply cannot know the second token before it has chosen the first.",
                "No one limits it. It simply cannot know the second word before it has chosen the first.",
            ),
        ),
    ),
)

IDEA = Step(
    name="idea",
    title=Says("A draft runs ahead", "An intern drafts, an editor approves"),
    text=Says(
        "The target model writes tokens one by one, but it can read several at once: it can judge several given "
        "tokens in one pass. So a small draft model guesses the next few. In this run a guess costs {draft_ms} ms, "
        "a token of the target {mean_ms} ms, and checking {most} places at once {check_ms} ms{check_note}. Think of "
        "an intern who drafts and an editor who checks several words in one look.",
        "The editor writes word by word, but can read several words in one look. So an intern, who is fast and "
        "often right, guesses the next few words, and the editor checks the guess in one look. The intern is a "
        "small machine. The editor is the big one, whose text you want.",
    ),
    trace="round",
    asks_at=("start", "check"),
    reveals_at=("start", "judge"),
    focus="diagram",
    question=Question(
        Says("Who decides which tokens end up in the text?", "Who decides which words end up in the text?"),
        (
            option(
                "The draft model: it wrote them",
                "The intern, who wrote them",
                "The draft only proposes. Nothing it writes stays unless the target agrees.",
                "The intern only suggests. Nothing stays unless the editor agrees.",
            ),
            option(
                "Both: they vote",
                "Both together",
                "There is no vote. Each guess is checked against what the target itself would write.",
                "There is no vote. Each guess is checked against what the editor would have written.",
            ),
            option(
                "The target model: it judges every one",
                "The editor, word for word",
                "The draft proposes, the target decides. That is why the draft may be small and often wrong.",
                "The intern suggests, the editor decides. That is why a fast intern is good enough.",
                right=True,
            ),
        ),
    ),
)

ROUND = Step(
    name="round",
    title=Says("One round in slow motion", "One round in slow motion"),
    text=Says(
        "A round has three moments. The draft proposes {mixed_drafted} tokens, one after the other. The target "
        "checks them all. Then it judges which to accept. You are in round {mixed_round} at the first moment: press "
        "the marked step button, or the right arrow key, and watch the picture follow. This run’s draft length, "
        "written γ, is {draft_length}.",
        "A round has three moments. The intern suggests {mixed_drafted} words. The editor looks them over. Then the "
        "editor decides. You are at the first moment of a round: press the marked button to step forward, or the "
        "right arrow key, and watch the picture follow.",
    ),
    trace="round",
    asks_at=("mixed", "propose"),
    reveals_at=("mixed", "check"),
    focus="transport",
    question=Question(
        Says(
            "How many passes of the target does it take to check these {mixed_drafted} tokens?",
            "How many looks does the editor need for these {mixed_drafted} words?",
        ),
        (
            option(
                "One",
                "One",
                "One forward pass gives the target’s prediction after every one of them, side by side. The round has "
                "one expensive step, however many tokens were drafted.",
                "One look covers them all, side by side. A round has one expensive moment, however many words were "
                "suggested.",
                right=True,
            ),
            option(
                "One for each, {mixed_drafted} in all",
                "One for each, {mixed_drafted} in all",
                "That would be no faster than writing them. The tokens are given, so one pass reads them all.",
                "That would be no faster than writing them. The words are there already, so one look is enough.",
            ),
            option(
                "None: only the draft runs",
                "None, the intern does it all",
                "Without the target no one would know which guesses are right.",
                "Without the editor no one would know which guesses are right.",
            ),
        ),
    ),
)

ACCEPTANCE = Step(
    name="acceptance",
    title=Says("Acceptance: the right start stays", "The editor keeps the right start"),
    text=Says(
        "The target goes through the drafted tokens from left to right. This run is greedy (temperature zero): the "
        "model always takes its most likely token. Then the rule is simple: a token is accepted if the target would "
        "have written exactly that token there. The pass has just run, and the verdict comes next. The target does "
        "not have to write an accepted token itself.",
        "The editor goes through the suggested words from left to right. The rule is simple: a word stays if the "
        "editor would have written exactly that word there. The editor has just looked, and the decision comes "
        "next. The editor does not have to write a word that stays.",
    ),
    trace="round",
    asks_at=("mixed", "check"),
    reveals_at=("mixed", "judge"),
    focus="accepted",
    question=Question(
        Says(
            "The target agrees with some of the {mixed_drafted}, not with all. Which can it accept?",
            "The editor agrees with some of the {mixed_drafted}, not with all. Which can stay?",
        ),
        (
            option(
                "Any that look good, wherever they stand",
                "Any that look good, wherever they stand",
                "A later guess was made after an earlier one. If that one is wrong, the rest continues a text that "
                "does not exist.",
                "A later word was meant to follow an earlier one. If that one is wrong, the rest no longer fits.",
            ),
            option(
                "Only those before the first wrong one",
                "Only those before the first wrong one",
                "The start is accepted, up to the first mistake. Here {mixed_accepted} of {mixed_drafted} are "
                "accepted.",
                "The start stays, up to the first mistake. Here {mixed_accepted} of {mixed_drafted} stay.",
                right=True,
            ),
            option(
                "None: one mistake spoils the round",
                "None, one mistake spoils them all",
                "What stands before the mistake is exactly what the target would have written. It is accepted.",
                "What stands before the mistake is exactly what the editor would have written. It stays.",
            ),
        ),
    ),
)

REJECTION = Step(
    name="rejection",
    title=Says("Rejection, and its correction", "The editor crosses out and corrects"),
    text=Says(
        "The {rejected_place} token failed: it is rejected, crossed out in orange. The same pass already says what "
        "belongs there, so the target’s own token takes its place: the correction, marked ↻. The tokens drafted "
        "after the mistake are discarded and never judged: here {mixed_discarded}.",
        "The {rejected_place} word was wrong, so it is crossed out in orange. In the same look the editor saw what "
        "belongs there and wrote it in. What the intern suggested after the mistake is thrown away unread: here "
        "{mixed_discarded}.",
    ),
    trace="round",
    asks_at=("mixed", "judge"),
    reveals_at=("mixed", "judge"),
    focus="rejected",
    question=Question(
        Says("How many tokens does this round add to the text?", "How many words does this round add to the text?"),
        (
            option(
                "{mixed_accepted}, the accepted ones",
                "{mixed_accepted}, those that stayed",
                "Count the correction too. Even a round whose first guess is wrong adds one token.",
                "Count the correction too. Even a round whose first guess is wrong adds one word.",
            ),
            option(
                "{mixed_drafted}, all that were drafted",
                "{mixed_drafted}, all that were suggested",
                "The rejected token and those after it are gone. Only the accepted tokens and the correction count.",
                "The crossed out word and those after it are gone. Only the words that stay and the correction count.",
            ),
            option(
                "{mixed_written}: the accepted ones and the correction",
                "{mixed_written}, those that stayed and the correction",
                "One pass of the target, {mixed_written} tokens. Alone it would have needed {mixed_written} passes.",
                "One look of the editor, {mixed_written} words. Alone that would have been {mixed_written} words "
                "written one by one.",
                right=True,
            ),
        ),
    ),
)

BONUS = Step(
    name="bonus",
    title=Says("The bonus token", "One word for free"),
    text=Says(
        "In round {full_round} the draft gets everything right. The target’s pass has looked at {full_drafted} drafted "
        "tokens, and it also knows what comes after the last of them: it predicts a next token at every place it "
        "reads. Nothing has to be corrected there, so that prediction is used as it is.",
        "In this round the intern gets everything right. The editor has checked {full_drafted} words and has read "
        "to the end, so the editor also knows what comes next. Nothing has to be corrected, so the editor simply "
        "writes that word as well.",
    ),
    trace="round",
    asks_at=("full", "check"),
    reveals_at=("full", "judge"),
    focus="bonus",
    question=Question(
        Says(
            "All {full_drafted} drafted tokens are right. How many does the round add?",
            "All {full_drafted} words are right. How many does the round add?",
        ),
        (
            option(
                "{full_drafted}",
                "{full_drafted}",
                "Those, and one more: the bonus, marked +. The pass has computed it anyway.",
                "Those, and one more that the editor adds for free.",
            ),
            option(
                "{full_written}",
                "{full_written}",
                "The drafted ones and a bonus. So a pass yields at least one token and at most one more than were "
                "drafted.",
                "The suggested ones and one for free. So a look yields at least one word, and at most one more than "
                "were suggested.",
                right=True,
            ),
            option(
                "One: the target writes one token a pass",
                "One, the editor writes one at a time",
                "It writes one itself, and approves the others. All of them count.",
                "It writes one and approves the others. All of them count.",
            ),
        ),
    ),
)
