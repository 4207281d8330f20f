"""The questions users of speculative decoding ask, each answered with recorded or published figures."""

from specviz.data.lessons.faq import FaqEntry
from specviz.data.lessons.story import Says
from specviz.data.published import BUSY_EAGLE, BUSY_LONG_TEXTS, EXPERTS

COSTS = FaqEntry(
    name="costs",
    question=Says(
        "Why is it slower although acceptance is high?", "Why is it slower although most suggestions are right?"
    ),
    answer=Says(
        "Because drafting and checking are not free. Here the draft model is larger than its target: {accepted} of "
        "{drafted} drafted tokens were accepted ({acceptance}), but the run still had only {speedup} times the "
        "speed of the target alone. A draft step cost {cost} target steps, and a check of {most} tokens {check}.",
        "Because suggesting and checking take time. Here the intern is slower than the editor: {accepted} of "
        "{drafted} suggested words stayed, but the two together had only {speedup} times the editor’s own speed.",
    ),
    source="recorded",
    trace="costly",
    page="",
    run_it=Says("Run this pair", "Run this pair"),
)

LONGER = FaqEntry(
    name="longer",
    question=Says("Why are longer drafts not better?", "Why not suggest more words at a time?"),
    answer=Says(
        "A late guess is accepted only if all guesses before it were, and each guess costs time. Over {prompts} story "
        "prompts the draft lengths {near_lengths} were about as fast ({near_speedups} times the target alone): so few "
        "prompts cannot say which is best. Draft length {longest_length} is clearly slower: {longest_speedup} times, "
        "with {longest_rate} of the drafted tokens accepted.",
        "A late word stays only if all words before it did, and each takes time. On {prompts} stories, {near_lengths} "
        "words at a time were about as fast as each other. With {longest_length} it was clearly slower: only "
        "{longest_rate} of the suggested words stayed.",
    ),
    source="recorded",
    trace="round",
    page="",
    run_it=Says("Run it with the longest draft", "Run it with the most words"),
    measured="sweeps",
)

BIGGER = FaqEntry(
    name="bigger",
    question=Says("Why is a bigger draft not better?", "Why not send a cleverer intern?"),
    answer=Says(
        "It is right more often, but each guess costs more. Over {prompts} story prompts, {biggest_draft} had "
        "{biggest_rate} of its tokens accepted and reached {biggest_speedup} times the speed of the target alone; "
        "{best_draft} had {best_draft_rate} accepted and reached {best_draft_speedup} times.",
        "A cleverer intern is right more often, but slower. On {prompts} stories, {biggest_rate} of the cleverest "
        "one’s words stayed, and the two reached {biggest_speedup} times the editor’s own speed. Of a less clever "
        "one’s words {best_draft_rate} stayed, and the speed was {best_draft_speedup} times.",
    ),
    source="recorded",
    trace="round",
    page="",
    run_it=Says("Run it with the biggest draft", "Run it with the cleverest intern"),
    measured="sweeps",
)

COLOURS = FaqEntry(
    name="colours",
    question=Says(
        "Which tokens came from the draft, and why should I believe the colours?",
        "Which words came from the intern, and why should I believe the colours?",
    ),
    answer=Says(
        "Blue tokens were drafted and accepted, green ones are the target’s own. You can check this yourself: "
        "select any token on the stage to see both models’ probabilities for it, and compare the whole output with "
        "plain decoding, id for id.",
        "Blue words are the intern’s and stayed. Green ones are the editor’s own. You can check this yourself: the "
        "linked page lets the editor write alone and compares the two texts piece by piece.",
    ),
    source="general",
    trace="round",
    page="proof",
    run_it=Says("Check it yourself", "Check it yourself"),
)

RATES = FaqEntry(
    name="rates",
    question=Says("What does “acceptance rate” count?", "How is it counted how often the intern is right?"),
    answer=Says(
        "Three different things go by that name. Accepted over drafted: here {accepted} / {drafted} = {acceptance}. "
        "Accepted over judged, where discarded tokens do not count: {judgement}. And tokens per target call, "
        "{per_call}. A figure without its definition cannot be compared.",
        "In three ways. Of all suggested words, {acceptance} stayed here. Of those that the editor read, {judgement} "
        "stayed, because words after a crossed out one are thrown away unread. And each look of the editor brought "
        "{per_call} words. Ask which one is meant before you compare two figures.",
    ),
    source="recorded",
    trace="round",
    page="worksheet",
    run_it=Says("Convert one into another", "Convert one into another"),
)

ROUNDING = FaqEntry(
    name="rounding",
    question=Says(
        "Why does greedy output sometimes differ from plain decoding?",
        "Why is the text sometimes not the one that the editor writes alone?",
    ),
    answer=Says(
        "A pass over several tokens adds numbers in another order than a pass over one. Where the target’s two most "
        "likely tokens are nearly equal, rounding can decide which is chosen, in bfloat16 far more often than in "
        "float32. The app finds such a place and shows both logits.",
        "The machine’s numbers have tiny errors, and reading several words at once makes other errors than reading "
        "one. Where the editor’s two best words are almost equally good, that can decide which one is written. The app "
        "finds such a place and shows it.",
    ),
    source="general",
    trace="round",
    page="proof",
    run_it=Says("Look at a near-tie", "Look at such a place"),
)

TEMPERATURE = FaqEntry(
    name="temperature",
    question=Says(
        "Why does the speedup shrink at temperature above zero?", "Why is the gain smaller when words are drawn by lot?"
    ),
    answer=Says(
        "Sampling makes both models less predictable: over {prompts} story prompts {greedy_rate} of judged tokens were "
        "accepted when greedy and {hot_rate} at temperature {hot_temperature}, and the speedup went from "
        "{greedy_speedup} to {hot_speedup} times{hot_note}. How a system drafts matters too. With p the target’s "
        "probability of a token and q the draft’s, over {positions} places of story text: the draft draws from q and "
        "the lossless rule judges, as in this app, transformers and the papers, Σ min(p, q) = {minimum}. The draft "
        "takes its most likely token and the target’s own draw must be the same, as in vLLM, SGLang and llama.cpp, "
        "p(argmax q) = {most_likely}. The draft draws and the target’s own draw must be the same, which is rare in "
        "practice, Σ p·q = {product}.",
        "Chance makes both of them harder to guess: on {prompts} stories {greedy_rate} of the words that the editor "
        "read stayed when both took their best word, and {hot_rate} when words were drawn by lot. It also matters how "
        "the intern chooses. Over {positions} places of stories: the intern draws and a fair rule decides, as in this "
        "app, {minimum} stay. The intern takes the best word and the editor must draw the same, as in many servers, "
        "{most_likely}. Both draw and must draw the same, {product}.",
    ),
    source="recorded",
    trace="sampled",
    page="",
    run_it=Says("Run it at a temperature above zero", "Run it with words drawn by lot"),
    measured="sweeps",
)

PAIR = FaqEntry(
    name="pair",
    question=Says("Why is my pair refused?", "Why can these two not work together?"),
    answer=Says(
        "The draft’s token ids must mean the same text to the target. Before anything is loaded the two "
        "vocabularies are compared token by token, and a refusal names the first one that differs. A pair with "
        "different tokenizers can still run greedily: the draft’s text is split again into the target’s tokens.",
        "The intern and the editor must cut text into the same pieces. The app compares their lists of pieces before "
        "it starts, and names the first one that differs. With different lists they can still work together when "
        "nothing is drawn by lot: the intern’s text is then cut again.",
    ),
    source="general",
    trace="round",
    page="",
    run_it=Says("Try the pairs that fit", "Try the pairs that fit"),
)

BUSY = FaqEntry(
    name="busy",
    question=Says("Why is there less gain on a busy server?", "Why is there less gain when many people ask at once?"),
    answer=Says(
        "Checking several tokens is cheap only while the machine waits for memory. A server that decodes many texts "
        "together already uses that waiting time. Recorded with {batch_length} guesses a round: {batch_alone} times "
        "the speed for one text, {batch_together} times for {batch_most} texts together. There checking "
        "{batch_checked} tokens of each takes {batch_check} plain passes instead of {batch_check_alone} (the page When "
        "it helps, In batches). The gain shrinks, it does not always vanish: {eagle} had {eagle_speedup} times the "
        "throughput with {eagle_batch}, and {long} up to {long_speedup} times with {long_batch}, where reading the "
        "cache takes most of the time.",
        "Checking several words is cheap only while the machine would wait anyway. A machine that serves many people "
        "already uses that time. Measured with {batch_length} words suggested a round: one text was done "
        "{batch_alone} times as fast as without an intern, {batch_most} texts together {batch_together} times. The "
        "gain gets smaller, it does not always go away: {eagle} reported {eagle_speedup} times the words a second with "
        "{eagle_batch}.",
    ),
    source="recorded",
    trace="round",
    page="worksheet",
    run_it=Says("Move the batch slider", "Move the slider yourself"),
    measured="batches",
    cites=(BUSY_EAGLE, BUSY_LONG_TEXTS),
)

EXPERT_TARGETS = FaqEntry(
    name="experts",
    question=Says(
        "Why does it often lose on a mixture-of-experts target?", "Why does it often lose when the editor is a team?"
    ),
    answer=Says(
        "Such a target uses only a few of its experts for one token. The tokens of a draft need different experts, so "
        "a check reads far more weights than a step does: v(k) grows nearly like k. And a step is cheap already, so "
        "the draft is expensive beside it. Reported: {experts} had {experts_speedup} times its speed without a draft. "
        "Measure v(k) before you choose, and use a very cheap draft.",
        "Some big machines are a team, and each word needs only a few of its members. Several words at once need many "
        "different members, so a look over them is no longer cheap. Reported: {experts} had {experts_speedup} times "
        "the speed it has alone.",
    ),
    source="published",
    trace="round",
    page="worksheet",
    run_it=Says("Raise v on the worksheet", "Try other costs"),
    cites=(EXPERTS,),
)

MEMORY = FaqEntry(
    name="memory",
    question=Says("What does the draft cost in memory?", "How much room does the intern need?"),
    answer=Says(
        "Its weights, here {draft_share} of the target’s, and a key-value cache of its own, which grows with every "
        "token of every sequence, like the target’s. On a full server that memory is missing elsewhere: it would have "
        "held more sequences. So count both before you choose a draft. Prompt lookup needs neither, and a head on "
        "the target needs little.",
        "Here the intern is {draft_share} of the editor’s size. The intern also keeps notes on every text, and they "
        "grow with each word. A full machine could have used that room for more people.",
    ),
    source="recorded",
    trace="round",
    page="",
    run_it=Says("Try a draft without a model", "Run it without an intern’s machine"),
)

QUANTISED = FaqEntry(
    name="quantised",
    question=Says("Does a quantised draft or target change anything?", "What if the machines are made smaller?"),
    answer=Says(
        "A quantised draft cannot change the text, because the target still judges every token. It is cheaper and "
        "usually right a little less often: measure both. A quantised target is another model and writes another "
        "text. Its own steps become cheaper, so the same draft costs more beside it, and c rises. The number format "
        "also changes what a check costs: here v of five tokens was {check_float32} in float32 and {check_bfloat16} "
        "in bfloat16.",
        "A smaller intern cannot change the text, because the editor still decides. It is faster and usually right a "
        "little less often. A smaller editor is another editor and writes another text. Then the same intern takes "
        "more time beside it, so there is less to gain.",
    ),
    source="recorded",
    trace="round",
    page="race",
    run_it=Says("Race it in another number format", "Race it yourself"),
    measured="passes",
)

PAPER = FaqEntry(
    name="paper",
    question=Says(
        "Why do I not reach the acceptance length of the paper?", "Why do I not get what the paper promises?"
    ),
    answer=Says(
        "First compare the definitions: many papers and systems count the target’s own token too, and a tree of drafts "
        "gives more than a chain. Then compare the texts: here {pair} wrote {easy_per_call} tokens a pass on an easy "
        "text and {hard_per_call} on a hard one. Random prompts, which load tests like to use, are hard to guess. Then "
        "the temperature, the chat template, and whether the draft was trained for exactly this target.",
        "First compare what was counted: many count the editor’s own word too. Then compare the texts: here one pair "
        "wrote {easy_per_call} words a look on an easy text and {hard_per_call} on a hard one. Random words are the "
        "hardest to guess. And an intern must know the editor: one who was trained with another editor is wrong more "
        "often.",
    ),
    source="recorded",
    trace="no-gain",
    page="",
    run_it=Says("Run the hard text", "Run the hard text"),
)

RIGHT = FaqEntry(
    name="right",
    question=Says(
        "Is it worth it if half of the drafts are wrong?", "Is it worth it if half of the suggestions are wrong?"
    ),
    answer=Says(
        "It depends on the costs. Here {acceptance} of the drafted tokens were accepted, a guess cost {cost} target "
        "steps, and the run had {speedup} times the speed of the target alone. Only a measurement shows whether "
        "there is a real gain, for each kind of text.",
        "It depends on the time that they take. Here {acceptance} of the suggested words stayed, and the run had "
        "{speedup} times the editor’s own speed. Only the clock shows whether there is a real gain, for each kind of "
        "text.",
    ),
    source="recorded",
    trace="no-gain",
    page="helps",
    run_it=Says("See it by kind of text", "See it by kind of text"),
)

THOUGHTS = FaqEntry(
    name="thoughts",
    question=Says(
        "What is it worth that a draft sees the target’s state?", "What is it worth that the intern sees the notes?"
    ),
    answer=Says(
        "Compare two drafts of about one size: wren-eagle, a head that reads the target’s last hidden state, and "
        "wren-nano, which reads the text only. Over {methods_prompts} prompts of each kind of text, greedy, with "
        "drafts of {methods_length}, they brought {eagle_per_call} and {nano_per_call} tokens per target call, and a "
        "guess cost {eagle_step} and {nano_step} target steps. Medusa’s heads see the state too, but not each other’s "
        "guesses: {medusa_per_call} tokens, and the whole draft cost {medusa_draft} steps instead of {eagle_draft}.",
        "Compare two interns of about the same speed. With one who reads the editor’s notes, a look brought "
        "{eagle_per_call} words. With one who reads the text only, {nano_per_call}. Several helpers who read the notes "
        "but do not hear each other brought {medusa_per_call}, and they need the least time.",
    ),
    source="recorded",
    trace="method-eagle",
    page="",
    run_it=Says("Run the head", "Run it with the notes"),
    measured="methods",
)

LOSSLESS = FaqEntry(
    name="lossless",
    question=Says(
        "Are trees, block verification and typical acceptance lossless?",
        "Is it still the editor’s text with all of this?",
    ),
    answer=Says(
        "A tree is: each guess is judged by the usual rule, and when all guesses for a place have failed, the target’s "
        "token is drawn from what is left of p. Block verification is: it judges the draft as a whole and never "
        "accepts fewer tokens on average. A draft of most probable tokens is too. Typical acceptance and an ensemble "
        "of both models are not: they accept more on purpose, and the text is no longer the target’s. The linked page "
        "counts tokens for each of them.",
        "With second suggestions, yes: each one is judged as before. When all words are judged together, yes. When the "
        "intern always takes the best word, yes. But an editor who is lenient on purpose lets words stay that were not "
        "wanted, and then it is no longer the same text. The linked page counts.",
    ),
    source="general",
    trace="round",
    page="proof",
    run_it=Says("See which rules fail", "See which ones fail"),
)

FAQ = (
    COSTS,
    LONGER,
    BIGGER,
    COLOURS,
    RATES,
    ROUNDING,
    TEMPERATURE,
    PAIR,
    BUSY,
    EXPERT_TARGETS,
    MEMORY,
    QUANTISED,
    PAPER,
    RIGHT,
    THOUGHTS,
    LOSSLESS,
)
