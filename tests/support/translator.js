// What Chrome's translator does to a page, with the same words: every text stands in two <font> elements, also inside open
// shadow roots, and so does every text that comes later. It leaves out what must not be translated, and drawings.
// In the way "replaced" the text itself is taken out of the page, as Chrome does; in the way "moved" it is moved inside.

(way) => {
  const LEFT = "script, style, textarea, input, svg, .notranslate, [translate=no]";
  const made = (window.translated = []); // pairs: a text, and the element that stands in its place

  const wrap = (text) => {
    const parent = text.parentElement ?? text.parentNode?.host;
    if (!text.data.trim() || !text.isConnected || !parent || parent.closest("font") || isLeft(parent)) return;
    const outer = document.createElement("font");
    const inner = outer.appendChild(document.createElement("font"));
    if (way === "replaced") inner.textContent = text.data;
    text.parentNode.insertBefore(outer, text);
    if (way === "replaced") text.remove();
    else inner.append(text);
    made.push([text, outer]);
  };
  const isLeft = (node) => {
    for (let at = node; at; at = at.getRootNode().host) if (at.closest(LEFT)) return true;
    return false;
  };
  const wrapAll = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return wrap(node);
    if (node.shadowRoot) watch(node.shadowRoot);
    for (const child of [...node.childNodes]) wrapAll(child);
  };
  const watched = new WeakSet();
  const watch = (root) => {
    if (watched.has(root)) return;
    watched.add(root);
    new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach(wrapAll)))
      .observe(root, { childList: true, subtree: true });
    wrapAll(root);
  };
  watch(document.body);
}
