// Small helpers: text for people, numbers for people, elements. No state.

const SUBSTEPS = 3; // propose, check, judge
const PHASES = ["propose", "check", "judge"];
const GLYPHS = { " ": "␣", "\n": "↵", "\t": "⇥" };

/** A token's text with nothing invisible left in it. */
function visible(text) {
  if (text === "") return "⟨empty⟩";
  return text
    .replace(/[ \n\t]/g, (c) => GLYPHS[c])
    .replace(/[\x00-\x1f\x7f]/g, (c) => `⟨${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}⟩`)
    .replace(/[\u0080-\u009f\u00a0\u00ad\u061c\u180e\u200b-\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g, codePoint);
}

function codePoint(c) {
  return `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** For sentences: the text without the space before it, in quotes. */
function quoted(text) {
  const bare = text.trim() ? text.trim() : text;
  return `“${shorten(visible(bare), 24)}”`;
}

function shorten(text, length) {
  const characters = [...text];
  return characters.length > length ? characters.slice(0, length - 1).join("") + "…" : text;
}

/** A probability as the papers print it, to two digits that count: .31, .0078, 1, <.0001. */
function prob(value) {
  if (value == null) return "–";
  if (value === 0 || value === 1) return String(value);
  if (value < 0.00005) return "<.0001";
  if (value >= 0.9995) return ">.999";
  const places = value >= 0.995 ? 3 : value >= 0.1 ? 2 : value >= 0.01 ? 3 : 4;
  return value.toFixed(places).slice(1);
}

const percent = (share) => (share == null ? "–" : `${Math.round(share * 100)} %`);
const times = (ratio) => (ratio == null ? "–" : `${ratio.toFixed(ratio < 10 ? 2 : 1)}×`);
const milliseconds = (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** An element with a class and text; text is only ever text. */
function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
