import { TRUNCATED_JITTER_MS, jittered } from './timing.js';

/**
 * What a truncated replay asks for: one reload of the history. It waits for the end of a running turn, whose frames
 * still arrive live; otherwise it is spread, since a restart truncates every pane at once.
 */
export class Truncation {
  /**
   * The cursor that could not be replayed. Until a render, connections present it and not the newer one: a reload
   * that fails then draws the envelope again, and with it the next reload. @type {string | null}
   */
  from = null;
  #deferred = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #reload;

  /** @param {() => void} reload */
  constructor(reload) {
    this.#reload = reload;
  }

  /**
   * A `replay_truncated` has come. The oldest cursor wins: the gap begins there.
   * @param {string | null} cursor
   * @param {boolean} busy
   */
  envelope(cursor, busy) {
    this.from ??= cursor;
    if (busy) this.#deferred = true;
    else this.#timer ??= setTimeout(() => this.#fire(), jittered(0, TRUNCATED_JITTER_MS));
  }

  /** The turn is over. Returns whether a deferred reload took this edge. */
  idleEdge() {
    if (!this.#deferred) return false;
    this.#fire();
    return true;
  }

  /** The transport is gone; the next one draws the envelope again. */
  transportDropped() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#deferred = false;
  }

  /** A snapshot was rendered: nothing is missing any more. */
  clear() {
    this.transportDropped();
    this.from = null;
  }

  #fire() {
    this.transportDropped();
    this.#reload();
  }
}
