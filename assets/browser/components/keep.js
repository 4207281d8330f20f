// A component without a look: it holds a text of one page in this browser tab. A reload loses the server's memory of the
// visitor, not this: the first mount after it hands the text back.

import { payloadOf } from "../shared/mounting.js";

/** @import { Component } from "../shared/mounting.js" */

/** @typedef {{ name: string, text: string | null }} Kept `text` is null where the server has nothing and wants what is here */

/** @type {WeakSet<Node>} the mounts that have handed it back */
const handed = new WeakSet();

/** @param {Component<Kept>} component */
export default function keep(component) {
  const data = payloadOf(component);
  if (!data) return;
  try {
    if (data.text === null) handBack(component, sessionStorage.getItem(data.name));
    else if (data.text) sessionStorage.setItem(data.name, data.text);
    else sessionStorage.removeItem(data.name);
  } catch {
    // a browser may refuse: then a reload begins again
  }
}

/**
 * @param {Component<Kept>} component
 * @param {string | null} text
 */
function handBack({ parentElement, setStateValue }, text) {
  if (!text || handed.has(parentElement)) return;
  handed.add(parentElement);
  setStateValue("text", text);
}
