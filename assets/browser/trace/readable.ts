// A trace with token texts for people: a part of a cut character is shown as that character and which part it is,
// ö(1/2). The file keeps the bytes, ⟨C3⟩⟨B6⟩. specviz/core/readable.py does the same for the terminal and the pages.

import { characterAt } from "../shared/bytes.js";
import { acceptedTokens, isTree, pathsOf, shown } from "./rounds.js";
import type { Round, Trace } from "../dist/payloads.js";

type Item = { token: number, text: string, byte: number | null };

const BYTE = /⟨([0-9A-F]{2})⟩/;
const AROUND = 3; // tokens that can hold the rest of a character, which has four bytes at most

/**
 * The texts of consecutive tokens; a part of a cut character as the character and which part it is: ö(1/2). Bytes that are
 * no whole character together stay bytes.
 */
export function spelled(texts: string[]) {
  if (!texts.some((text) => text.includes("⟨"))) return [...texts];
  const spelling = texts.map(() => "");
  for (const { items, character } of characters(texts)) {
    const tokens = [...new Set(items.map(({ token }) => token))];
    tokens.forEach((token, i) => (spelling[token] += tokens.length === 1 ? character : `${character}(${i + 1}/${tokens.length})`));
  }
  return spelling;
}

/** The text of consecutive tokens, cut only where a character ends: tokens that share one come as one text. */
export function merged(texts: string[]) {
  const pieces: string[] = [];
  let last = -1;
  for (const { items, character } of characters(texts)) {
    if (pieces.length && items[0].token <= last) pieces[pieces.length - 1] += character;
    else pieces.push(character);
    last = items[items.length - 1].token;
  }
  return pieces;
}

/** What stands in the texts, in order: the items of a character or a run of them, and how it is written. */
function characters(texts: string[]) {
  const items = texts.flatMap((text, token) => {
    const parts = text.split(BYTE); // every second one is the two digits of a byte
    const its: Item[] = parts.map((part, i) => (i % 2 ? { token, text: `⟨${part}⟩`, byte: parseInt(part, 16) } : { token, text: part, byte: null }));
    return its.filter((item) => item.text || its.length === 1);
  });
  const found = [];
  for (let at = 0; at < items.length; ) {
    const bytes = items.slice(at, at + AROUND + 1).map(({ byte }) => byte);
    const { length, character } = characterAt(bytes.slice(0, [...bytes, null].indexOf(null)) as number[], 0) ?? { length: 1, character: items[at].text }; // as it is, where its bytes are none
    found.push({ items: items.slice(at, at + length), character });
    at += length;
  }
  return found;
}

/** The same run, its token texts readable where their bytes are whole characters. */
export function readable(trace: Trace): Trace {
  if (!trace.rounds.some((round) => textsOf(round).some((text) => text.includes("⟨")))) return trace;
  let before = trace.prompt.tokens.slice(-AROUND);
  const written = trace.rounds.map(writtenIn);
  const rounds = trace.rounds.map((round, index) => {
    const after = written.slice(index + 1, index + 1 + AROUND).flat();
    const made = readableRound(round, before, after.slice(0, AROUND));
    before = [...before, ...written[index]].slice(-AROUND);
    return made;
  });
  return { ...trace, rounds };
}

function textsOf({ drafted, emitted, draft_tokens: own }: Round) {
  return [...drafted.map(({ text }) => text ?? ""), emitted.text ?? "", ...(own ?? [])];
}

/** The texts of the tokens that a round adds to the text. */
export function writtenIn(round: Round) {
  const texts = acceptedTokens(round).map(shown);
  return round.emitted.kind === "none" ? texts : [...texts, round.emitted.text ?? ""];
}

/** What the text goes on with decides the tokens that stay; a draft's own next tokens decide the others. */
function readableRound(round: Round, before: string[], after: string[]): Round {
  const written = writtenIn(round);
  const guesses = round.drafted.map(shown);
  const stays = spelled([...before, ...written, ...after]).slice(before.length);
  const paths = pathsOf(round).map((path) => path.map((place) => guesses[place]));
  const guessed = paths.map((path) => spelled([...before, ...(isTree(round) ? path : guesses)])[before.length + path.length - 1]);
  const drafted = round.drafted.map((token, i) => ({
    ...token,
    text: token.text && (token.status === "accepted" ? stays[paths[i].length - 1] : guessed[i]),
    candidates: alternatives(token.candidates, [...before, ...paths[i].slice(0, -1)], token.id, guessed[i]),
  }));
  const made = { ...round, drafted };
  if (round.draft_tokens) made.draft_tokens = spelled(round.draft_tokens);
  if (round.emitted.kind === "none") return made;
  const { id, candidates, residual_top: residual } = round.emitted;
  const text = stays[written.length - 1];
  const context = [...before, ...written.slice(0, -1)];
  const [goesOn, remains] = [alternatives(candidates, context, id, text), alternatives(residual, context, id, text)];
  return { ...made, emitted: { ...round.emitted, text, candidates: goesOn, residual_top: remains } };
}

/** Each as it would go on from there; the token itself as it is shown. */
function alternatives<Alternative extends [number, string, ...unknown[]]>(found: Alternative[] | undefined, before: string[], own: number | null | undefined, text: string): Alternative[] {
  return (found ?? []).map((each) => {
    const [id, alternative, ...rest] = each;
    const goesOn = id === own ? text : (spelled([...before.slice(-AROUND), alternative]).at(-1) as string);
    return [id, goesOn, ...rest] as unknown as Alternative;
  });
}
