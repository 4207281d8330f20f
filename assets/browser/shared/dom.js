// Elements: made, found. Text only ever becomes text, never HTML. What a model wrote stands in a bdi: no browser translates it.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {string} [text]
 */
export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  if (tag === "bdi") made.translate = false;
  return made;
}

/**
 * A sentence; the tokens that it quotes are what a model wrote.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {string} text
 */
export function sentence(tag, className, text) {
  const made = element(tag, className);
  made.append(...quoting(text));
  return made;
}

/** @param {string} text */
export function quoting(text) {
  return text.split(/(“[^”]*”)/).map((part, i) => (i % 2 ? element("bdi", "", part) : part));
}

/**
 * The element that a component's own HTML is known to have.
 * @template {HTMLElement} [Found=HTMLElement]
 * @param {ParentNode} parent
 * @param {string} selector
 * @returns {Found}
 */
export function find(parent, selector) {
  const found = parent.querySelector(selector);
  if (!found) throw new Error(`The component has no ${selector}`);
  return /** @type {Found} */ (found);
}

/** Whether the visitor asked their system for less motion. */
export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
