/**
 * What the node sends: the frames of a pane's lane, and its history.
 *
 * @typedef {{call_id: string, name: string, header?: string, preview?: string}} Item a call that begins to run
 * @typedef {{
 *   type: string, row_id?: string | null, content?: string, text?: string, client_send_ids?: string[], state?: string,
 *   reason?: string, message?: string, items?: Item[], call_id?: string, name?: string, chunk?: string,
 *   output?: string, is_error?: boolean, accepted?: boolean, parent_call_id?: string, prompt_tokens?: number,
 *   context_window?: number,
 * }} Frame
 * @typedef {Item & {output?: string, is_error?: boolean}} Step a call that an agent has made
 * @typedef {{
 *   role: string, row_id?: string, content?: string, client_send_ids?: string[],
 *   tool_calls?: {id: string, name: string, arguments?: string}[],
 *   tool_call_id?: string, name?: string, is_error?: boolean, agent_steps?: Step[],
 * }} Message
 * @typedef {{messages: Message[], cursor: string | null, handoff_token: string | null}} Snapshot
 */

/**
 * One frame from the data of an event, or null if it is invalid. An invalid frame is dropped; the stream continues.
 * @param {string} data
 * @returns {Frame | null}
 */
export function parseFrame(data) {
  try {
    const frame = JSON.parse(data);
    return typeof frame?.type === 'string' ? frame : null;
  } catch {
    return null;
  }
}

/**
 * A history response, with the fields checked that a render relies on.
 * @param {any} payload
 * @returns {Snapshot}
 */
export function parseSnapshot(payload) {
  if (!Array.isArray(payload?.messages)) throw new TypeError('the history answer holds no messages');
  return {
    messages: payload.messages,
    cursor: payload.cursor ?? null,
    handoff_token: payload.handoff_token ?? null,
  };
}
