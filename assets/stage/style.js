// Colours and font from the theme and the style sheet, as Plotly needs them.

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
  const computed = getComputedStyle(node);
  /** @param {string} name */
  const read = (name) => computed.getPropertyValue(name).trim();
  const style = {
    background: computed.backgroundColor,
    scheme: node.dataset.scheme,
    ink: computed.color,
    font: computed.fontFamily,
    mute: read("--mute"),
    line: read("--line"),
    soft: read("--soft"),
    accepted: read("--accepted"),
    rejected: read("--rejected"),
    corrected: read("--corrected"),
    narrow: isNarrow(node),
  };
  return { ...style, key: `${Object.values(style)} ${node.clientWidth}` };
}
