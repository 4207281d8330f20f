"""The questions at the story’s end. A reader of the story can answer them all."""

from specviz.data.lessons.story import Option, Question, Says


def _ask(technical: str, plain: str, *options: Option) -> Question:
    return Question(Says(technical, plain), options)


def _no(technical: str, plain: str, meaning: str, plainly: str) -> Option:
    return Option(Says(technical, plain), Says(meaning, plainly))


def _yes(technical: str, plain: str, meaning: str, plainly: str) -> Option:
    return Option(Says(technical, plain), Says(meaning, plainly), right=True)


QUIZ = (
    _ask(
        "What does the draft model do, and for whom?",
        "What does the intern do, and for whom?",
        _yes(
            "It proposes the next few tokens, and the target judges them",
            "Suggests the next few words, and the editor judges them",
            "The small model drafts, the big one judges. The draft never decides.",
            "The intern suggests, the editor judges. The intern never decides.",
        ),
        _no(
            "It writes the easy half of the text on its own",
            "Writes the easy half of the text alone",
            "Nothing it writes stays unjudged, easy or not.",
            "Nothing the intern writes stays unjudged, easy or not.",
        ),
        _no(
            "It corrects what the target wrote",
            "Corrects what the editor wrote",
            "The other way round: the target corrects the draft.",
            "The other way round: the editor corrects the intern.",
        ),
    ),
    _ask(
        "Four tokens are drafted. What can one verification pass yield?",
        "Four words are suggested. What can one look of the editor yield?",
        _no(
            "Four tokens, or none",
            "Four words, or none",
            "There is always at least one: the correction, or the bonus.",
            "There is always at least one: the editor writes a word in any case.",
        ),
        _yes(
            "From one to five tokens",
            "From one to five words",
            "One when the first is rejected and corrected, five when all four are accepted and the bonus is added.",
            "One when the first is crossed out and corrected, five when all four stay and one is added.",
        ),
        _no(
            "Exactly one token",
            "Exactly one word",
            "That is the target alone. With a draft, every accepted token is extra.",
            "That is the editor alone. Every suggested word that stays is extra.",
        ),
    ),
    _ask(
        "Why is the output the same as the target’s own?",
        "Why is the text the same as the editor’s own?",
        _no(
            "Because the draft was trained to copy the target",
            "Because the intern has learned to copy the editor",
            "That makes the target accept more. But the text is the same with any draft.",
            "That makes suggestions better. But the text is the same with any intern.",
        ),
        _no(
            "It is not quite the same, only nearly as good",
            "It is not quite the same, only nearly as good",
            "It is the same by construction. Only rounding at a near-tie can make a difference, and the app shows it.",
            "It is the same, because of how it is made.",
        ),
        _yes(
            "A drafted token stays only where the target agrees; everywhere else the target’s own token is written",
            "A word stays only where the editor agrees; everywhere else the editor writes one",
            "Every token is either one the target agrees with or one it wrote itself.",
            "Every word is either one the editor agrees with or one the editor wrote.",
        ),
    ),
    _ask(
        "What does the draft length γ trade?",
        "What do more suggestions in a round trade?",
        _yes(
            "Fewer target passes against more guesses that may be wasted",
            "Fewer looks against more guesses that may be wasted",
            "A longer draft can bring more tokens, but each guess costs time, used or not.",
            "More guesses can bring more words, but each takes time, used or not.",
        ),
        _no(
            "Speed against quality",
            "Speed against quality",
            "Quality does not change: the text is the same at any draft length.",
            "Quality does not change: the text is the same however many are suggested.",
        ),
        _no(
            "Memory against vocabulary",
            "Short words against long ones",
            "The draft length only says how many tokens are proposed in a round.",
            "It only says how many words are suggested at a time.",
        ),
    ),
    _ask(
        "Which of these makes it slower than the target alone?",
        "Which of these makes it slower than the editor alone?",
        _no(
            "A text that is easy to guess",
            "A text that is easy to guess",
            "Easy text is where it gains most.",
            "Easy text is where it gains most.",
        ),
        _yes(
            "A draft that is often wrong, or slow itself",
            "An intern who is often wrong, or slow",
            "Then guesses cost time and are thrown away, or cost about as much as they save.",
            "Then guesses take time and are thrown away, or take about as long as they save.",
        ),
        _no(
            "A target that is much bigger than the draft",
            "An editor much slower than the intern",
            "That helps: guesses are then cheap compared with what they save.",
            "That helps: guesses are then fast compared with what they save.",
        ),
    ),
    _ask(
        "What happens to the tokens after a rejected one?",
        "What happens to the words after a crossed out one?",
        _no(
            "They are accepted if they fit",
            "They stay if they fit",
            "They were guessed after a token that is gone, so they are not even judged.",
            "They were meant to follow a word that is gone, so they are not even read.",
        ),
        _no(
            "They are judged in the next round",
            "They are read in the next round",
            "The next round starts a new draft from the corrected text.",
            "In the next round the intern starts again from the corrected text.",
        ),
        _yes(
            "They are discarded without being judged",
            "They are thrown away unread",
            "They were based on a mistake. The draft starts again after the correction.",
            "They were based on a mistake. The intern starts again after the correction.",
        ),
    ),
    _ask(
        "Where does the correction come from?",
        "Where does the correction come from?",
        _yes(
            "From the pass that checked the draft",
            "From the same look that found the mistake",
            "The pass predicts a token at every place it reads, so it costs nothing extra.",
            "While reading, the editor already saw what belongs there. It costs nothing extra.",
        ),
        _no(
            "From a second pass of the target",
            "From a second look",
            "No second pass is needed: the first has computed it.",
            "No second look is needed.",
        ),
        _no(
            "From the draft’s next best guess",
            "From the intern’s next best guess",
            "The draft is not asked again. The target’s own token takes its place.",
            "The intern is not asked again. The editor writes the word.",
        ),
    ),
    _ask(
        "When is there a bonus token?",
        "When does the editor add a word for free?",
        _no(
            "After every round",
            "After every round",
            "After a rejection the target’s token is the correction instead.",
            "After a mistake that word is needed for the correction.",
        ),
        _yes(
            "When every drafted token was accepted",
            "When every suggested word was right",
            "Nothing needs correcting, so the pass’s last prediction is an extra token.",
            "Nothing needs correcting, so the editor’s next word is added.",
        ),
        _no(
            "When the draft asks for one",
            "When the intern asks for one",
            "The draft has no say in it.",
            "The intern has no say in it.",
        ),
    ),
    _ask(
        "Half of the drafted tokens are accepted. Is it faster?",
        "Half of the suggested words stay. Is it faster?",
        _no(
            "Yes, always: half is saved",
            "Yes, always, since half is saved",
            "Only if drafting and checking cost less than what is saved.",
            "Only if the guessing and looking take less time than what is saved.",
        ),
        _no(
            "No, never: it must be more than half",
            "No, never, it must be more",
            "With a cheap draft, half can be enough.",
            "With a fast intern, half can be enough.",
        ),
        _yes(
            "It depends on what a guess and a check cost",
            "It depends on what a guess and a look cost",
            "Acceptance must be high enough for the costs, so the break-even point differs from machine to machine. "
            "Measure it.",
            "More must be saved than spent, and that differs from case to case. So measure.",
        ),
    ),
    _ask(
        "Why does it help that a pass checks several tokens at once?",
        "Why does it help that one look covers several words?",
        _yes(
            "Checking several given tokens takes far less time than writing them one by one",
            "Looking over several words takes far less time than writing them one by one",
            "Much of the time of a pass is spent reading the model’s weights, and all tokens in the pass share "
            "that. A busy server has no such spare time.",
            "Much of the effort is in getting started, and all the words in one look share it.",
        ),
        _no(
            "It makes the target smarter",
            "It makes the editor smarter",
            "The target is the same model and knows the same as before.",
            "The editor is the same and knows the same as before.",
        ),
        _no(
            "It lets the target skip tokens",
            "It lets the editor skip words",
            "No token is skipped: the target has judged or written each one.",
            "No word is skipped: the editor has judged or written each one.",
        ),
    ),
    _ask(
        "What is the difference between a head on the target and a small draft model?",
        "What is the difference between an intern with the editor’s notes and one without?",
        _no(
            "The head’s guesses need no check",
            "Suggestions made with the notes need no look",
            "They do. The head guesses, and the target judges every guess, as it does with any draft.",
            "They do. The editor judges every suggestion, whoever makes it.",
        ),
        _no(
            "The head works with any target",
            "The notes of any editor will do",
            "The other way round: it was trained on the states of one target. A small model can draft for others too.",
            "The other way round: this intern has learned to read the notes of one editor.",
        ),
        _yes(
            "The head also reads what the target computed about the text",
            "One also knows what the editor made of the text",
            "It starts from the target’s last hidden state. A small model must find all of that out alone.",
            "The notes say what the editor understood. The other one must find that out alone.",
        ),
    ),
    _ask(
        "What does a tree of guesses trade?",
        "What do several suggestions for one place trade?",
        _no(
            "Quality against speed",
            "Quality against speed",
            "The output is the target’s, with a tree as with a chain.",
            "The text is the editor’s in any case.",
        ),
        _yes(
            "A wider check against rounds that end later",
            "A longer look against rounds that end later",
            "If one guess fails, its sibling may be right. But the pass reads every node, and on a CPU each one costs "
            "time.",
            "If one word is wrong, the other may be right. But the editor must look at all of them.",
        ),
        _no(
            "Memory against vocabulary",
            "Short words against long ones",
            "The vocabulary is the same. More nodes mean more tokens in one pass.",
            "The words are the same. There are only more of them in one look.",
        ),
    ),
)
