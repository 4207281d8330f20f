// A component without a look: it writes what the visitor chose, or joined, into a cookie of this site.

import { payloadOf, type Component } from "../shared/mounting.js";

export default function remember(component: Component<{ name: string, value: string, seconds: number }>) {
  const data = payloadOf(component);
  const secure = location.protocol === "https:" ? "; secure" : "";
  if (data) document.cookie = `${data.name}=${data.value}; max-age=${data.seconds}; path=/; samesite=lax${secure}`;
}
