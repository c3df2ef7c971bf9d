/**
 * A workstream that is loaded.
 * @typedef {{ws_id: string, name: string, state: string, kind: string, parent_ws_id: string | null}} Entry
 *
 * The workstreams that are loaded, by id.
 * @typedef {ReadonlyMap<string, Entry>} Roster
 *
 * A frame of the global lane.
 * @typedef {{type: string, workstreams?: Entry[]} & Partial<Entry>} RosterFrame
 */

/**
 * The roster after a frame; the same object if the frame changes nothing. A snapshot is complete: what it does not
 * contain is removed. Only `ws_created` adds: any other frame of an unknown workstream is late, after its `ws_closed`.
 *
 * @param {Roster} roster
 * @param {RosterFrame} frame
 * @returns {Roster}
 */
export function after(roster, frame) {
  const { ws_id = '', name, state, kind = 'interactive', parent_ws_id = null } = frame;
  const known = roster.get(ws_id);
  switch (frame.type) {
    case 'node_snapshot':
      return new Map(frame.workstreams?.map((entry) => [entry.ws_id, entry]));
    case 'ws_created':
      return new Map(roster).set(ws_id, { ws_id, name: name ?? ws_id, state: state ?? 'idle', kind, parent_ws_id });
    case 'ws_state':
      return known && state ? new Map(roster).set(ws_id, { ...known, state }) : roster;
    case 'ws_rename':
      return known && name ? new Map(roster).set(ws_id, { ...known, name }) : roster;
    case 'ws_closed':
      return known ? without(roster, ws_id) : roster;
    default:
      return roster;
  }
}

/**
 * The roster as other parts of a page may read it.
 * @param {Roster} roster
 */
export function clusterState(roster) {
  const workstreams = [...roster.values()].map(({ ws_id, ...rest }) => ({ id: ws_id, ...rest }));
  return { nodes: { local: { workstreams } }, overview: {} };
}

/** @param {Roster} roster @param {string} wsId @returns {Roster} */
function without(roster, wsId) {
  const rest = new Map(roster);
  rest.delete(wsId);
  return rest;
}
