"""The tokenizer and the chat template of a GGUF file, as the library `tokenizers` reads them.

A file names the way a text is cut before tokens are looked for (`tokenizer.ggml.pre`) and leaves its rule to llama.cpp
(src/llama-vocab.cpp, build 11434), where these rules are from. Two kinds of vocabulary are read: byte-level BPE, and
SentencePiece's with scores.
"""

from collections.abc import Mapping
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from specviz.core.errors import InputError
from specviz.core.texts import Sentences, join_choices
from specviz.models.gguf_file import EMBEDDING, GgufFile
from specviz.models.refusals import broken, explain_unknown
from specviz.models.tokens import LightTokens

say = Sentences("models")

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BY_DIGITS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA_3, QWEN_2 = BY_DIGITS.format(digits=r"\p{N}{1,3}"), BY_DIGITS.format(digits=r"\p{N}")
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*|\p{{N}}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
RULES: Mapping[str, tuple[str, ...]] = {  # by the file's word: regular expressions that cut, one after the other
    **dict.fromkeys(("gpt-2", "olmo", "mpt", "phi-2"), (GPT_2,)),
    **dict.fromkeys(("smollm", "starcoder", "refact", "codeshell"), (r"\p{N}", GPT_2)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "dbrx", "smaug-bpe"), (LLAMA_3,)),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), (QWEN_2,)),
    "tekken": (TEKKEN,),
}
WHOLE_WORDS = ("llama-bpe", "llama3", "llama-v3", "falcon3", "tekken")  # a word that is a token needs no merges
BEGINS = ("llama-bpe", "llama3", "llama-v3", "falcon3", "tekken")  # where the file does not say whether a text does
NORMAL, CONTROL, USER = 1, 3, 4  # kinds of tokens: marks, and texts that are never cut
CHAT_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")  # end a turn wherever there are such tokens
LONGEST_PIECE = 64  # characters of what is joined; SentencePiece makes pieces of 16 unless told otherwise
SPACE = "▁"  # SentencePiece writes it for a space


def read_tokens(file: GgufFile) -> LightTokens:
    """Raises InputError: it has no tokenizer, or one of a kind that does not load."""
    fields, name = file.fields, file.path.name
    words = fields.get("tokenizer.ggml.tokens")
    if not (isinstance(words, list) and words and isinstance(words[0], str)):
        raise broken(name, "tokenizer.ggml.tokens")
    if EMBEDDING in file.tensors and len(words) > file.tensors[EMBEDDING].shape[0]:
        raise broken(name, EMBEDDING)
    kind = fields.get("tokenizer.ggml.model")
    make = {"gpt2": _byte_level, "llama": _sentence_piece}.get(str(kind))
    if make is None:
        raise explain_unknown(name, "tokenizer.ggml.model", kind, "gpt2, llama")
    if make is _byte_level:
        _check_cuts(name, fields, words)
    try:
        made = make(fields, {word: number for number, word in enumerate(words)})
        kinds = fields.get("tokenizer.ggml.token_type") or []
        marks = [(word, kind == CONTROL) for word, kind in zip(words, kinds, strict=False) if kind in (CONTROL, USER)]
        marks += [(word, True) for word in CHAT_ENDS if word in made.get_vocab()]
        made.add_tokens([AddedToken(word, special=is_mark, normalized=False) for word, is_mark in marks])
        end, begin = _mark(fields, "eos"), _mark(fields, "bos") if _is_begun(fields) else None
        if begin is not None:
            made.post_processor = processors.TemplateProcessing(
                f"{words[begin]} $A", special_tokens=[(words[begin], begin)]
            )
    except Exception as error:  # tokenizers raises this class itself
        raise broken(name, "tokenizer") from error
    return LightTokens(made, end)


def _check_cuts(name: str, fields: Mapping[str, Any], words: list[str]) -> None:
    """Refuse what would cut a text into other tokens than the model's own: no rule, an unknown one, or no merges."""
    rule = str(fields.get("tokenizer.ggml.pre", ""))
    if rule in ("", "default"):
        raise InputError(say("no_cuts", name=name))
    if rule not in RULES:
        raise explain_unknown(name, "tokenizer.ggml.pre", rule, join_choices([*RULES], "and"))
    kinds = fields.get("tokenizer.ggml.token_type") or [NORMAL] * len(words)
    longer = (kind == NORMAL and len(word) > 1 for word, kind in zip(words, kinds, strict=False))
    if not fields.get("tokenizer.ggml.merges") and any(longer):
        raise InputError(say("no_merges", name=name))


def end_ids(file: GgufFile) -> frozenset[int]:
    """The tokens that end a text, or a turn of a chat."""
    keys = ("eos_token_id", "eot_token_id", "eom_token_id")
    ends = (file.fields.get(f"tokenizer.ggml.{key}") for key in keys)
    words = file.fields.get("tokenizer.ggml.tokens", [])
    of_chats = (number for number, word in enumerate(words) if word in CHAT_ENDS)
    return frozenset([*(each for each in ends if isinstance(each, int)), *of_chats])


def chat_template(file: GgufFile) -> tuple[str | None, str | None]:
    """The template, and the mark at the beginning, which llama.cpp writes once, whether the template does or not."""
    template, begin = file.fields.get("tokenizer.chat_template"), _mark(file.fields, "bos")
    mark = None if begin is None else file.fields["tokenizer.ggml.tokens"][begin]
    if template and mark and _is_begun(file.fields) and "bos_token" not in template and mark not in template:
        template = "{{ bos_token }}" + template
    return template, mark


def _is_begun(fields: Mapping[str, Any]) -> bool:
    """Whether every text begins with a mark."""
    is_usual = fields.get("tokenizer.ggml.model") == "llama" or fields.get("tokenizer.ggml.pre") in BEGINS
    return bool(fields.get("tokenizer.ggml.add_bos_token", is_usual))


def _mark(fields: Mapping[str, Any], key: str) -> int | None:
    """The id of the token at the end or the beginning of a text; None without one."""
    mark, count = fields.get(f"tokenizer.ggml.{key}_token_id"), len(fields["tokenizer.ggml.tokens"])
    if mark is not None and not (isinstance(mark, int) and 0 <= mark < count):
        raise ValueError(f"no token {mark!r}")
    return mark


def _byte_level(fields: Mapping[str, Any], vocabulary: dict[str, int]) -> Tokenizer:
    rule = fields.get("tokenizer.ggml.pre", "")
    merges = [tuple(each.split(" ", 1)) for each in fields.get("tokenizer.ggml.merges", [])]
    made = Tokenizer(BPE(vocabulary, merges, ignore_merges=rule in WHOLE_WORDS))
    if RULES[rule] == (QWEN_2,):
        made.normalizer = normalizers.NFC()  # as Qwen's own tokenizer does; llama.cpp does not
    cuts = [pre_tokenizers.Split(Regex(each), "isolated") for each in RULES[rule]]
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([*cuts, bytes_of])
    made.decoder = decoders.ByteLevel()
    return made


def _sentence_piece(fields: Mapping[str, Any], vocabulary: dict[str, int]) -> Tokenizer:
    scores = dict(zip(vocabulary, fields.get("tokenizer.ggml.scores", []), strict=True))
    unknown = dict(enumerate(vocabulary)).get(fields.get("tokenizer.ggml.unknown_token_id", -1))
    made = Tokenizer(BPE(vocabulary, _merges(scores, vocabulary), unk_token=unknown, fuse_unk=True, byte_fallback=True))
    is_led = fields.get("tokenizer.ggml.add_space_prefix", True)
    lead = [normalizers.Prepend(SPACE)] if is_led else []
    made.normalizer = normalizers.Sequence([*lead, normalizers.Replace(" ", SPACE)])
    spaces = decoders.Replace(SPACE, " ")
    made.decoder = decoders.Sequence(
        [spaces, decoders.ByteFallback(), decoders.Fuse(), *([decoders.Strip(" ", 1, 0)] if is_led else [])]
    )
    return made


def _merges(scores: Mapping[str, float], vocabulary: Mapping[str, int]) -> list[tuple[str, str]]:
    """Every pair of pieces whose whole is one too, the best score first: so SentencePiece joins them."""
    found = []
    for whole, score in scores.items():
        if len(whole) > LONGEST_PIECE:
            continue
        cuts = [cut for cut in range(1, len(whole)) if whole[:cut] in vocabulary and whole[cut:] in vocabulary]
        pairs = sorted(((whole[:cut], whole[cut:]) for cut in cuts), key=lambda pair: [*map(vocabulary.get, pair)])
        found += [(score, pair) for pair in pairs]
    found.sort(key=lambda each: (each[0], len(each[1][0]), len(each[1][1])), reverse=True)
    return [pair for _, pair in found]
