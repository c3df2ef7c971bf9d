/** @import { Row, TextRow } from './transcript.js' */

/**
 * The rows of a pane, in order. It finds the rows that a frame is about without a search, and records which rows have
 * changed, so that a frame costs the same beside any number of rows.
 */
export class RowList {
  /** @type {Row[]} */
  #rows = [];
  /** Positions of text rows, by row id. @type {Map<string, number>} */
  #texts = new Map();
  /** Positions of batches with a call that runs. @type {Set<number>} */
  #running = new Set();
  /** The position of the row whose text is being streamed; at most one row is. @type {number | null} */
  #live = null;
  /** Positions of the rows that were added or replaced since `takeChanged()`. @type {Set<number>} */
  #changed = new Set();

  /** @returns {readonly Row[]} */
  get all() {
    return this.#rows;
  }

  /** The row whose text is being streamed, if there is one. */
  get live() {
    return this.#live === null ? undefined : /** @type {TextRow} */ (this.#rows[this.#live]);
  }

  /** @param {Row} row */
  add(row) {
    this.#put(this.#rows.length, row);
  }

  /** Replaces one row. @param {number} at @param {(row: Row) => Row} change */
  change(at, change) {
    const row = this.#rows[at];
    if (row) this.#put(at, change(row));
  }

  /** Replaces the row that is being streamed, if there is one. @param {(row: TextRow) => TextRow} change */
  changeLive(change) {
    if (this.live) this.#put(/** @type {number} */ (this.#live), change(this.live));
  }

  /**
   * Replaces the text row of this id.
   * @param {string} rowId
   * @param {(row: TextRow) => TextRow} change
   * @returns {boolean} false if there is none
   */
  changeText(rowId, change) {
    const at = this.#texts.get(rowId);
    if (at === undefined) return false;
    this.#put(at, change(/** @type {TextRow} */ (this.#rows[at])));
    return true;
  }

  /** Replaces each batch with a call that runs. @param {(row: Row) => Row} change */
  changeRunning(change) {
    for (const at of [...this.#running]) this.change(at, change);
  }

  /** The rows that were added or replaced since the last time; added ones in their order. */
  takeChanged() {
    const changed = [...this.#changed].map((at) => /** @type {Row} */ (this.#rows[at]));
    this.#changed.clear();
    return changed;
  }

  /** @param {number} at @param {Row} row */
  #put(at, row) {
    this.#rows[at] = row;
    this.#changed.add(at);
    if (row.kind === 'text') {
      if (row.rowId !== null) this.#texts.set(row.rowId, at);
      if (row.streaming) this.#live = at;
      else if (this.#live === at) this.#live = null;
    }
    if (row.kind === 'batch') {
      if (row.calls.some(({ state }) => state === 'running')) this.#running.add(at);
      else this.#running.delete(at);
    }
  }
}
