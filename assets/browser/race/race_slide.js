// A moment of the race as a slide, and the whole race as the slides of a film.

import { shownText } from "../shared/chips.js";
import { seconds } from "../shared/numbers.js";
import { LAST, MOST } from "../slide/film.js";
import { INSIDE, MARGIN, SIZE, drawnChip, drawnKey, inLines, lastLines, line, sheet, tag } from "../slide/sheet.js";
import { LANES } from "./lane.js";
import { say } from "./words.js";

/** @import { LanePayload, RacePayload } from "../shared/payloads.js" */
/** @import { Film } from "../slide/film.js" */
/** @import { Colours, SlideChip } from "../slide/sheet.js" */

/** @typedef {{ data: RacePayload, key: SlideChip[], colours: Colours }} ShownRace the race, and the page's key of its marks */

/** @typedef {{ left: number, top: number, width: number, height: number }} Place in pixels */

const MOST_LAPS = 6; // that a slide has room for
const FIELD = { top: 86, height: 540, gap: 32 };
const LETTERS = 17;
const LINE = 29; // from line to line of tokens
const FRAME = 100; // ms

/**
 * @param {ShownRace} shown
 * @param {number} at ms of the race
 */
export function raceSlide({ data, key, colours }, at) {
  const { laps, pair, badge, end } = data;
  const time = say("time", { at: seconds(at), end: seconds(end) });
  const more = laps.length > MOST_LAPS ? ` · ${say("more_prompts", { number: laps.length - MOST_LAPS })}` : "";
  const drawn = laps.slice(0, MOST_LAPS).flatMap((lap, i, { length }) => {
    const { left, top, width, height } = placeOf(i, length);
    const lane = (height - 30) / lap.lanes.length;
    const head = line(`${lap.name} · ${lap.prompt}`, { x: left, y: top + 18, size: 17, fill: colours.mute, room: width });
    return [head, ...lap.lanes.flatMap((each, k) => laneAt(each, at, { left, top: top + 26 + k * lane, width, height: lane }, colours))];
  });
  return sheet([
    line(time, { y: 60, size: 30, fill: colours.ink, bold: true, room: 420 }),
    line(pair, { x: SIZE.width - MARGIN, y: 60, size: 20, fill: colours.mute, room: 740, anchor: "end" }),
    ...drawn,
    drawnKey(key, 640, colours),
    line(`specviz · ${badge}${more}`, { y: 700, size: 15, fill: colours.mute }),
  ], colours, say("slide_title", { time }));
}

/**
 * Two columns where there are more than two prompts.
 * @param {number} lap
 * @param {number} laps
 * @returns {Place}
 */
function placeOf(lap, laps) {
  const columns = laps > 2 ? 2 : 1;
  const width = (INSIDE - (columns - 1) * FIELD.gap) / columns;
  const height = FIELD.height / Math.ceil(laps / columns);
  return { left: MARGIN + (lap % columns) * (width + FIELD.gap), top: FIELD.top + Math.floor(lap / columns) * height, width, height };
}

/**
 * @param {LanePayload} lane
 * @param {number} at
 * @param {Place} place
 * @param {Colours} colours
 */
function laneAt({ name, tokens, end, steps, flag }, at, { left, top, width, height }, colours) {
  const written = steps.filter(([ms]) => ms <= at).flatMap(([, burst]) => burst);
  const finished = written.length === tokens;
  const said = `${written.length} / ${tokens}${finished ? ` · ⚑ ${seconds(end)}${flag ? ` · ${flag}` : ""}` : ""}`;
  const fill = name === "speculative" ? colours.accepted : colours.mute;
  const how = { size: LETTERS, top: top + 36, step: LINE, left, room: width };
  const chips = inLines(written.map(([text, status]) => ({ look: status, text: shownText(text) })), how);
  return [
    line(LANES[name], { x: left, y: top + 18, size: 17, fill: colours.ink, bold: true, room: 140 }),
    line(said, { x: left + width, y: top + 18, size: 17, fill: colours.ink, bold: finished && Boolean(flag), room: width - 130, anchor: "end" }),
    tag("rect", { x: left, y: top + 24, width, height: 7, rx: 3.5, fill: colours.line }),
    tag("rect", { x: left, y: top + 24, width: (width * written.length) / tokens, height: 7, rx: 3.5, fill }),
    ...lastLines(chips, how, Math.max(1, Math.floor((height - 36) / LINE))).map((each) => drawnChip(each, LETTERS, colours)),
  ];
}

/**
 * @param {ShownRace} shown
 * @param {number} slower how many times slower than it was; a film of a long race is faster
 * @returns {Film}
 */
export function raceFilm(shown, slower) {
  const { end, laps } = shown.data;
  const pace = Math.min(slower, (MOST - LAST) / end);
  const times = Array.from({ length: Math.ceil((end * pace) / FRAME) }, (_, i) => (i * FRAME) / pace);
  const frames = times.map((at) => ({ draw: () => raceSlide(shown, at), ms: FRAME }));
  const notes = [
    laps.length > MOST_LAPS && say("film_has", { most: MOST_LAPS, number: laps.length }),
    pace < slower && say("film_faster", { minutes: MOST / 60_000 }),
  ];
  return { frames: [...frames, { draw: () => raceSlide(shown, end), ms: LAST }], left: notes.filter(Boolean).join(" ") };
}
