// Numbers as people read them. Every function gives "–" for a number that is not known.

import { PERCENT, fixed, localize } from "./localize.js";

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
