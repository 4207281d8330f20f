/**
 * Text to token ids and back: byte-level BPE, as a `tokenizer.json` of the bundled models describes it.
 *
 * Of our own, because tokenizers.js (Hugging Face, 0.2.0) reads a mark that is spelled out in a prompt, such as
 * `<|endoftext|>`, as that mark and not as text, and brings 37 kB of other kinds of tokenizers.
 */

import { characterAt } from "../shared/bytes.js";

export interface TokenizerFile {
  model: {vocab: Record<string, number>, merges: Array<[string, string]>};
  added_tokens: Array<{id: number, content: string, special: boolean}>;
}

// GPT-2's words (Radford et al. 2019). White space as Unicode has it: JavaScript's \s is a little different.
const SPACE = "\\p{White_Space}";
const WORDS = new RegExp(
  `'(?:[stmd]|re|ve|ll)| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|${SPACE}+(?!${SPACE.replace("\\p", "\\P")})|${SPACE}+`,
  "gu",
);

export class Tokenizer {
  _ids;
  _ranks;
  _special;
  _spelled: string[] = [];
  _known: Map<string, number[]> = new Map(); // words that were split before

  /** `end`: the id that starts and ends a text */
  constructor(file: TokenizerFile, public end: number) {
    this._ids = new Map(Object.entries(file.model.vocab));
    this._ranks = new Map(file.model.merges.map((pair, rank) => [pair.join(" "), rank]));
    this._special = new Set(file.added_tokens.filter((token) => token.special).map((token) => token.id));
    for (const [spelled, id] of this._ids) this._spelled[id] = spelled;
    for (const { id, content } of file.added_tokens) this._spelled[id] = content;
  }

  get size() {
    return this._spelled.length;
  }

  /** The ids of a text after the mark that starts it. A mark that is spelled out in it is text like any other. */
  encode(text: string) {
    const words = (text.match(WORDS) ?? []) as string[];
    for (const word of words) if (!this._known.has(word)) this._known.set(word, this._merged([...new TextEncoder().encode(word)].map((byte) => ALPHABET[byte])));
    return [this.end, ...words.flatMap((word) => this._known.get(word) ?? [])];
  }

  /** The text of these tokens, without marks; bytes that are no character become �. */
  decode(ids: number[]) {
    const bytes = ids.filter((id) => !this._special.has(id)).flatMap((id) => bytesOf(this._spelled[id]));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  }

  /** How one token is shown; bytes that are no character by themselves are shown as numbers. */
  shown(id: number) {
    return this._special.has(id) ? this._spelled[id] : withBytesShown(bytesOf(this._spelled[id]));
  }

  /** Join the pair that was learnt first, again and again (Sennrich et al. 2016). */
  _merged(parts: string[]) {
    for (;;) {
      const ranks = parts.slice(1).map((part, i) => this._ranks.get(`${parts[i]} ${part}`) ?? Infinity);
      const best = Math.min(...ranks);
      if (best === Infinity) return parts.map((part) => this._ids.get(part) as number);
      const place = ranks.indexOf(best);
      parts = [...parts.slice(0, place), parts[place] + parts[place + 1], ...parts.slice(place + 2)];
    }
  }
}

const ALPHABET = byteAlphabet();
const BYTES = new Map(ALPHABET.map((char, byte) => [char, byte]));

/** The character that stands for each byte in GPT-2's printable alphabet: bytes that print are themselves. */
function byteAlphabet() {
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const prints = (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
    return String.fromCharCode(prints ? byte : 256 + others++);
  });
}

function bytesOf(spelled: string) {
  return [...spelled].map((char) => BYTES.get(char) as number);
}

function withBytesShown(bytes: number[]) {
  let shown = "";
  for (let at = 0; at < bytes.length; ) {
    const byte = () => ({ length: 1, character: `⟨${bytes[at].toString(16).toUpperCase().padStart(2, "0")}⟩` });
    const { length, character } = characterAt(bytes, at) ?? byte();
    shown += character;
    at += length;
  }
  return shown;
}
