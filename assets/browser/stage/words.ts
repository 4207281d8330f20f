// What the stage says, in two voices: the field's words, and plain ones for a lesson without its terms.

import STAGE from "../../texts/browser/stage.json" with { type: "json" };
import { sayer, type Filled } from "../shared/fill.js";
import type { ChipStatus, DiagramPayload, StagePayload } from "../dist/payloads.js";

export type Name = keyof typeof STAGE;
export type TwoVoices = { [Each in Name]: Each extends `${infer Own extends Name}_plain` ? Own : never }[Name]; // texts that have a plain one beside them
export type Voice = (name: TwoVoices, figures?: Filled) => string;

export const say = sayer(STAGE);

export function isText(name: string): name is Name {
  return name in STAGE;
}

/** `words`: of a lesson */
export function voiceOf(words?: DiagramPayload["words"]): Voice {
  return (name, figures) => say(words === "plain" ? `${name}_plain` : name, figures);
}

export function isPlain(data: StagePayload | null) {
  return data?.diagram?.words === "plain";
}

/** A status as a part of a text's name. */
export function nameOf(status: ChipStatus) {
  return status === "not taken" ? "not_taken" : status;
}
