// The page that a scenario drives: one interactive pane of the client under test, or two of the same
// workstream.

import { createInteractivePane } from "/static/pane/interactive.js";
import { driverFor } from "/driver.js";

const query = new URLSearchParams(location.search);

// The pane's own state and what it shows of it, in the terms that both kinds of pane share.
function stateOf(pane, root) {
  const { latch, queued, retryArmed, cursor, readyState, busy, liveRefs } = pane.state();
  const stream = root.querySelector(".stream-state")?.dataset.state;
  return {
    busy,
    attached: pane.el.isConnected,
    open: readyState === EventSource.OPEN,
    offline: readyState === null && stream === "offline",
    catchingUp: latch && queued !== null && stream === "catching-up",
    stale: latch && queued === null && !busy && stream === "stale",
    current: !latch && stream === "live",
    latched: latch,
    refetchFailed: retryArmed,
    queueing: queued !== null,
    queued,
    cursor,
    liveRefs,
    stream,
  };
}

function mount(root) {
  const pane = createInteractivePane({ wsId: query.get("ws_id"), root });
  return { ...driverFor(root, () => stateOf(pane, root)), pane, connected: pane.connect() };
}

window.__e2e = mount(document.querySelector("#pane"));
if (query.has("peer")) __e2e.peer = mount(document.body.appendChild(document.createElement("main")));
