// The picture of one pass of the target: the last token and the guesses enter side by side, and out of each comes the
// token that the target expects after it. It is of the round at the playhead, in a greedy run; the style sheet shows
// each part in its phase.

import { MARKS, byTarget, className } from "../shared/chips.js";
import { box, label, svg } from "../shared/svg.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { say, voiceOf, type Voice } from "./words.js";
import type { Chip, ChipStatus, DiagramPayload, JudgedChip, Phase, StagePayload, TargetChip } from "../dist/payloads.js";
import type { Drawing } from "./diagram.js";

export type Place = { read: string, status: ChipStatus | null, expected: TargetChip | JudgedChip | null, next: Chip | null }; // One place of the pass. `status` is that of the guess that is read there, null for the text's last token; `expected` is what the target expects after it, null after a wrong guess: there it is not used, and no run records it. `next` is the guess that it is compared with, null after the last one.

const ROW = { caption: 13, chip: 22, arrow: 18, model: 40 };
const LETTER = 7.6; // pixels of a character of a token
export const PASS_HEIGHT = 2 * (ROW.caption + ROW.chip + ROW.arrow) + ROW.model + 12;

/** `index`: of the round */
export function placesOf({ rounds, prompt }: Pick<StagePayload, "rounds" | "prompt">, index: number): Place[] {
  const { chips } = rounds[index];
  const guesses = chips.filter((chip) => !byTarget(chip));
  const own = chips.find(isOwn) ?? null;
  const before = rounds[index - 1]?.chips.findLast((chip) => byTarget(chip) || chip.status === "accepted");
  const read: Array<{ text: string, status: ChipStatus | null }> = [{ text: before?.text ?? prompt.tokens.at(-1) ?? "", status: null }, ...guesses];
  return read.map(({ text, status }, i) => {
    const next = guesses[i] ?? null;
    if (next?.status === "accepted") return { read: text, status, expected: next, next };
    const used = next ? next.status === "rejected" : own?.status === "bonus";
    return { read: text, status, expected: used ? own : null, next };
  });
}

function isOwn(chip: Chip): chip is TargetChip {
  return byTarget(chip);
}

/** `index`: of the round */
export function drawPass(run: StagePayload, index: number, { top, size, words }: Drawing): SVGElement[] {
  const said = voiceOf(words);
  const places = placesOf(run, index);
  const model = top + ROW.caption + ROW.chip + ROW.arrow;
  const middle = size.width / 2;
  const wide = size.width > 500;
  const column = (size.width - 8) / places.length;
  return [
    box(4, model, size.width - 8, ROW.model, "box target"),
    label(said("pass_model"), middle, model + 17, "title"),
    label(said("pass_asks"), middle, model + 32, "small"),
    ...places.flatMap((place, i) => drawPlace(place, i, { middle: 4 + (i + 0.5) * column, width: Math.min(column - (wide ? 16 : 4), 132), top, model, said })),
  ];
}

function drawPlace(place: Place, i: number, { middle, width, top, model, said }: { middle: number, width: number, top: number, model: number, said: Voice }) {
  const { read, status, expected } = place;
  const out = model + ROW.model + ROW.arrow;
  const kind = className(expected?.status ?? "discarded");
  const text = expected && byTarget(expected) ? `${MARKS[expected.status]} ${visible(expected.text)}` : visible(expected?.text ?? "⋯");
  return [
    label(nameOf(i, said), middle, top + 9, "small"),
    ...chip(visible(read), middle, top + ROW.caption, width, `read ${className(status ?? "own")}`),
    down(middle, model - ROW.arrow),
    down(middle, model + ROW.model),
    ...chip("?", middle, out, width, "ask"),
    ...chip(text, middle, out, width, `expected ${kind}`),
    label(compared(place, i + 1, said, width > 100), middle, out + ROW.chip + 13, `small compared ${kind}`),
  ];
}

/** `i`: of the place */
const nameOf = (i: number, said: Voice) => (i ? say("guess_number", { number: i }) : said("last_token"));

/** `number`: of the guess that stands at the next place. `whole`: whether there is room for the wrong guess too */
function compared({ expected, next }: Place, number: number, said: Voice, whole: boolean) {
  if (!expected) return say("not_used");
  if (!next) return said("the_bonus");
  const name = whole && next.status === "rejected" ? say("guess_was", { number, wrong: visible(next.text) }) : say("guess_number", { number });
  return `${MARKS[next.status]} ${name}`;
}

function chip(text: string, middle: number, y: number, width: number, kind: string) {
  const shown = shorten(text, Math.floor((width - 4) / LETTER));
  const parts = [box(middle - width / 2, y, width, ROW.chip, "token"), label(shown, middle, y + 15, "word centre")];
  for (const part of parts) part.setAttribute("class", `${part.getAttribute("class")} ${kind}`);
  return parts;
}

/** An arrow from row to row. */
function down(x: number, y: number) {
  return svg("path", { d: `M${x} ${y + 2}v${ROW.arrow - 5}m-4 -5l4 5l4 -5`, class: "arrow" });
}

/** The picture as sentences, for a screen reader. `index`: of the round */
export function passInWords(run: Pick<StagePayload, "rounds" | "prompt">, index: number, words: DiagramPayload["words"], phase: Phase | null) {
  const said = voiceOf(words);
  const places = placesOf(run, index);
  const tokens = places.map(({ read }, i) => `${nameOf(i, said)} ${quoted(read)}`).join(", ");
  const enter = `${said("pass_model")}: ${tokens}.`;
  if (phase === "propose") return enter;
  if (phase === "check") return `${enter} ${said("pass_asks")}`;
  const out = places.map((place, i) => {
    const figures = { place: nameOf(i, said), expected: quoted(place.expected?.text ?? ""), compared: compared(place, i + 1, said, true) };
    return say(place.expected ? "expected_after" : "unused_after", figures);
  });
  return `${enter} ${said("pass_asks")} ${out.join("; ")}.`;
}
