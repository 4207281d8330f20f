// The picture of the target alone: one pass for one token, which is read before the next pass; and the lane of all its
// passes, each as long as it took.

import { fixed } from "../shared/localize.js";
import { box, label, svg } from "../shared/svg.js";
import { quoted, shorten, visible } from "../shared/text.js";
import { say, voiceOf, type Voice } from "./words.js";
import type { DiagramPayload, StagePayload } from "../dist/payloads.js";
import type { Drawing, Size } from "./diagram.js";

const BOX = 46; // high
const LANE = 44;
export const ALONE_HEIGHT = BOX + LANE + 118;
const LETTER = 7.6; // pixels of a character of a token
const SPECIAL = /^<.+>$/; // a special token, not a part of the text that a person wrote

/** The text before a pass, and the token that the pass writes. `index`: of the pass */
export function writtenAt({ rounds, prompt }: Pick<StagePayload, "rounds" | "prompt">, index: number) {
  const tokens = [...prompt.tokens.filter((text) => !SPECIAL.test(text)), ...rounds.slice(0, index).map(({ chips }) => chips[0].text)];
  return { before: tokens.join(""), token: rounds[index].chips[0].text };
}

/** `index`: of the pass */
export function drawAlone(run: StagePayload, index: number, { top, size, words }: Drawing): SVGElement[] {
  const said = voiceOf(words);
  return [...drawLoop(writtenAt(run, index), top, size, said), ...drawLane(run, index, top + BOX + 68, size.width, said)];
}

function drawLoop({ before, token }: { before: string, token: string }, top: number, { width, gap }: Size, said: Voice) {
  const between = Math.max(gap, 18);
  const next = width > 500 ? 150 : 80;
  const model = width > 500 ? 170 : 116;
  const text = width - 8 - next - model - 2 * between;
  const left = { text: 4, model: 4 + text + between, next: 4 + text + between + model + between };
  const letters = Math.floor((text - 16) / LETTER);
  const end = [...before].length > letters ? `…${[...before].slice(1 - letters).join("")}` : before;
  const middle = top + 16 + BOX / 2;
  const bottom = top + 16 + BOX;
  return [
    label(say("text_so_far"), left.text, top + 9, "small start"),
    box(left.text, top + 16, text, BOX, "box"),
    label(end, left.text + text - 8, middle + 5, "word end"),
    across(left.model - between + 3, left.model - 3, middle),
    box(left.model, top + 16, model, BOX, "box target"),
    label(said("alone_model"), left.model + model / 2, middle + 5, "title"),
    across(left.next - between + 3, left.next - 3, middle),
    label(said("alone_next"), left.next, top + 9, "small start"),
    box(left.next, top + 16, next, BOX, "token expected bonus"),
    label(shorten(visible(token), Math.floor((next - 8) / LETTER)), left.next + next / 2, middle + 5, "word centre expected bonus"),
    svg("path", { d: `M${left.next + next / 2} ${bottom + 3}v14H${left.text + text / 2}v-12m-4 5l4 -5l4 5`, class: "arrow" }),
    label(said("alone_back"), left.model + model / 2, bottom + 31, "small"),
  ];
}

/** `index`: of the pass */
function drawLane({ rounds }: StagePayload, index: number, y: number, width: number, said: Voice) {
  const whole = rounds[rounds.length - 1].ms[3];
  const at = (ms: number) => 4 + ((width - 8) * ms) / whole;
  const blocks = rounds.map(({ ms }, i) => {
    const kind = i < index ? "odds target" : i === index ? "odds passes" : "odds later";
    return box(at(ms[0]) + 0.5, y + 8, at(ms[3]) - at(ms[0]) - 1, LANE, kind);
  });
  const middle = Math.min(Math.max((at(rounds[index].ms[0]) + at(rounds[index].ms[3])) / 2, 24), width - 24);
  return [
    label(said("alone_lane"), 4, y, "small start"),
    label(`${whole.toFixed(0)} ms`, width - 4, y, "small end"),
    ...blocks,
    label(said("alone_pass", { number: index + 1 }), middle, y + LANE + 22, "small strong"),
  ];
}

function across(from: number, to: number, y: number) {
  return svg("path", { d: `M${from} ${y}H${to - 1}m-5 -4l5 4l-5 4`, class: "arrow" });
}

/** The picture as sentences, for a screen reader. `index`: of the pass */
export function aloneInWords(run: Pick<StagePayload, "rounds" | "prompt">, index: number, words: DiagramPayload["words"]) {
  const said = voiceOf(words);
  const { before, token } = writtenAt(run, index);
  const { ms } = run.rounds[index];
  const [end, next] = [[...before].slice(-20).join(""), `${said("alone_next")} ${quoted(token)}`];
  const parts = [`${say("text_so_far")} ${quoted(end)}`, said("alone_model"), next, said("alone_back"), said("alone_pass", { number: index + 1 })];
  return `${parts.join("; ")}: ${fixed(ms[3] - ms[0], 1)} ms.`;
}
