// The picture of a pass over many texts: the weights once, for the tokens of every text; the places that are empty
// because their text has ended; and the measured times of such passes beside it.

import { times } from "../shared/numbers.js";
import { box, label } from "../shared/svg.js";
import { BAR, FETCHED, drawBars, drawFetch, shareOf, type Bar } from "./weights.js";
import { say, voiceOf, type Voice } from "./words.js";
import type { BatchPayload, DiagramPayload } from "../dist/payloads.js";
import type { Drawing, Size } from "./diagram.js";

const CELL = { width: 22, height: 8, gap: 3 };

const rowsHeight = (texts: number) => texts * (CELL.height + CELL.gap);

export function textsHeight({ texts }: BatchPayload, { width }: Size) {
  const places = rowsHeight(texts) + 40;
  return width > 500 ? places : places + 3 * BAR.row + 34;
}

export function drawTexts(batch: BatchPayload, { top, size, words }: Drawing): SVGElement[] {
  const said = voiceOf(words);
  const wide = size.width > 500;
  const height = rowsHeight(batch.texts);
  const below = top + height + 12;
  const [x, y] = wide ? [500, top + 24] : [4, below + 34];
  return [
    ...drawFetch(said("weights"), say("fetched_once"), 4, top + height / 2),
    ...drawPlaces(batch, 4 + FETCHED, top, wide, said),
    label(said("tokens_of_texts", { ...batch }), wide ? 4 + FETCHED : 4, below, "small start"),
    label(said("empty_places", { share: shareOf(batch.empty, said) }), wide ? 4 + FETCHED : 4, below + 15, "small start"),
    ...drawBars(barsOf(batch, said), said("texts_scale"), x, y, size.width - x - 8),
  ];
}

/** A row of places for each text. Of texts that have ended the places are empty: as many rows as that is on average. */
function drawPlaces({ texts, tokens, empty: share }: BatchPayload, x: number, y: number, wide: boolean, said: Voice) {
  const writing = texts - Math.round(share * texts);
  const width = wide ? 1.5 * CELL.width : CELL.width;
  const right = x + tokens * (width + CELL.gap) + 6;
  const cells = Array.from({ length: texts * tokens }, (_, i) => {
    const row = Math.floor(i / tokens);
    return box(x + (i % tokens) * (width + CELL.gap), y + rowsHeight(row), width, CELL.height, row < writing ? "odds passes" : "odds later");
  });
  if (!wide) return cells;
  const names = [said("still_writing", { texts: writing }), said("have_ended", { texts: texts - writing })];
  return [...cells, label(names[0], right, y + rowsHeight(writing / 2) + 4, "small start"), label(names[1], right, y + rowsHeight((writing + texts) / 2) + 4, "small start")];
}

function barsOf({ texts, tokens, alone, together }: BatchPayload, said: Voice): Bar[] {
  return [
    [said("one_of_each"), 1, "passes"],
    [said("tokens_of_one", { tokens }), alone, "passes"],
    [said("tokens_of_texts", { tokens, texts }), together, "passes"],
  ];
}

/** The picture as sentences, for a screen reader. */
export function textsInWords(batch: BatchPayload, words: DiagramPayload["words"]) {
  const said = voiceOf(words);
  const rows = barsOf(batch, said).map(([name, ratio]) => `${name}: ${times(ratio)}`);
  const read = `${said("tokens_of_texts", { ...batch })}: ${said("weights")}, ${say("fetched_once")}`;
  return `${[read, said("empty_places", { share: shareOf(batch.empty, said) }), said("texts_scale"), rows.join("; ")].join(". ")}.`;
}
