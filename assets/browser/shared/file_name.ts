// The name of a figure's file. Pure.

const LONGEST = 60; // characters

/** From what the figure shows, in words: "Speedup by draft length." gives "specviz-speedup-by-draft-length". */
export function fileName(alt: string) {
  const words = alt.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return ["specviz", ...words].join("-").slice(0, LONGEST).replace(/-+$/, "");
}
