"""Two steps that look inside: drawing by lot, and why a check is cheap. Texts are filled by `story.facts_of`."""

from specviz.data.lessons.story import Question, Says, Step, option

SAMPLED = Step(
    name="sampled",
    title=Says("Temperature above zero", "When words are drawn by lot"),
    text=Says(
        "Above temperature zero the draft draws each token from its own probabilities q. Yet every token must appear "
        "exactly as often as the target’s probabilities p say. In round {drawn_round} the draft drew “{drawn_token}”, "
        "with q = {drawn_q}; the target gives it p = {drawn_p}. So it is accepted with probability p/q = "
        "{drawn_chance}. One dice roll decides: u = {drawn_u} is above that, so it is rejected. Its replacement is "
        "drawn from the leftover, the part of p above q, scaled to sum to one.",
        "When words are drawn by lot, the intern draws first. Yet every word must appear as often as if the editor "
        "drew alone. Here the intern drew “{drawn_token}”. The intern draws it in {drawn_q_of} cases, the "
        "editor only in {drawn_p_of}. So the editor lets it stay in {drawn_chance_of}. A dice roll decides, and "
        "this time the word goes. Another one is drawn from what the intern offers too rarely.",
    ),
    trace="sampled",
    asks_at=("drawn", "check"),
    reveals_at=("drawn", "judge"),
    focus="diagram",
    picture="dice",
    question=Question(
        Says(
            "Which token can never be drawn from the leftover?",
            "Which word can never be drawn as the replacement?",
        ),
        (
            option(
                "The target’s most likely one",
                "The one that the editor likes best",
                "It can, wherever its p is above its q. It often has the largest part of the leftover.",
                "It can, wherever the editor draws it more often than the intern does.",
            ),
            option(
                "Any token that the draft seldom offers",
                "Any word that the intern seldom offers",
                "The other way round: where q is small, most of p is left over. So the leftover makes up for what the "
                "draft offers too rarely.",
                "The other way round: the replacement makes up for what the intern offers too rarely.",
            ),
            option(
                "The rejected one",
                "The word that had to go",
                "It was rejected because its q is above its p: the draft offers it too often, so nothing of it is "
                "left over.",
                "It had to go because the intern offers it too often. So nothing of it is left to draw.",
                right=True,
            ),
        ),
    ),
)

ARITHMETIC = Step(
    name="arithmetic",
    title=Says("More arithmetic, less time", "More work, less time"),
    text=Says(
        "Why does a pass over {checked} tokens cost little more than one? Each pass fetches all weights "
        "from memory, here {weights} million numbers. For one token each is used once. For {checked} tokens it is "
        "fetched once and used {checked} times: more arithmetic, but fetching takes most of the time. Measured on "
        "{pass_machine}: {check_bfloat16} times the time of one token in bfloat16, where this processor computes "
        "fast, and {check_float32} times in float32, where it is slower. One by one takes {checked} times as long.",
        "Why is one look at {checked} words nearly as fast as a look at one? For each look the editor must fetch a "
        "heavy book, here with {weights} million numbers, and turn all its pages. Fetching takes most of the time. For "
        "{checked} words the book is fetched once, and each page is used {checked} times. That is more work, but "
        "hardly more time: on the clock {check_bfloat16} times as long as for one word.",
    ),
    trace="round",
    asks_at=("full", "check"),
    reveals_at=("full", "check"),
    focus="diagram",
    picture="weights",
    question=Question(
        Says(
            "A busy server reads tokens of many texts in each pass. What happens to the gain of drafting?",
            "A busy editor reads words of many people in each look. What happens to the gain?",
        ),
        (
            option(
                "It grows with the number of texts",
                "It grows with the number of people",
                "Each text gains less, not more: the weights are fetched once for all texts already.",
                "Each one gains less, not more: the book is fetched once for all people already.",
            ),
            option(
                "It shrinks: the fetching is shared already",
                "It shrinks, the fetching is shared already",
                "Then arithmetic takes the time, and each further token in a pass adds to it.",
                "Then the work itself takes the time, and each further word adds to it.",
                right=True,
            ),
            option(
                "Nothing: a pass is a pass",
                "Nothing, a look is a look",
                "A pass over a few tokens mostly waits for memory. A pass over hundreds mostly computes.",
                "A look at a few words is mostly fetching. A look at hundreds is mostly work.",
            ),
        ),
    ),
)
