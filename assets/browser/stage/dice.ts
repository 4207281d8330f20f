// The picture of a token drawn by lot: what both models give it, one dice roll, and the leftover its replacement is drawn
// from. It is of the round at the playhead; the style sheet shows each part in its phase.

import { inHundred, prob } from "../shared/numbers.js";
import { box, label } from "../shared/svg.js";
import { shorten, visible } from "../shared/text.js";
import { say, voiceOf, type Voice } from "./words.js";
import type { CandidateRow, DiagramPayload, JudgedChip, RoundPayload, ShareRow, StagePayload, TargetChip } from "../dist/payloads.js";
import type { Drawing, Size } from "./diagram.js";

export type RowDrawing = { row: CandidateRow, y: number, most: number, size: Size, said: Voice }; // most is the longest bar

const ROWS = { height: 36, bar: 9 };
const FIGURE = 46; // pixels beside a bar
const LINE = 50; // of the dice roll; that of the leftover is as high
export const DICE_HEIGHT = 3 * ROWS.height + 2 * LINE;

/** The token that the dice roll was about: the rejected one, else the accepted one that was most in danger. */
export function rolled(round: RoundPayload): JudgedChip | undefined {
  const judged: JudgedChip[] = round.chips.flatMap((chip) => (chip.status === "accepted" || chip.status === "rejected" ? [chip] : []));
  const drawn = judged.filter((chip) => chip.u !== null && chip.p !== null && chip.q !== null);
  const inDanger = [...drawn].sort((one, other) => (one.accept_prob ?? 1) - (other.accept_prob ?? 1));
  return drawn.find((chip) => chip.status === "rejected") ?? inDanger[0];
}

export function drawDice(round: RoundPayload, { top, size, words, rule }: Drawing): SVGElement[] {
  const chip = rolled(round);
  const said = voiceOf(words);
  if (rule !== "token") return [label(said("not_token_by_token"), 8, top + 24, "small start")];
  if (!chip) return [label(say("nothing_drawn"), 8, top + 24, "small start")];
  const most = Math.max(...chip.candidates.map(([, p, q]) => Math.max(p, q ?? 0)), 0.01);
  const rows = chip.candidates.flatMap((row, i) => {
    const drawing = { row, y: top + i * ROWS.height, most, size, said };
    const left = chip.status === "rejected" ? drawLeftover(drawing) : drawAccepted(drawing);
    return [...drawDraft(drawing), ...inPhase("checked", drawTarget(drawing)), ...inPhase("judged", left)];
  });
  const below = top + chip.candidates.length * ROWS.height + 12;
  return [...rows, ...drawRoll(chip, below, size.width, said), ...inPhase("judged", drawShares(round, below + LINE, size.width, said))];
}

function drawDraft({ row: [text, , q, own], y, most, size }: RowDrawing) {
  const seen = q ?? 0;
  const name = nameOf(text, size);
  return [label(own ? `${name} ◂` : name, 1, y + 12, own ? "word strong" : "word"), ...bar(1, y, [[seen / most, "draft"]], prob(q), size)];
}

function drawTarget({ row: [text, p, q], y, most, size }: RowDrawing) {
  const x = 1 + size.column + size.gap;
  const common = Math.min(p, q ?? 0);
  return [label(nameOf(text, size), x, y + 12, "word"), ...bar(x, y, [[common / most, "target"], [(p - common) / most, "left"]], prob(p), size)];
}

/** The part of p above q again, on the scale of both. */
function drawLeftover({ row: [text, p, q], y, most, size, said }: RowDrawing) {
  const x = 1 + 2 * (size.column + size.gap);
  const left = p - (q ?? 0);
  if (left <= 0) return [label(size.column < 150 ? say("none_left") : said("nothing_left"), x, y + 12, "small start")];
  return [label(nameOf(text, size), x, y + 12, "word"), ...bar(x, y, [[left / most, "left"]], prob(left), size)];
}

function drawAccepted({ row: [, , , own], y, size, said }: RowDrawing) {
  return own ? [label(said("it_stays"), 1 + 2 * (size.column + size.gap), y + 12, "small start")] : [];
}

/** A bar of several parts, and its figure. `parts`: each part's share of the longest bar, and its kind */
function bar(x: number, y: number, parts: Array<[number, string]>, figure: string, { column }: Size) {
  let end = x;
  const boxes = parts.map(([share, kind]) => {
    const made = box(end, y + 17, (column - FIGURE) * share, ROWS.bar, `odds ${kind}`);
    end += (column - FIGURE) * share;
    return made;
  });
  return [...boxes, label(figure, end + 4, y + 26, "figure")];
}

function nameOf(text: string, size: Size) {
  return shorten(visible(text), size.short);
}

/** The dice roll as a place on a line from 0 to 1. */
function drawRoll(chip: JudgedChip, y: number, width: number, said: Voice) {
  const length = width - 16;
  const at = (share: number) => 8 + length * share;
  const chance = chip.accept_prob ?? 0;
  const u = chip.u ?? 0;
  const line = [
    box(at(0), y + 14, length * chance, 8, "odds passes"),
    box(at(chance), y + 14, length * (1 - chance), 8, "odds lost"),
    label(said("stays_below", { chance: prob(chance) }), at(0), y + 35, "small start"),
    ...(chance < 0.8 ? [label(said("goes_above"), at(1), y + 35, "small end")] : []),
  ];
  const middle = Math.min(Math.max(at(u), 70), width - 70);
  const roll = [
    box(at(u) - 2, y + 9, 4, 18, "roll"),
    label(`${said("dice_roll")} = ${prob(u)}: ${chip.status === "accepted" ? "✓" : "✗"}`, middle, y + 6, "strong centre"),
  ];
  return [...inPhase("checked", line), ...inPhase("judged", roll)];
}

/** The leftover as a line from 0 to 1: each token has the part of it with which it is drawn. */
function drawShares(round: RoundPayload, y: number, width: number, said: Voice) {
  const parts = sharesOf(round, say("others"));
  if (!parts.length) return [];
  let end = 8;
  const boxes = parts.flatMap(([text, share, own]) => {
    const [x, length] = [end, (width - 16) * share];
    end += length;
    const name = `${own ? "↻ " : ""}${visible(text)} ${prob(share)}`;
    const fits = name.length * 7.4 < length;
    return [box(x, y + 8, length, 20, own ? "odds left" : "odds target"), ...(fits ? [label(name, x + length / 2, y + 22, own ? "word drawn" : "word centre")] : [])];
  });
  return [label(said("leftover_whole"), 8, y + 3, "small start"), ...boxes];
}

/** The tokens of the leftover by their share, and what is left for all others. Empty where nothing was rejected. */
export function sharesOf(round: RoundPayload, others: string): ShareRow[] {
  const corrections: TargetChip[] = round.chips.flatMap((chip) => (chip.status === "correction" ? [chip] : []));
  const found = corrections.flatMap(({ residual }) => residual);
  const rest = 1 - found.reduce((sum, [, share]) => sum + share, 0);
  return found.length && rest > 0.0005 ? [...found, [others, rest, false]] : found;
}

/** `phase`: from which on it is shown */
function inPhase(phase: "checked" | "judged", parts: SVGElement[]) {
  for (const part of parts) part.classList.add(phase);
  return parts;
}

/** The picture as sentences, for a screen reader. */
export function diceInWords(round: RoundPayload, words: DiagramPayload["words"], rule: StagePayload["rule"] = "token") {
  const chip = rolled(round);
  const said = voiceOf(words);
  if (rule !== "token") return said("not_token_by_token");
  if (!chip) return say("nothing_drawn");
  const pairs = chip.candidates.map(([text, p, q]) => `${visible(text)}: ${said("title_of_draft")} ${prob(q)}, ${said("title_of_target")} ${prob(p)}`);
  const roll = `${visible(chip.text)}: ${said("dice_roll")} ${prob(chip.u)}, ${said("stays_below", { chance: prob(chip.accept_prob) })}.`;
  const left = sharesOf(round, say("others")).map(([text, share, own]) => say(own ? "share_drawn" : "share_of", { token: visible(text), share: prob(share) }));
  const all = `${pairs.join(". ")}. ${roll} ${left.length ? `${said("leftover_whole")}: ${left.join("; ")}.` : `${said("it_stays")}.`}`;
  return words === "plain" ? inHundred(all) : all;
}
