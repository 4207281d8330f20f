// A component without a look: it writes one choice of the visitor into a cookie of this site.

import { payloadOf } from "../shared/mounting.js";

/** @import { Component } from "../shared/mounting.js" */

const YEAR = 31_536_000; // seconds

/** @param {Component<{ name: string, value: string }>} component */
export default function remember(component) {
  const data = payloadOf(component);
  if (data) document.cookie = `${data.name}=${data.value}; max-age=${YEAR}; path=/; samesite=lax`;
}
