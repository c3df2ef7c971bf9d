// The words in which a scenario speaks to the dashboard. They are imported into the node's own page,
// which stands as it is served and knows nothing of them.

import { wordsFor } from "/words.js";

// Whatever shows that a workstream is loaded: its row in the rail begins with its name.
function roster() {
  const { workstreams } = TS_APP.getClusterState().nodes.local;
  const rail = [...document.querySelectorAll("button.row")].map(({ title }) => title);
  return { model: workstreams.map(({ id }) => id), rail };
}

window.__e2e = wordsFor(document.body, roster);
