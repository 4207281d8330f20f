// Elements are made by Preact: text only ever becomes text, never HTML. What a model wrote stands in a bdi: no browser translates it.

/** The element that a component's own HTML is known to have. */
export function find<Found extends HTMLElement = HTMLElement>(parent: ParentNode, selector: string): Found {
  const found = parent.querySelector(selector);
  if (!found) throw new Error(`The component has no ${selector}`);
  return found as Found;
}

/** Whether the visitor asked their system for less motion. */
export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
