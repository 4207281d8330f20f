// Keys for a component on a page that has other controls.

const EDITABLE = "input:not([type=range]), textarea, select, [contenteditable]:not([contenteditable=false])";
const TAKES_KEYS = `${EDITABLE}, input, button, a[href], summary, [role], [tabindex]`;
const PAGE_ITSELF = "body, html, h1, h2, h3, [data-testid=stMain], [data-testid=stApp]";
const EDGE = 80; // pixels of the window's top and bottom that do not count as in sight

/**
 * Call `act` with the name of each key of `names` that is pressed for this component. `names`: of keys, "shift+" before
 * those with shift. What it returns ends it.
 */
export function listenForKeys<Name extends string>(node: HTMLElement, names: Record<string, Name>, act: (name: Name) => void): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = names[(event.shiftKey ? "shift+" : "") + event.key];
    const target = event.composedPath()[0];
    if (!name || (target instanceof Element && !isMeantFor(node, target, event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    act(name);
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

export function isEditable(target: EventTarget) {
  return target instanceof Element && target.closest(EDITABLE) !== null;
}

/** Keys count inside the component, and on the page while nothing that uses keys has the focus. */
function isMeantFor(node: HTMLElement, target: Element, key: string) {
  if (node.contains(target)) return !isEditable(target) && !(key === " " && target.closest("button"));
  const box = node.getBoundingClientRect();
  const isInSight = box.bottom > EDGE && box.top < innerHeight - EDGE;
  return isInSight && (target.matches(PAGE_ITSELF) || !target.closest(TAKES_KEYS));
}
