/** What a run is called, and what is different about it: as in specviz/core/names.py and specviz/player/data.py. */

import { draftName, shortName } from "../trace/names.js";
import { firstWords } from "./outcome.js";
import { say } from "./words.js";
import type { DecodeSettings, Trace } from "../dist/payloads.js";

const PROMPT_CHARACTERS = 16;

export type Usual = { settings: DecodeSettings, unusual: Record<string, string | Record<string, string>> }; // the defaults, and the words for other values

export function runName(trace: Trace) {
  return `${draftName(trace)}, ${trace.settings.draft_length}`;
}

/** What else the other run has different, as it is in this one; empty where that is nothing. */
export function differences(trace: Trace, other: Trace, usual: Usual) {
  const { settings, target, prompt, created } = trace;
  const elsewhere = trace.recorded_on.machine !== other.recorded_on.machine;
  const manner = mannerOf(settings, usual);
  const parts = [
    target.name !== other.target.name && say("for_target", { target: shortName(target.name) }),
    prompt.text !== other.prompt.text && `“${firstWords(prompt.text, PROMPT_CHARACTERS)}”`,
    settings.temperature !== other.settings.temperature && say("at_temperature", { temperature: Number(settings.temperature.toPrecision(6)) }),
    manner !== mannerOf(other.settings, usual) && manner,
    settings.max_new_tokens !== other.settings.max_new_tokens && say("so_many_tokens", { number: settings.max_new_tokens }),
    elsewhere && say(created < other.created ? "recorded_elsewhere" : "measured_here"),
  ];
  return parts.filter(Boolean).join(", ");
}

/** What is not usual in how tokens are drafted and verified, as `manner` of specviz/core/settings.py. */
function mannerOf(settings: DecodeSettings, { settings: defaults, unusual }: Usual) {
  const words = Object.entries(unusual).map(([name, words]) => {
    const setting = name as keyof DecodeSettings;
    const value = String(settings[setting] ?? defaults[setting]);
    if (value === String(defaults[setting])) return "";
    return typeof words === "string" ? words.split("{}").join(value) : words[value];
  });
  return words.filter(Boolean).join(", ");
}
