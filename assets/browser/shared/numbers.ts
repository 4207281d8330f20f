// Figures as people of the reader's language read them: 1.41 is 1,41 in Spanish. What a program reads keeps its point. As
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

// ---- "–" for a number that is not known

export const UNKNOWN = "–";

/** A probability in per cent, to two digits that count: 31 %, 0.78 %, 100 %, <0.01 %. */
export function prob(value: number | null | undefined) {
  if (value == null) return UNKNOWN;
  if (value === 0 || value === 1) return percent(value);
  if (value < 0.00005) return localize(`<0.01${PERCENT}`);
  if (value >= 0.9995) return localize(`>99.9${PERCENT}`);
  const places = value >= 0.995 ? 1 : value >= 0.1 ? 0 : value >= 0.01 ? 1 : 2;
  return `${fixed(100 * value, places)}${PERCENT}`;
}

/** `share`: 0 to 1 */
export function percent(share: number | null | undefined) {
  return share == null ? UNKNOWN : `${Math.round(share * 100)}${PERCENT}`;
}

export function times(ratio: number | null | undefined) {
  return ratio == null ? UNKNOWN : `${fixed(ratio, ratio < 10 ? 2 : 1)}×`;
}

export function milliseconds(ms: number | null | undefined) {
  if (ms == null) return UNKNOWN;
  return `${ms < 10 ? fixed(ms, 1) : Math.round(ms)} ms`;
}

export function seconds(ms: number | null | undefined) {
  return ms == null ? UNKNOWN : `${fixed(ms / 1000, 2)} s`;
}
