// The page that a scenario drives: one coordinator pane of the client under test.

import { createCoordinatorPane } from "/static/pane/coordinator.js";
import { driverFor } from "/driver.js";

const root = document.querySelector("#pane");
const wsId = new URLSearchParams(location.search).get("ws_id");
const pane = createCoordinatorPane({ wsId, root });
const bar = root.querySelector("#coord-status-bar");

// The pane keeps its state to itself: this is what a person sees on the page, and what its streams have
// brought, in the terms that both kinds of pane share.
function state() {
  const stream = bar.querySelector(".stream-state").dataset.state;
  const busy = pane.el.dataset.busy === "true";
  const dim = bar.matches(".ws-sb-disconnected");
  return {
    busy,
    attached: pane.el.isConnected,
    open: !dim,
    offline: dim,
    catchingUp: stream === "catching-up",
    stale: stream === "stale" && !busy,
    current: stream === "live",
    latched: stream !== "live",
    refetchFailed: stream === "stale",
    queueing: false,
    queued: null,
    cursor: __counts.cursor(),
    stream,
  };
}

window.__e2e = { ...driverFor(root, state), pane, connected: pane.connect() };
