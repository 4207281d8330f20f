// Text of tokens, for people to read.

import { say } from "./words.js";

const SYMBOLS: Record<string, string> = { " ": "␣", "\n": "↵", "\t": "⇥" };
const CONTROLS = /[\x00-\x1f\x7f]/g;
const INVISIBLE = /[\u0080-\u009f\u00a0\u00ad\u061c\u180e\u200b-\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
const QUOTED_LENGTH = 24; // characters of a token in a sentence

/** Whether it is a mark of the model, not a part of the text that a person wrote. */
export function isSpecial(text: string) {
  return /^<.+>$/.test(text);
}

/** A token's text with a visible sign for every character that cannot be seen. */
export function visible(text: string) {
  if (text === "") return say("empty");
  return text
    .replace(/[ \n\t]/g, (character) => SYMBOLS[character])
    .replace(CONTROLS, (character) => `⟨${code(character, 2)}⟩`)
    .replace(INVISIBLE, (character) => `⟨U+${code(character, 4)}⟩`);
}

function code(character: string, digits: number) {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(digits, "0");
}

const PART = /(.)\(([1-4])\/([2-4])\)/u;

/** What to say of a token that is a part of a character, ö(1/2): see specviz/core/readable.py. Empty for another token. */
export function partOfCharacter(text: string) {
  const found = PART.exec(text);
  if (!found) return "";
  const [, character, part, parts] = found;
  return say("part_of_character", { character, part, parts });
}

/** For sentences: the text in quotes, without the space before it. */
export function quoted(text: string) {
  return say("quoted", { text: shorten(visible(text.trim() || text), QUOTED_LENGTH) });
}

/** `length`: in characters */
export function shorten(text: string, length: number) {
  const characters = [...text];
  return characters.length > length ? characters.slice(0, length - 1).join("") + "…" : text;
}
