// A component without a look: it holds a text of one page in this browser tab. A reload loses the server's memory of the
// visitor, not this: the first mount after it hands the text back.

import { payloadOf, type Component } from "../shared/mounting.js";

export type Kept = { name: string, text: string | null }; // `text` is null where the server has nothing and wants what is here

/** the mounts that have handed it back */
const handed: WeakSet<Node> = new WeakSet();

export default function keep(component: Component<Kept>) {
  const data = payloadOf(component);
  if (!data) return;
  try {
    const { parentElement, setStateValue } = component;
    const kept = data.text === null ? sessionStorage.getItem(data.name) : null;
    if (kept && !handed.has(parentElement)) {
      handed.add(parentElement);
      setStateValue("text", kept);
    }
    if (data.text === null) return;
    if (data.text) sessionStorage.setItem(data.name, data.text);
    else sessionStorage.removeItem(data.name);
  } catch {
    // a browser may refuse: then a reload begins again
  }
}
