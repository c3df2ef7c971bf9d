// The driver of the dashboard. It is imported into the node's own page, which is served as it is and knows
// nothing of it.

import { driverFor } from "/driver.js";

// Everything that shows that a workstream is loaded: its row in the rail begins with its name.
function roster() {
  const { workstreams } = TS_APP.getClusterState().nodes.local;
  const rail = [...document.querySelectorAll("button.row")].map(({ title }) => title);
  return { model: workstreams.map(({ id }) => id), rail };
}

window.__e2e = driverFor(document.body, roster);
