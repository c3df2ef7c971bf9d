// The page that a scenario drives: one interactive pane of the client under test.

import { createInteractivePane } from "/static/pane/interactive.js";
import { wordsFor } from "/words.js";

const root = document.querySelector("#pane");
const wsId = new URLSearchParams(location.search).get("ws_id");
const pane = createInteractivePane({ wsId, root });

window.__e2e = { ...wordsFor(root, () => pane.state()), pane, connected: pane.connect() };
