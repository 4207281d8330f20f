// The page around the components. Elements are made by Preact: text only ever becomes text, never HTML. What a model wrote stands in a bdi: no browser translates it.

const LONGEST_NAME = 60; // characters of a file's
const OPEN = ":is(.term:is(:hover, :focus), .tip:hover)";
const DARK_BELOW = 0.2; // relative luminance

/** The element that a component's own HTML is known to have. */
export function find<Found extends HTMLElement = HTMLElement>(parent: ParentNode, selector: string): Found {
  const found = parent.querySelector(selector);
  if (!found) throw new Error(`The component has no ${selector}`);
  return found as Found;
}

export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** No browser translates a drawing: its words have places of their own length. No property of a drawing: false would take it away. */
export const UNTRANSLATED: object = { translate: "no" };

// ---- files and the clipboard

/** Hand the visitor a file that the browser has made. */
export function download(file: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // not at once: some browsers read it later
}

/** A file's name from what it shows, in words: "Speedup by draft length." gives "specviz-speedup-by-draft-length". */
export function fileName(alt: string) {
  const words = alt.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return ["specviz", ...words].join("-").slice(0, LONGEST_NAME).replace(/-+$/, "");
}

/** Copy a text; where nothing may be copied, the field shows it, selected, so that the visitor can copy it by hand. Returns whether it was copied */
export async function copied(text: string, field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    field.hidden = true;
    return true;
  } catch {
    field.hidden = false; // no clipboard here: plain http, refused, or a frame without the right to it
    field.value = text;
    field.focus();
    field.select();
    return document.execCommand("copy"); // the older way needs no permission
  }
}

// ---- while the page is printed, a drawing has the width of paper: it was drawn for the width of the screen

/**
 * `node`: what is drawn; a style sheet gives it the width of paper while it has the class "paper". `draw`: draws it again,
 * at its width. What it returns ends this.
 */
export function onPaper(node: HTMLElement, draw: () => void): () => void {
  const change = (printing: boolean) => {
    node.classList.toggle("paper", printing);
    draw();
  };
  const ending = new AbortController();
  addEventListener("beforeprint", () => change(true), ending);
  addEventListener("afterprint", () => change(false), ending);
  return () => ending.abort();
}

// ---- Escape takes an open tip away, until the pointer or the focus is elsewhere (WCAG 1.4.13)

/** What it returns ends this. */
export function dismissTips(node: HTMLElement): () => void {
  const ending = new AbortController();
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || node.dataset.tips || !node.querySelector(OPEN)) return;
    node.dataset.tips = "off";
    event.stopPropagation();
  };
  const again = () => void delete node.dataset.tips;
  document.addEventListener("keydown", escape, { capture: true, signal: ending.signal });
  for (const moved of ["pointerover", "focusin"]) node.addEventListener(moved, again, ending);
  return () => ending.abort();
}

// ---- light or dark: Streamlit gives a component its theme's colours only; the background tells which theme it is

/** Relative luminance (WCAG 2.2) of a computed colour, "rgb(r, g, b)": 0 is black, 1 is white. */
export function luminance(colour: string) {
  const linear = (share: number) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? ["255", "255", "255"]).map((value) => linear(Number(value) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Choose the light or the dark half of the style sheet. `node`: with the theme's background */
export function applyScheme(node: HTMLElement) {
  node.dataset.scheme = luminance(getComputedStyle(node).backgroundColor) < DARK_BELOW ? "dark" : "light";
}
