// A step of a run as a slide, and the whole run as the slides of a film.

import { byTarget, shownText, isSpecial, shorten, visible } from "../shared/chips.js";
import { LAST, MOST, type Film } from "../slide/film.js";
import { INSIDE, MARGIN, SIZE, chipWidth, drawnChip, drawnKey, inLines, lastLines, line, sheet, tag, wrapped, type Colours, type Look, type SlideChip } from "../slide/sheet.js";
import { countsAfter, settingsInWords, titleOf } from "./account.js";
import { DWELL } from "./playhead.js";
import { depthsOf, hiddenGuesses, rowsOf } from "./tree.js";
import { say } from "./words.js";
import type { Phase, RoundPayload, SentRun, StagePayload, TreePayload } from "../dist/payloads.js";

export type Shown = { data: StagePayload, run: SentRun, key: SlideChip[], colours: Colours }; // the run on the stage, and the stage's key of its marks

const LETTERS = 24;
const LINE = 46; // from line to line of tokens
const TOP = 206; // of the tokens
const LINES = 7;
const LINES_ABOVE_TREE = 2;
const TREE = { top: TOP + LINES_ABOVE_TREE * LINE + 6, height: 232, most: 38, apart: 36, least: 3.4 }; // least: the width of a chip, in letters

/** `step`: counts the phases of all rounds. `note`: stands below */
export function runSlide({ data, run, key, colours }: Shown, step: number, note: string = "") {
  const { rounds, phases, more, result } = data;
  const round = Math.floor(Math.max(step, 0) / phases.length);
  const phase = phases[Math.max(step, 0) % phases.length];
  const current = rounds[round];
  const number = current ? say("round_of", { round: round + 1, rounds: more ? "…" : rounds.length }) : "";
  const says = current ? current.sentences[phases.indexOf(phase)] : data.idle;
  const over = !more && step >= rounds.length * phases.length - 1;
  const { ink, mute } = colours;
  return sheet([
    line(`${titleOf(run)} · ${settingsInWords(data, run)}`, { y: 56, size: 22, fill: mute, room: 830 }),
    line(data.badge, { x: SIZE.width - MARGIN, y: 56, size: 18, fill: mute, room: 340, anchor: "end" }),
    line(number, { y: 104, size: 30, fill: ink, bold: true }),
    ...wrapped(says, 28, 2).map((text, i) => line(text, { y: 144 + 36 * i, size: 28, fill: ink })),
    ...tokens(data, round, phase, colours),
    drawnKey(key, 552, colours),
    line(countsAfter(data, phase === "judge" ? round + 1 : round), { y: 626, size: 24, fill: ink, bold: true }),
    line(note || (over && result ? result.says : ""), { y: 662, size: 22, fill: ink }),
    line(`specviz · ${data.measured}`, { y: 700, size: 15, fill: mute }),
  ], colours, [number, says].filter(Boolean).join(". "));
}

/** The text so far, and below it the tree in sight. */
function tokens(data: StagePayload, round: number, phase: Phase, colours: Colours) {
  const current = data.rounds[round];
  const tree = current?.tree;
  const own = current?.draft_tokens?.map(visible).join(" ");
  const lines = tree ? LINES_ABOVE_TREE : own ? LINES - 1 : LINES;
  return [
    ...drawnText(textUpTo(data, round, phase), round, lines, colours),
    ...(tree ? treeBelow(current, tree, phase, colours) : []),
    own ? line(say("slide_own_tokens", { tokens: own }), { y: TOP + LINES * LINE - 16, size: 18, fill: colours.mute }) : "",
  ];
}

function textUpTo({ prompt, rounds }: StagePayload, round: number, last: Phase): SlideChip[] {
  const before = prompt.tokens.map((text) => ({ look: "plain" as Look, text: isSpecial(text) ? "▸" : shownText(text), round: -1 }));
  return [...before, ...rounds.slice(0, round + 1).flatMap(({ chips, tree }, i) => {
    const phase = i < round ? "judge" : last;
    const shown = chips.filter((chip) => (tree ? phase === "judge" && (chip.status === "accepted" || byTarget(chip)) : phase === "judge" || !byTarget(chip))); // of a tree its path
    return shown.map((chip) => ({ ...lookIn(chip, phase), round: i }));
  })];
}

/** Before judgement every guess looks alike. */
function lookIn({ status, text }: RoundPayload["chips"][number], phase: Phase): SlideChip {
  return { look: phase === "judge" ? status : phase === "check" ? "checked" : "proposed", text: shownText(text) };
}

/** The last lines of the text, a line under each round. `round`: in sight */
function drawnText(chips: SlideChip[], round: number, most: number, colours: Colours) {
  const how = { size: LETTERS, top: TOP, step: LINE };
  const placed = inLines(chips, how);
  const shown = lastLines(placed, how, most);
  const drawn = shown.flatMap((each) => {
    const { x, y, width, chip } = each;
    const under = { x, y: y + 1.5 * LETTERS + 3, width: width + 4, height: 2, fill: chip.round === round ? colours.ink : colours.line };
    return [drawnChip(each, LETTERS, colours), (chip.round ?? -1) < 0 ? "" : tag("rect", under)];
  });
  return shown.length < placed.length ? [line(say("written_before"), { y: TOP - 8, size: 15, fill: colours.mute }), ...drawn] : drawn;
}

/** A column for each place in the text, a row for each chain of guesses. */
function treeBelow({ chips }: RoundPayload, tree: TreePayload, phase: Phase, colours: Colours) {
  const rows = rowsOf(tree, false, (node) => phase === "judge" && chips[node].status === "accepted");
  const depths = depthsOf(tree);
  const below = Math.max(...rows.map((row) => row ?? 0)) + 1;
  const height = Math.min(TREE.most, TREE.height / (below + 1));
  const room = INSIDE / (Math.max(...depths) + 1);
  const apart = Math.min(TREE.apart, 0.3 * room);
  const size = Math.min(height / 1.75, (room - apart) / TREE.least);
  const guesses = tree.parents.map((_, node) => fitted(lookIn(chips[node], phase), size, room - apart));
  const column = apart + Math.max(...guesses.map((chip) => chipWidth(chip, size)));
  const left = (node: number) => MARGIN + apart + depths[node] * column;
  const middle = (row: number) => TREE.top + row * height + 0.75 * size;
  const drawn = tree.parents.flatMap((parent, node) => {
    const row = rows[node];
    if (row === null) return [];
    const x = left(node);
    const from = parent < 0 ? MARGIN : left(parent) + chipWidth(guesses[parent], size);
    const elbow = { d: `M${from} ${middle(rows[parent] ?? 0)}H${x - apart / 2}V${middle(row)}H${x - 2}`, fill: "none", stroke: colours.mute };
    return [tag("path", elbow), drawnChip({ chip: guesses[node], x, y: TREE.top + row * height, width: chipWidth(guesses[node], size) }, size, colours)];
  });
  const hidden = rows.includes(null) ? hiddenGuesses(tree) : 0;
  return hidden ? [...drawn, line(say("hidden_guesses", { hidden }), { x: MARGIN + apart, y: middle(below) + 6, size: 16, fill: colours.mute })] : drawn;
}

/** A chip whose text is cut to the room that it has. */
function fitted(chip: SlideChip, size: number, room: number) {
  let cut = chip;
  for (let length = chip.text.length; length > 2 && chipWidth(cut, size) > room; length--) cut = { ...chip, text: shorten(chip.text, length) };
  return cut;
}

/** The run as long as the stage plays it, from its start; of a very long one as many rounds as a film may have. `speed`: of the stage */
export function runFilm(shown: Shown, speed: number): Film {
  const { rounds, phases } = shown.data;
  const dwell = phases.map((phase) => DWELL[phase] / speed);
  const fit = Math.max(1, Math.floor((MOST - LAST) / dwell.reduce((sum, ms) => sum + ms, 0)));
  const left = rounds.length > fit ? say("film_is_cut", { shown: fit, rounds: rounds.length }) : "";
  const last = Math.max(Math.min(rounds.length, fit) * phases.length - 1, 0);
  const frames = Array.from({ length: last + 1 }, (_, step) => ({ draw: () => runSlide(shown, step), ms: dwell[step % phases.length] }));
  const end = { draw: () => runSlide(shown, last, left), ms: LAST };
  return { frames: [...frames.slice(0, -1), end], left };
}
