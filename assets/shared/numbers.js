// Numbers as people read them. Every function gives "–" for a number that is not known.

export const UNKNOWN = "–";

/**
 * A probability to two digits that count, without the zero before the point: .31, .0078, 1, <.0001.
 * @param {number | null | undefined} value
 */
export function prob(value) {
  if (value == null) return UNKNOWN;
  if (value === 0 || value === 1) return String(value);
  if (value < 0.00005) return "<.0001";
  if (value >= 0.9995) return ">.999";
  const places = value >= 0.995 ? 3 : value >= 0.1 ? 2 : value >= 0.01 ? 3 : 4;
  return value.toFixed(places).slice(1);
}

/** @param {number | null | undefined} share 0 to 1 */
export function percent(share) {
  return share == null ? UNKNOWN : `${Math.round(share * 100)} %`;
}

/** @param {number | null | undefined} ratio */
export function times(ratio) {
  return ratio == null ? UNKNOWN : `${ratio.toFixed(ratio < 10 ? 2 : 1)}×`;
}

/** @param {number | null | undefined} ms */
export function milliseconds(ms) {
  if (ms == null) return UNKNOWN;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** @param {number | null | undefined} ms */
export function seconds(ms) {
  return ms == null ? UNKNOWN : `${(ms / 1000).toFixed(2)} s`;
}

/**
 * "1 token", "3 tokens".
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function counted(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}
