// A component without a look: what stands behind the # of a link goes to the server over the page's connection, and out of
// the address. A browser never sends it with an address, so no proxy can log it.

import { payloadOf, type Component } from "../shared/mounting.js";

export default function secret(component: Component<{ name: string }>) {
  const data = payloadOf(component);
  const before = `#${data?.name}=`;
  if (!data || !location.hash.startsWith(before)) return;
  const value = location.hash.slice(before.length);
  history.replaceState(history.state, "", location.pathname + location.search);
  component.setStateValue("text", value);
}
