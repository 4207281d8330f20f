// What a drawing needs to know of the page: sizes. Colours are the style sheet's business.

/** @typedef {ReturnType<typeof readStyle>} Style */

const NARROW_BELOW = 560; // pixels; the style sheet has the same limit

/** @param {HTMLElement} node */
export function isNarrow(node) {
  return node.clientWidth < NARROW_BELOW;
}

/**
 * `key` changes when everything has to be drawn again.
 * @param {HTMLElement} node
 */
export function readStyle(node) {
  const style = getComputedStyle(node);
  const letters = parseFloat(style.getPropertyValue("--letters")) * parseFloat(style.fontSize); // the height of a drawing's
  return { letters, narrow: isNarrow(node), key: `${letters} ${node.clientWidth}` };
}
