// What a drawing needs to know of the page: sizes. Colours are the style sheet's business.

export type Style = ReturnType<typeof readStyle>;

const NARROW_BELOW = 560; // pixels; the style sheet has the same limit

/** `key` changes when everything has to be drawn again. */
export function readStyle(node: HTMLElement) {
  const style = getComputedStyle(node);
  const letters = parseFloat(style.getPropertyValue("--letters")) * parseFloat(style.fontSize); // the height of a drawing's
  return { letters, narrow: node.clientWidth < NARROW_BELOW, key: `${letters} ${node.clientWidth}` };
}
