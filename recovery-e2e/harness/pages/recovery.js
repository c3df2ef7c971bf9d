// The page that a scenario drives: one interactive pane of the client under test, or two of the same
// workstream.

import { createInteractivePane } from "/static/pane/interactive.js";
import { wordsFor } from "/words.js";

const query = new URLSearchParams(location.search);

function mount(root) {
  const pane = createInteractivePane({ wsId: query.get("ws_id"), root });
  return { ...wordsFor(root, () => pane.state()), pane, connected: pane.connect() };
}

window.__e2e = mount(document.querySelector("#pane"));
if (query.has("peer")) __e2e.peer = mount(document.body.appendChild(document.createElement("main")));
