// SVG elements. Text only ever becomes text. No browser translates a drawing: its words have places of their own length.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 */
export function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  if (tag === "svg") made.setAttribute("translate", "no");
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return /** @type {SVGElementTagNameMap[Tag]} */ (made);
}

/**
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {string} className
 * @returns {SVGElement}
 */
export function label(text, x, y, className) {
  const made = svg("text", { x, y, class: className });
  made.textContent = text;
  return made;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} className
 */
export function box(x, y, width, height, className) {
  return svg("rect", { x, y, width: Math.max(width, 0), height, rx: Math.min(3, height / 2), class: className });
}
