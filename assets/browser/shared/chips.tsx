// The text of a token for people to read; a token as a chip, a round as a group of chips, and a sentence that quotes tokens. The style sheet decides what a chip looks like in each phase.

import { Component, createElement } from "preact";
import { say } from "./words.js";
import type { FunctionComponent, HTMLAttributes } from "preact";
import type { ChipStatus, Phase, TreePayload } from "../dist/payloads.js";

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

// ---- chips

export type ShownChip = { text: string | null, status: ChipStatus }; // What is drawn of a token; its text is null where it is not known.
export type ShownRound = { chips: ShownChip[], draft_tokens?: string[], tree?: TreePayload };

export const STATUS_WORDS: Record<ChipStatus, string> = {
  accepted: say("accepted"),
  rejected: say("rejected"),
  discarded: say("discarded"),
  "not taken": say("not_taken"),
  correction: say("correction"),
  bonus: say("bonus"),
  own: say("own"),
};

export const MARKS: Record<ChipStatus, string> = { accepted: "✓", rejected: "✗", discarded: "⋯", "not taken": "⋯", correction: "↻", bonus: "+", own: "•" };

const CHIP_LENGTH = 32; // characters

/** Whether the target wrote the token itself. */
export function byTarget({ status }: { status: ChipStatus }) {
  return status === "correction" || status === "bonus" || status === "own";
}

/** A token's text, cut where it is long. */
export function shownText(text: string) {
  return shorten(visible(text), CHIP_LENGTH);
}

export function TokenText({ text }: { text: string }) {
  return <bdi translate={false}>{shownText(text)}</bdi>;
}

type Attributes = HTMLAttributes<HTMLSpanElement>;

export function Chip({ of: { text, status }, class: more = "", ...others }: Attributes & { of: ShownChip }) {
  const said = text === null ? say("unknown") : partOfCharacter(text);
  return (
    <span class={`chip ${className(status)} ${byTarget({ status }) ? "emitted" : "drafted"} ${more}`.trim()} title={said || undefined} {...others}>
      {text === null ? <bdi translate={false}>?</bdi> : <TokenText text={text} />}
    </span>
  );
}

/** A round that is judged, to look at: no chip is a control. `ringed`: those with a ring */
export function JudgedRound({ chips, ringed = [], ...others }: Attributes & { chips: ShownChip[]; ringed?: number[] }) {
  return (
    <span class="round" data-phase="judge" {...others}>
      {chips.map((chip, i) => <Chip of={chip} class={ringed.includes(i) ? "ringed" : ""} aria-hidden={others.role ? true : undefined} />)}
    </span>
  );
}

export function className(status: ChipStatus) {
  return status.replace(" ", "-");
}

/** A chip in words, for a screen reader. `said`: the words for a status */
export function chipLabel({ chips }: ShownRound, roundIndex: number, index: number, phase: Phase | null, said: (status: ChipStatus) => string = (status) => STATUS_WORDS[status]) {
  const { text, status } = chips[index];
  const round = roundIndex + 1;
  if (text === null) return say("unknown_chip", { unknown: say("unknown"), round });
  const state = phase === "judge" ? said(status) : say(phase === "check" ? "being_checked" : "guessed");
  return say("chip", { token: visible(text), state, round });
}

/** A sentence; the tokens that it quotes are what a model wrote: no browser translates them. */
export function Said({ text }: { text: string }) {
  return <>{text.split(/(“[^”]*”)/).map((part, i) => (i % 2 ? <bdi key={i} translate={false}>{part}</bdi> : part))}</>;
}

/** The component, drawn again only where a property is another one. */
export function memo<Properties extends object>(drawn: FunctionComponent<Properties>) {
  return class extends Component<Properties> {
    shouldComponentUpdate(next: Properties) {
      return Object.entries(next).some(([name, value]) => this.props[name as keyof Properties] !== value);
    }

    render() {
      return createElement(drawn, this.props);
    }
  };
}
