// Builds assets/browser/dist, one file for each part of a page, from assets/browser: npm run build

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const BROWSER = fileURLToPath(new URL("../assets/browser/", import.meta.url));
const MODULES = [
  "be_the_draft/be_the_draft", "chart/chart", "components/follow", "components/frame", "components/keep", "components/memory",
  "components/secret", "components/vocabulary", "live/live", "live/take", "offline/lesson", "offline/player", "race/race",
  "roofline/roofline", "stage/feed", "stage/stage",
];
const CLASSIC = ["engine/worker", "live/service_worker"]; // browsers start these from no module
const TABLE = /texts\/browser\/(\w+)\.json$/;

/** Texts are data: specviz/player/html_file.py writes them before the program, in the language of who is to see it. */
const textsAreGiven = {
  name: "texts",
  /** @param {import("esbuild").PluginBuild} building */
  setup(building) {
    building.onResolve({ filter: TABLE }, ({ path }) => ({ path: (TABLE.exec(path) ?? [])[1], namespace: "texts" }));
    building.onLoad({ filter: /.*/, namespace: "texts" }, ({ path }) => ({ contents: `export default TEXTS.${path}` }));
  },
};

/**
 * The built files by their name in dist. The first line says which texts they need.
 * @returns {Promise<Array<[string, string]>>}
 */
export function built() {
  return Promise.all([...MODULES, ...CLASSIC].map(async (name) => {
    const made = await build({
      entryPoints: [`${BROWSER}${name}`],
      bundle: true, minify: true, write: false, metafile: true, charset: "utf8", legalComments: "none", target: "es2022",
      format: CLASSIC.includes(name) ? "iife" : "esm", plugins: [textsAreGiven],
    });
    const tables = Object.keys(made.metafile.inputs).flatMap((input) => (input.startsWith("texts:") ? [input.slice("texts:".length)] : []));
    return /** @type {[string, string]} */ ([`${name}.js`, `// ${tables.sort().join(" ")}\n${made.outputFiles[0].text}`]);
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of await built()) {
    mkdirSync(dirname(`${BROWSER}dist/${name}`), { recursive: true });
    writeFileSync(`${BROWSER}dist/${name}`, text);
  }
}
