// The page that a scenario drives: one coordinator pane of the client under test.

import { createCoordinatorPane } from "/static/pane/coordinator.js";
import { wordsFor } from "/words.js";

const root = document.querySelector("#pane");
const wsId = new URLSearchParams(location.search).get("ws_id");
const pane = createCoordinatorPane({ wsId, root });
const bar = root.querySelector("#coord-status-bar");

// The pane keeps its state to itself: this is what stands on the page, and what its streams were
// seen to bring.
function state() {
  return {
    stream: bar.querySelector(".stream-state").dataset.state,
    dim: bar.matches(".ws-sb-disconnected"),
    busy: pane.el.dataset.busy === "true",
    running: root.querySelectorAll("#coord-messages .conv-batch--running").length,
    cursor: __counts.cursor(),
    queued: null,
  };
}

window.__e2e = { ...wordsFor(root, state), pane, connected: pane.connect() };
