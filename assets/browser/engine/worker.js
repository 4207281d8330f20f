// The entry of the thread: the engine listens to the page. It is also run as a classic script, without the export.

import { Engine } from "./engine.js";

/** @import { Port } from "./engine.js" */

export default new Engine(/** @type {Port} */ (/** @type {unknown} */ (globalThis)));
