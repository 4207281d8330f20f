/** What models and drafts are called: as in specviz/core/names.py. */

/** @import { Trace } from "../shared/payloads.js" */

const PATH = /^(\/|~|\.{1,2}\/|.:\/)/; // how the name of a folder or a file begins
const LAYERS = "early-exit:";
const LOOKUP = ["lookup", "prompt-lookup"];

/**
 * The name; of a folder or a file only the last part.
 * @param {string} name
 */
export function shortName(name) {
  const path = name.replaceAll("\\", "/");
  return (PATH.test(path) && path.replace(/\/+$/, "").split("/").at(-1)) || name;
}

/** @param {Pick<Trace, "drafter">} trace */
export function draftName({ drafter }) {
  if (!drafter) return "no draft";
  const { kind, name } = drafter;
  if (kind === LOOKUP[1] || LOOKUP.includes(name)) return "prompt lookup";
  if (!name.startsWith(LAYERS)) return shortName(name);
  const layers = name.slice(LAYERS.length);
  return `early exit, ${layers} ${layers === "1" ? "layer" : "layers"}`;
}
