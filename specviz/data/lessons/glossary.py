"""The glossary: every word of the field that this app uses, in one sentence, and the step of the story that shows it.

One list for the vocabulary of the Learn page and for the words that show their explanation on other pages.
"""

import re
from html import escape

from specviz.data.lessons.method_words import METHOD_WORDS
from specviz.data.lessons.story import Says, Words
from specviz.data.lessons.word import Word

GLOSSARY = (
    Word(
        "draft model",
        Says(
            "The small, cheap model that proposes the next few tokens.",
            "The intern: a small, fast machine that suggests the next few words.",
        ),
        "round",
        "idea",
        "drafted",
        also=("draft models",),
    ),
    Word(
        "target model",
        Says(
            "The model whose text is wanted: it judges every drafted token and decides what is written.",
            "The editor: the big machine whose text you want. It decides every word.",
        ),
        "round",
        "idea",
        "correction",
        also=("target models",),
    ),
    Word(
        "target pass",
        Says(
            "One run of the target model over several tokens: it gives the target’s prediction after each of them.",
            "One look of the editor over several words.",
        ),
        "costs",
        "idea",
        also=("target passes", "target call", "target calls", "pass of the target", "passes of the target"),
    ),
    Word(
        "round",
        Says(
            "One draft phase and the one target pass that judges the draft.",
            "The intern suggests, the editor looks once and decides.",
        ),
        "round",
        "round",
        figure="This run took {passes} rounds for {emitted} tokens.",
        also=("rounds",),
    ),
    Word(
        "draft length",
        Says("How many tokens the draft proposes in a round.", "How many words the intern suggests at a time."),
        "full",
        "engineer",
        "drafted",
        symbol="γ",
        figure="Here it is {draft_length}.",
        also=("draft lengths",),
    ),
    Word(
        "greedy",
        Says(
            "At temperature 0: the model always takes its most likely token, and nothing is drawn at random.",
            "Always the most likely word.",
        ),
        "",
        "acceptance",
        also=("greedily",),
    ),
    Word(
        "judged",
        Says(
            "Checked by the target and then accepted or rejected. Discarded tokens are never judged.",
            "Read by the editor, who keeps it or crosses it out.",
        ),
        "round",
        "rejection",
        "judged",
    ),
    Word(
        "temperature",
        Says(
            "How much chance there is: 0 always takes the most likely token, 1 draws tokens with the model’s own "
            "probabilities.",
            "How much is left to chance when a word is chosen.",
        ),
        "",
        "sampled",
    ),
    Word(
        "p",
        Says(
            "The target’s probability of a token. A drafted token is accepted with probability min(1, p/q).",
            "How likely the editor finds a word.",
        ),
        "",
        "sampled",
    ),
    Word(
        "q",
        Says(
            "The draft’s probability of a token. Some papers swap the letters p and q.",
            "How likely the intern finds a word.",
        ),
        "",
        "sampled",
    ),
    Word(
        "dice roll",
        Says(
            "A random number from 0 to 1 that decides about a drafted token: below p/q it is accepted.",
            "A random number that decides whether a suggested word stays.",
        ),
        "",
        "sampled",
        symbol="u",
        also=("dice rolls",),
    ),
    Word(
        "leftover",
        Says(
            "The part of p above q, scaled to sum to 1: a correction is drawn from it. Papers call it the residual.",
            "What the editor wants more often than the intern offers it.",
        ),
        "",
        "sampled",
        symbol="(p − q)₊",
        also=("residual",),
    ),
    Word(
        "accepted",
        Says("A drafted token that passed the target’s check.", "A suggested word that the editor left in the text."),
        "round",
        "acceptance",
        "accepted",
        figure="In this run {accepted} of {drafted}.",
    ),
    Word(
        "rejected",
        Says(
            "A drafted token that failed the check. In a chain of guesses there is at most one in a round; in a tree, "
            "siblings can fail one after the other.",
            "The first suggested word the editor crossed out.",
        ),
        "round",
        "rejection",
        "rejected",
        figure="In this run {rejected}.",
    ),
    Word(
        "discarded",
        Says(
            "A drafted token after the rejected one: thrown away, never judged.",
            "A suggested word after the crossed out one, thrown away unread.",
        ),
        "round",
        "rejection",
        "discarded",
        figure="In this run {discarded}.",
    ),
    Word(
        "correction",
        Says(
            "The target’s own token, in place of the rejected one.",
            "The word the editor writes in place of the crossed out one.",
        ),
        "round",
        "rejection",
        "correction",
        also=("corrections",),
    ),
    Word(
        "bonus",
        Says(
            "The target’s extra token when every drafted token was accepted. The pass has computed it already.",
            "The extra word the editor adds for free when every suggestion was right.",
        ),
        "full",
        "bonus",
        "bonus",
        also=("bonus token",),
    ),
    Word(
        "own token",
        Says(
            "The target’s single token in a round without a draft: one plain pass, as when it works alone.",
            "The word the editor writes when there is no suggestion to read.",
        ),
        "",
        "round",
        also=("own tokens",),
    ),
    Word(
        "acceptance rate",
        Says(
            "Accepted over drafted tokens: the share of all guesses that are accepted.",
            "The share of all suggested words that stay.",
        ),
        "round",
        "acceptance",
        "drafted",
        figure="In this run {accepted} / {drafted} = {acceptance}.",
    ),
    Word(
        "per-judgement rate",
        Says(
            "Accepted over judged tokens. Discarded tokens do not count. It estimates the α of the papers.",
            "Of the words that the editor has read, the share that stay.",
        ),
        "round",
        "acceptance",
        "judged",
        symbol="α",
        figure="In this run {accepted} / ({accepted} + {rejected}) = {judgement}.",
        also=("acceptance per judgement", "per judgement", "judged drafts"),
    ),
    Word(
        "tokens per target call",
        Says(
            "Tokens written over rounds: how many tokens one expensive target pass brings.",
            "How many words one look of the editor brings.",
        ),
        "full",
        "bonus",
        "emitted",
        symbol="τ",
        figure="In this run {emitted} / {passes} = {per_call}.",
        also=("tokens a target call", "tokens a call"),
    ),
    Word(
        "draft cost",
        Says(
            "The time of one draft step over the time of one target step.",
            "The time of one suggested word, compared with a word by the editor.",
        ),
        "costs",
        "pays",
        symbol="c",
        figure="In this run c = {cost}.",
        also=("draft’s cost", "draft's cost", "draft step"),
    ),
    Word(
        "verification cost",
        Says(
            "The target’s time for k tokens at once over its time for one.",
            "The time of one look over several words, compared with writing a single one.",
        ),
        "costs",
        "idea",
        symbol="v(k)",
        figure="In this run {check}, for {most} tokens at once.",
        also=("tokens at once",),
    ),
    Word(
        "overhead",
        Says(
            "The time of a round that is neither drafting nor checking; o is that time in target steps.",
            "The time of a round that goes into neither suggesting nor looking.",
        ),
        "costs",
        "pays",
        symbol="o",
        figure="In this run o = {overhead}.",
    ),
    Word(
        "near-tie",
        Says(
            "Two tokens with almost equal scores: rounding can decide which of them is chosen.",
            "Two words that are almost equally likely.",
        ),
        "",
        "same",
        also=("near-ties",),
    ),
    Word(
        "modelled",
        Says(
            "Computed by a formula from acceptance and costs, not timed.",
            "Worked out from other figures, not timed.",
        ),
        "",
        "engineer",
    ),
    Word(
        "prefill",
        Says(
            "Reading the prompt before the first token. It is timed separately and left out of the speedup.",
            "Reading what you wrote before the first word is written. It is timed separately.",
        ),
        "prefill",
        "slow",
    ),
    Word(
        "speedup",
        Says(
            "The time of the target alone over the time of both together, for the same text.",
            "How many times faster the two are than the editor alone.",
        ),
        "speedup",
        "pays",
        figure="Measured in this run: {speedup} times, one pair of runs recorded on {machine}.",
        also=("speedups",),
    ),
    *METHOD_WORDS,
)

_FORMS = {form.lower(): word for word in GLOSSARY for form in (word.name, *word.also)}
_OWNED = r"(?<!’s )(?<!'s )(?<!its )"  # “the target’s own token” is any token that it writes, so a correction too
_PATTERNS = [f"{_OWNED if form.startswith('own ') else ''}{re.escape(form)}" for form in sorted(_FORMS, key=len)[::-1]]
_PATTERN = re.compile(r"(?<![\w-])(" + "|".join(_PATTERNS) + r")(?![\w-])", re.IGNORECASE)


def find_word(name: str) -> Word | None:
    """The word with this name or form; None when it is not in the vocabulary."""
    return _FORMS.get(name.lower())


def explained(text: str, key: str, words: Words = "technical") -> str:
    """The text as HTML in which each word of the glossary shows its explanation on hover and on focus.

    Only the first occurrence of a word is marked. HTML in the text is escaped.

    Args:
        text: this app's own plain text; never text from a model, a file or a visitor.
        key: unique on the page, for the elements' ids.
        words: which of the two explanations.
    """
    parts, seen, end = [], set(), 0
    for match in _PATTERN.finditer(text):
        word = _FORMS[match.group().lower()]
        if word.name in seen:
            continue
        seen.add(word.name)
        tip = f"tip-{escape(key)}-{word.id}"
        parts += [
            escape(text[end : match.start()]),
            f'<button type="button" class="explained" aria-describedby="{tip}">{escape(match.group())}</button>'
            f'<span class="explanation" role="tooltip" id="{tip}">{escape(word.says.in_(words))}</span>',
        ]
        end = match.end()
    return "".join([*parts, escape(text[end:])])
