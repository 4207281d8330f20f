// While the page is printed, a drawing has the width of paper: it was drawn for the width of the screen.

/**
 * @param {HTMLElement} node what is drawn; a style sheet gives it the width of paper while it has the class "paper"
 * @param {() => void} draw draws it again, at its width
 * @returns {() => void} ends this
 */
export function onPaper(node, draw) {
  /** @param {boolean} printing */
  const change = (printing) => {
    node.classList.toggle("paper", printing);
    draw();
  };
  const ending = new AbortController();
  addEventListener("beforeprint", () => change(true), ending);
  addEventListener("afterprint", () => change(false), ending);
  return () => ending.abort();
}
