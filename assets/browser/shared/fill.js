// Texts with figures: each part of the page has a table of its texts in assets/texts/browser, and says them by name.

import { LANGUAGE, localize } from "./localize.js";

/** @typedef {Record<string, string | number>} Filled figures by the names that a text has in {braces} */

const BRACES = /\{(\w+)(?::([^{}]*))?\}/g;
const PLURAL = new Intl.PluralRules(LANGUAGE);
const CATEGORIES = ["zero", "one", "two", "few", "many"].filter((each) => PLURAL.resolvedOptions().pluralCategories.some((its) => its === each));

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
  return text.replace(BRACES, (_, name, forms) => (forms === undefined ? written(figures[name]) : wordFor(Number(figures[name]), forms.split("|"))));
}

/** @param {string | number} figure */
function written(figure) {
  return typeof figure === "number" ? localize(String(figure)) : String(figure);
}

/**
 * One form for each plural category of the language, in the CLDR's order; the last one where it has more.
 * @param {number} count
 * @param {string[]} forms
 */
function wordFor(count, forms) {
  const place = CATEGORIES.indexOf(PLURAL.select(count));
  return forms[place < 0 ? forms.length - 1 : Math.min(place, forms.length - 1)];
}
