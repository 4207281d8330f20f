// What the stage says, in two voices: the field's words, and plain ones for a lesson without its terms.

import STAGE from "../../texts/browser/stage.json" with { type: "json" };
import { STATUS_WORDS } from "../shared/chips.js";
import { sayer, type Filled } from "../shared/fill.js";
import type { ChipStatus, DiagramPayload, StagePayload } from "../dist/payloads.js";

export type Name = keyof typeof STAGE;
export type TwoVoices = { [Each in Name]: Each extends `${infer Own extends Name}_plain` ? Own : never }[Name]; // texts that have a plain one beside them
export type Voice = (name: TwoVoices, figures?: Filled) => string;

export const say = sayer(STAGE);

/** `words`: of a lesson */
export function voiceOf(words?: DiagramPayload["words"]): Voice {
  return (name, figures) => say(words === "plain" ? `${name}_plain` : name, figures);
}

export function isPlain(data: StagePayload) {
  return data.diagram?.words === "plain";
}

export function nameOf(status: ChipStatus) {
  return status === "not taken" ? "not_taken" : status;
}

const plainStatus = (status: ChipStatus) => say(`${nameOf(status)}_plain`);
const blockStatus = (status: ChipStatus) => (status === "discarded" ? say("discarded_block") : STATUS_WORDS[status]);

/**
 * The words for a token's status: in plain words, or where a draft is verified as a block; undefined for the field's own.
 * Always the same functions: a round is drawn again where one of its properties is another.
 */
export function statusWords(data: StagePayload): ((status: ChipStatus) => string) | undefined {
  if (isPlain(data)) return plainStatus;
  return data.rule === "block" ? blockStatus : undefined;
}

/** The legend, the key and the captions, in the words that are right for this run: a text can have a form for it. */
export function speak(stage: HTMLElement, data: StagePayload) {
  const forms = !isPlain(data) ? [data.rule] : data.rule === "tree" ? ["plain_tree", "plain"] : ["plain"]; // how their names end, the best one first
  for (const label of stage.querySelectorAll<HTMLElement>("[data-says]")) {
    const name = label.dataset.says ?? "";
    const found = [...forms.map((form) => `${name}_${form}`), name].find((each): each is Name => each in STAGE);
    if (found) label.textContent = say(found);
  }
}

/** What stands under the timeline. `alone`: tokens that the target alone has written by then */
export function progress(data: StagePayload, emitted: number, passes: number, alone: number | undefined, total: number) {
  const said = voiceOf(data.diagram?.words);
  if (alone === undefined) return said("progress", { emitted, passes });
  return said(alone >= total ? "progress_over" : "progress_alone", { emitted, passes, alone, total });
}
