// The stage's labels where those of its HTML do not fit: in plain words, for a lesson that a visitor reads without the field's
// terms; and where a draft is a tree, or verified as a block.

import { STATUS_WORDS } from "../shared/chips.js";
import { isPlain, isText, nameOf, say, voiceOf } from "./words.js";
import type { ChipStatus, StagePayload } from "../dist/payloads.js";

/** The legend, the key and the captions, in the words that are right for this run: a text can have a form for it. */
export function speak(stage: HTMLElement, data: StagePayload) {
  const forms = formsFor(data);
  const labels: NodeListOf<HTMLElement> = stage.querySelectorAll("[data-says]");
  for (const label of labels) {
    const name = label.dataset.says ?? "";
    const found = [...forms.map((form) => `${name}_${form}`), name].find(isText);
    if (found) label.textContent = say(found);
  }
}

/** How the names of its texts end, the best one first. */
function formsFor(data: StagePayload) {
  if (!isPlain(data)) return [data.rule];
  return data.rule === "tree" ? ["plain_tree", "plain"] : ["plain"];
}

/** The words for a token's status; undefined for the field's own. */
export function statusWords(data: StagePayload): ((status: ChipStatus) => string) | undefined {
  if (isPlain(data)) return plainStatus;
  return data.rule === "block" ? blockStatus : undefined;
}

function blockStatus(status: ChipStatus) {
  return status === "discarded" ? say("discarded_block") : STATUS_WORDS[status];
}

export function plainStatus(status: ChipStatus) {
  return say(`${nameOf(status)}_plain`);
}

/** What stands under the timeline. `alone`: tokens that the target alone has written by then */
export function progress(data: StagePayload, emitted: number, passes: number, alone: number | undefined, total: number) {
  const said = voiceOf(data.diagram?.words);
  if (alone === undefined) return said("progress", { emitted, passes });
  return said(alone >= total ? "progress_over" : "progress_alone", { emitted, passes, alone, total });
}
