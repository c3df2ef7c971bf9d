/** @import { Entry, Roster } from '../recovery/roster.js' */

/**
 * The workstreams in display order: by name, each followed by its children.
 * @param {Roster} roster
 * @returns {{entry: Entry, depth: number}[]}
 */
export function inOrder(roster) {
  const entries = [...roster.values()].sort(byName);
  const below = (/** @type {string | null} */ parent) =>
    entries.filter(({ parent_ws_id }) => (parent_ws_id !== null && roster.has(parent_ws_id) ? parent_ws_id : null) === parent);
  /** @returns {{entry: Entry, depth: number}[]} */
  const branch = (/** @type {Entry} */ entry, /** @type {number} */ depth) => [
    { entry, depth },
    ...below(entry.ws_id).flatMap((child) => branch(child, depth + 1)),
  ];
  return below(null).flatMap((entry) => branch(entry, 0));
}

/** @param {{name: string, ws_id: string}} a @param {{name: string, ws_id: string}} b */
export function byName(a, b) {
  return a.name.localeCompare(b.name) || a.ws_id.localeCompare(b.ws_id);
}
