// While the page is printed, a drawing has the width of paper: it was drawn for the width of the screen.

/**
 * `node`: what is drawn; a style sheet gives it the width of paper while it has the class "paper". `draw`: draws it again,
 * at its width. What it returns ends this.
 */
export function onPaper(node: HTMLElement, draw: () => void): () => void {
  const change = (printing: boolean) => {
    node.classList.toggle("paper", printing);
    draw();
  };
  const ending = new AbortController();
  addEventListener("beforeprint", () => change(true), ending);
  addEventListener("afterprint", () => change(false), ending);
  return () => ending.abort();
}
