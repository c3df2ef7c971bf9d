import { rowOf, rowsOf } from './rows.js';

/** @import { Frame, Snapshot } from './wire.js' */

/**
 * The policy of a pane that keeps painting during a refetch. A snapshot that would remove what the user has seen is
 * declined: one that arrives while a call runs, and one without a row that was painted since the request was sent.
 * Only frames decide which calls run: on screen, a call that a crash has left open looks like a running one.
 */
export class LiveCalls {
  /** Ids of running calls. Kept across connections: the next one replays their results, or reports the end of the turn. */
  #calls = new Set();
  /** Rows of the frames since the refetch was sent. */
  #painted = new Set();
  queued = null;

  /** Whether no call is running. */
  get calm() {
    return this.#calls.size === 0;
  }

  /** A refetch is sent. */
  begin() {
    this.#painted.clear();
  }

  /** A frame has arrived, painted or not. @param {Frame} frame @returns {boolean} false: it is never queued */
  arrive(frame) {
    if (frame.type === 'tool_pending') for (const { call_id } of frame.items ?? []) this.#calls.add(call_id);
    if (frame.type === 'tool_result') this.#calls.delete(frame.call_id);
    const row = rowOf(frame);
    if (row !== null) this.#painted.add(row);
    return false;
  }

  /** The refetch has ended; no frame was queued. */
  end() {
    return { voided: [], kept: [] };
  }

  /** No turn runs: a missing result was lost. */
  rest() {
    this.#calls.clear();
  }

  /** Whether a snapshot may replace every row. @param {Snapshot} snapshot */
  admits({ messages }) {
    const rows = rowsOf(messages);
    return this.calm && [...this.#painted].every((row) => rows.has(row));
  }
}
