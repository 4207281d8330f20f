// A component without a look: it writes what the visitor chose, or joined, into a cookie of this site.

import { payloadOf } from "../shared/mounting.js";

/** @import { Component } from "../shared/mounting.js" */

/** @param {Component<{ name: string, value: string, seconds: number }>} component */
export default function remember(component) {
  const data = payloadOf(component);
  const secure = location.protocol === "https:" ? "; secure" : "";
  if (data) document.cookie = `${data.name}=${data.value}; max-age=${data.seconds}; path=/; samesite=lax${secure}`;
}
