// Elements: made, found. Text only ever becomes text, never HTML.

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
  return made;
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
