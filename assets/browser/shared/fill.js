// Texts with figures: each part of the page has a table of its texts in assets/texts/browser, and says them by name.

/** @typedef {Record<string, string | number>} Filled figures by the names that a text has in {braces} */

const BRACES = /\{(\w+)(?::([^{}]*))?\}/g;

/**
 * How a part says its texts. {count:token|tokens} is the word for so many.
 * @template {Record<string, string>} T
 * @param {T} texts
 */
export function sayer(texts) {
  return (/** @type {keyof T} */ name, /** @type {Filled} */ figures = {}) => fill(texts[name], figures);
}

/**
 * @param {string} text
 * @param {Filled} figures
 */
export function fill(text, figures) {
  return text.replace(BRACES, (_, name, forms) => (forms === undefined ? String(figures[name]) : wordFor(Number(figures[name]), forms.split("|"))));
}

/**
 * A language whose words have one form writes it once.
 * @param {number} count
 * @param {string[]} forms
 */
function wordFor(count, forms) {
  return count === 1 ? forms[0] : forms[forms.length - 1];
}
