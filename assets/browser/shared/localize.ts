// Figures as the reader's language writes them: 1.41 is 1,41 in Spanish. What a program reads keeps its point. As
// specviz/core/numbers.py.

export const LANGUAGE = typeof TEXTS === "undefined" ? "en" : TEXTS.language; // without a built file: node

const FOUR_DIGITS = /^(\D*\d),(?=\d{3}(?![\d,]))/; // not grouped: CLDR's rule for Spanish
const sign = (type: string) => new Intl.NumberFormat(LANGUAGE).formatToParts(12345.6).find((part) => part.type === type)?.value ?? "";
const SIGNS = { ".": sign("decimal"), ",": sign("group") };

/** With the space that stands before it: English has one as the SI writes it, another language as the CLDR does. */
export const PERCENT = LANGUAGE === "en" ? " %" : new Intl.NumberFormat(LANGUAGE, { style: "percent" }).format(0).replace(/^0/, "");

/** `english`: a figure */
export function localize(english: string) {
  if (LANGUAGE === "en") return english;
  return english.replace(FOUR_DIGITS, "$1").replace(/[.,]/g, (each) => SIGNS[each as "." | ","]);
}

export function fixed(value: number, places: number) {
  return localize(value.toFixed(places));
}

/** `value`: with a sign between thousands */
export function grouped(value: number) {
  return localize(value.toLocaleString("en-US"));
}
