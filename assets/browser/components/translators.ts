// A browser's translator takes texts out of the page and puts <font> elements in their place. React, which draws
// Streamlit's part of the page, goes on with the texts: it changes what nobody sees, and fails where it wants to remove one.
// So whoever stands in for a text is removed with it, and a text that changes takes its place back: to the translator it
// is a new one.

const standIns: WeakMap<Node, ChildNode> = new WeakMap(); // for each text that was taken out
const taken: WeakSet<Node> = new WeakSet(); // the elements that stand in for one

/** Nothing is changed in a page that nobody translates. */
export function surviveTranslators() {
  const waiting = new MutationObserver((records) => {
    if (!records.some(({ addedNodes }) => [...addedNodes].some(({ nodeName }) => nodeName === "FONT"))) return;
    waiting.disconnect();
    const observer = new MutationObserver(note);
    observer.observe(document.documentElement, { childList: true, subtree: true });
    note(records, observer);
    standIn(observer);
  });
  waiting.observe(document.documentElement, { childList: true, subtree: true });
}

function standIn(observer: MutationObserver) {
  /** Where React looks for a child of the parent: the child, what was put around it, or what stands in for it. */
  const found = (parent: Node, child: Node) => {
    if (child.parentNode === parent) return child;
    note(observer.takeRecords(), observer);
    let at: Node | null = child.parentNode ? child : standIns.get(child) ?? null;
    while (at && at.parentNode !== parent) at = at.parentNode;
    return at;
  };
  const { insertBefore, removeChild } = Node.prototype;
  Node.prototype.insertBefore = function (node, next) {
    insertBefore.call(this, node, next && found(this, next));
    return node;
  };
  Node.prototype.removeChild = function (child) {
    const there = found(this, child);
    if (there) removeChild.call(this, there);
    return child;
  };
}

function note(records: MutationRecord[], observer: MutationObserver) {
  for (const { type, target, addedNodes, removedNodes, previousSibling, nextSibling } of records) {
    if (type === "characterData") standIns.get(target)?.replaceWith(target);
    for (const text of addedNodes) standIns.get(text)?.remove(); // React has put it elsewhere
    for (const text of removedNodes) {
      const standIn = [...addedNodes, previousSibling, nextSibling].find((node) => node?.nodeName === "FONT" && !taken.has(node));
      if (text.nodeType !== Node.TEXT_NODE || text.parentNode || !standIn) continue;
      taken.add(standIn);
      standIns.set(text, standIn as ChildNode);
      observer.observe(text, { characterData: true });
    }
  }
}

