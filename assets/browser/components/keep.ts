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
    if (data.text === null) handBack(component, sessionStorage.getItem(data.name));
    else if (data.text) sessionStorage.setItem(data.name, data.text);
    else sessionStorage.removeItem(data.name);
  } catch {
    // a browser may refuse: then a reload begins again
  }
}

function handBack({ parentElement, setStateValue }: Component<Kept>, text: string | null) {
  if (!text || handed.has(parentElement)) return;
  handed.add(parentElement);
  setStateValue("text", text);
}
