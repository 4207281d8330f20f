// Elements: made, found. Text only ever becomes text, never HTML. What a model wrote stands in a bdi: no browser translates it.

export function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className?: string, text?: string) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  if (tag === "bdi") made.translate = false;
  return made;
}

/** A sentence; the tokens that it quotes are what a model wrote. */
export function sentence<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string, text: string) {
  const made = element(tag, className);
  made.append(...quoting(text));
  return made;
}

export function quoting(text: string) {
  return text.split(/(“[^”]*”)/).map((part, i) => (i % 2 ? element("bdi", "", part) : part));
}

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
