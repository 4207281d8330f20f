// What a drawing needs to know of the page: sizes. Colours are the style sheet's business.

/** @typedef {ReturnType<typeof readStyle>} Style */

const NARROW_BELOW = 560; // pixels; the style sheet has the same limit
const LETTERS = 0.8; // em of the stage: the height of a drawing's letters; the style sheet has the same size

/** @param {HTMLElement} node */
export function isNarrow(node) {
  return node.clientWidth < NARROW_BELOW;
}

/**
 * `key` changes when everything has to be drawn again.
 * @param {HTMLElement} node
 */
export function readStyle(node) {
  const letters = LETTERS * parseFloat(getComputedStyle(node).fontSize);
  return { letters, narrow: isNarrow(node), key: `${letters} ${node.clientWidth}` };
}
