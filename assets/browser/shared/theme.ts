// Light or dark. Streamlit gives a component its theme's colours only; the background tells which theme it is.

const DARK_BELOW = 0.2; // relative luminance

/** Relative luminance (WCAG 2.2) of a computed colour, "rgb(r, g, b)": 0 is black, 1 is white. */
export function luminance(colour: string) {
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? ["255", "255", "255"]).map((value) => linear(Number(value) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function linear(share: number) {
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** Choose the light or the dark half of the style sheet. `node`: with the theme's background */
export function applyScheme(node: HTMLElement) {
  node.dataset.scheme = luminance(getComputedStyle(node).backgroundColor) < DARK_BELOW ? "dark" : "light";
}
