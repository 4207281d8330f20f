// SVG elements. Text only ever becomes text. No browser translates a drawing: its words have places of their own length.

const SVG = "http://www.w3.org/2000/svg";

export const UNTRANSLATED: object = { translate: "no" }; // no property of a drawing: false would take it away

export function svg<Tag extends keyof SVGElementTagNameMap>(tag: Tag, attributes: Record<string, string | number>) {
  const made = document.createElementNS(SVG, tag);
  if (tag === "svg") made.setAttribute("translate", "no");
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made as SVGElementTagNameMap[Tag];
}

export function label(text: string, x: number, y: number, className: string): SVGElement {
  const made = svg("text", { x, y, class: className });
  made.textContent = text;
  return made;
}

export function box(x: number, y: number, width: number, height: number, className: string) {
  return svg("rect", { x, y, width: Math.max(width, 0), height, rx: Math.min(3, height / 2), class: className });
}
