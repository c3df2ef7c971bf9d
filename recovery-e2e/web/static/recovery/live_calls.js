import { rowOf, rowsOf } from './rows.js';

/** @import { Frame, Snapshot } from './wire.js' */

/**
 * The policy of a pane that paints what comes also during a refetch. A snapshot that would take back what a person
 * has seen is declined: one that comes while a call runs, and one without a row that was painted since it was asked
 * for. Which calls run is told by their frames alone: a call that a crash has left open looks the same on screen.
 */
export class LiveCalls {
  /** They outlive a connection: the next one replays their results, or tells that the turn is over. */
  #calls = new Set();
  /** Rows of the frames since the refetch was sent. */
  #painted = new Set();
  queued = null;

  /** Whether no call runs. */
  get calm() {
    return this.#calls.size === 0;
  }

  /** A refetch is sent. */
  begin() {
    this.#painted.clear();
  }

  /** A frame has come, whether it will be painted or not. @param {Frame} frame @returns {boolean} it never waits */
  arrive(frame) {
    if (frame.type === 'tool_pending') for (const { call_id } of frame.items ?? []) this.#calls.add(call_id);
    if (frame.type === 'tool_result') this.#calls.delete(frame.call_id);
    const row = rowOf(frame);
    if (row !== null) this.#painted.add(row);
    return false;
  }

  /** The refetch is over, and nothing has waited for it. */
  end() {
    return { voided: [], kept: [] };
  }

  /** No turn runs: a result that has not come was lost. */
  rest() {
    this.#calls.clear();
  }

  /** Whether a snapshot may replace every row. @param {Snapshot} snapshot */
  admits({ messages }) {
    const rows = rowsOf(messages);
    return this.calm && [...this.#painted].every((row) => rows.has(row));
  }
}
