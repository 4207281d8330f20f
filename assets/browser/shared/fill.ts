// Texts with figures: each part of the page has a table of its texts in assets/texts/browser, and says them by name.

import { LANGUAGE, localize } from "./numbers.js";

export type Filled = Record<string, string | number>; // figures by the names that a text has in {braces}

const BRACES = /\{(\w+)(?::([^{}]*))?\}/g;
const PLURAL = new Intl.PluralRules(LANGUAGE);
const CATEGORIES = ["zero", "one", "two", "few", "many"].filter((each) => PLURAL.resolvedOptions().pluralCategories.some((its) => its === each));

/** How a part says its texts. {count:token|tokens} is the word for so many. */
export function sayer<T extends Record<string, string>>(texts: T) {
  return (name: keyof T, figures: Filled = {}) => fill(texts[name], figures);
}

export function fill(text: string, figures: Filled) {
  return text.replace(BRACES, (_, name: string, written?: string) => {
    const figure = figures[name];
    if (written === undefined) return typeof figure === "number" ? localize(String(figure)) : String(figure);
    const forms = written.split("|"); // one for each plural category of the language, in the CLDR's order; the last one where it has more
    const place = CATEGORIES.indexOf(PLURAL.select(Number(figure)));
    return forms[place < 0 ? forms.length - 1 : Math.min(place, forms.length - 1)];
  });
}
