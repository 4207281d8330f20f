// Escape takes an open tip away, until the pointer or the focus is elsewhere (WCAG 1.4.13).

const OPEN = ":is(.term:is(:hover, :focus), .tip:hover)";

/** What it returns ends this. */
export function dismissTips(node: HTMLElement): () => void {
  const ending = new AbortController();
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || node.dataset.tips || !node.querySelector(OPEN)) return;
    node.dataset.tips = "off";
    event.stopPropagation();
  };
  const again = () => void delete node.dataset.tips;
  document.addEventListener("keydown", escape, { capture: true, signal: ending.signal });
  for (const moved of ["pointerover", "focusin"]) node.addEventListener(moved, again, ending);
  return () => ending.abort();
}
