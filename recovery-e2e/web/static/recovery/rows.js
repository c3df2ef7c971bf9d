/** @import { Frame, Message } from './wire.js' */

/**
 * The frames that change a row; each has the `row_id` of its row: a `tool_pending` that of the assistant row which
 * makes the calls, the frames of an agent's calls that of the agent's own tool row.
 */
const ROW_FRAMES = new Set([
  'user_turn', 'content', 'in_progress_snapshot', 'stream_end', 'tool_pending', 'tool_output_chunk', 'tool_result',
]);

/**
 * The ids of the rows in a snapshot, all of which are complete.
 * @param {readonly Message[]} messages
 * @returns {ReadonlySet<string>}
 */
export function rowsOf(messages) {
  return new Set(messages.flatMap(({ row_id }) => row_id ?? []));
}

/** The id of the row that a frame changes, or null. @param {Frame} frame */
export function rowOf({ type, row_id }) {
  return ROW_FRAMES.has(type) && typeof row_id === 'string' ? row_id : null;
}

/**
 * Whether a frame changes a row that the rendered snapshot already contains in full. Row ids are never used again, so
 * this holds for frames that were queued and for those that arrive at any later time.
 * @param {ReadonlySet<string>} rows
 * @param {Frame} frame
 */
export function standsIn(rows, frame) {
  const row = rowOf(frame);
  return row !== null && rows.has(row);
}
