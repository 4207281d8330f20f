// What the stage says, in two voices: the field's words, and plain ones for a lesson without its terms.

import STAGE from "../../texts/browser/stage.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

/** @import { Filled } from "../shared/fill.js" */
/** @import { ChipStatus, DiagramPayload, StagePayload } from "../shared/payloads.js" */

/** @typedef {keyof typeof STAGE} Name */

/** @typedef {{ [Each in Name]: Each extends `${infer Own extends Name}_plain` ? Own : never }[Name]} TwoVoices texts that have a plain one beside them */

/** @typedef {(name: TwoVoices, figures?: Filled) => string} Voice */

export const say = sayer(STAGE);

/**
 * @param {string} name
 * @returns {name is Name}
 */
export function isText(name) {
  return name in STAGE;
}

/**
 * @param {DiagramPayload["words"]} [words] of a lesson
 * @returns {Voice}
 */
export function voiceOf(words) {
  return (name, figures) => say(words === "plain" ? `${name}_plain` : name, figures);
}

/** @param {StagePayload | null} data */
export function isPlain(data) {
  return data?.diagram?.words === "plain";
}

/**
 * A status as a part of a text's name.
 * @param {ChipStatus} status
 */
export function nameOf(status) {
  return status === "not taken" ? "not_taken" : status;
}
