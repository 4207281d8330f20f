// The entry of the thread: the engine listens to the page. It is also run as a classic script, without the export.

import { Engine, type Port } from "./engine.js";

export default new Engine((globalThis as unknown as Port));
