// The page that a scenario drives: one interactive pane of the client under test, or two of the same
// workstream.

import { createInteractivePane } from "/static/pane/interactive.js";
import { driverFor } from "/driver.js";

const query = new URLSearchParams(location.search);

// The pane's own state, in the terms that both kinds of pane share.
function stateOf(pane) {
  const { latch, queued, retryArmed, cursor, readyState, busy, liveRefs } = pane.state();
  return {
    busy,
    attached: pane.el.isConnected,
    open: readyState === EventSource.OPEN,
    offline: readyState === null,
    catchingUp: latch && queued !== null,
    stale: latch && queued === null && !busy,
    current: !latch,
    refetchFailed: retryArmed,
    queueing: queued !== null,
    queued,
    cursor,
    liveRefs,
  };
}

function mount(root) {
  const pane = createInteractivePane({ wsId: query.get("ws_id"), root });
  return { ...driverFor(root, () => stateOf(pane)), pane, connected: pane.connect() };
}

window.__e2e = mount(document.querySelector("#pane"));
if (query.has("peer")) __e2e.peer = mount(document.body.appendChild(document.createElement("main")));
