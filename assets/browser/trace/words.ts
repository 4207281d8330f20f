// What the stage's data says, and what models and drafts are called: as in specviz/core/names.py.

import TRACE from "../../texts/browser/trace.json" with { type: "json" };
import { sayer } from "../shared/fill.js";
import type { Trace } from "../dist/payloads.js";

export const say = sayer(TRACE);

const PATH = /^(\/|~|\.{1,2}\/|.:\/)/; // how the name of a folder or a file begins
const LAYERS = "early-exit:";
const LOOKUP = ["lookup", "prompt-lookup"];

/** The name; of a folder or a file only the last part. */
export function shortName(name: string) {
  const path = name.replaceAll("\\", "/");
  return (PATH.test(path) && path.replace(/\/+$/, "").split("/").at(-1)) || name;
}

export function draftName({ drafter }: Pick<Trace, "drafter">) {
  if (!drafter) return say("no_draft");
  const { kind, name } = drafter;
  if (kind === LOOKUP[1] || LOOKUP.includes(name)) return say("prompt_lookup");
  if (!name.startsWith(LAYERS)) return shortName(name);
  return say("early_exit", { layers: name.slice(LAYERS.length) });
}
