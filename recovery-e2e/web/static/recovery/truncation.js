import { Churn } from './churn.js';
import { TRUNCATED_JITTER_MS, jittered } from './timing.js';

/**
 * What a truncated replay asks for: one reload of the history. It waits for the end of a running turn, whose frames
 * still arrive live; otherwise it is spread, since a restart truncates every pane at once. Each envelope that asks for
 * one counts as churn, and too much of that makes it wait for a cooldown.
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
  #churn = new Churn();
  /** No reload starts earlier; it outlives the connection, whose successor draws the envelope again. */
  #cooldownEnds = -Infinity;
  #on;

  /** @param {{running(): boolean, reload(): void}} on whether a turn runs, and what to do at last */
  constructor(on) {
    this.#on = on;
  }

  /** Whether the reload waits for a cooldown. */
  get degraded() {
    return this.#timer !== undefined && performance.now() < this.#cooldownEnds;
  }

  /** A `replay_truncated` has come. The oldest cursor wins: the gap begins there. @param {string | null} cursor */
  envelope(cursor) {
    this.from ??= cursor;
    if (this.#deferred || this.#timer !== undefined) return;
    const now = performance.now();
    if (now >= this.#cooldownEnds) this.#cooldownEnds = now + this.#churn.count(now);
    if (this.#on.running()) this.#deferred = true;
    else this.#schedule(jittered(0, TRUNCATED_JITTER_MS));
  }

  /** The turn is over. Returns whether a deferred reload took this edge. */
  idleEdge() {
    if (!this.#deferred) return false;
    this.#deferred = false;
    this.#schedule(0);
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

  /** @param {number} waitMs a cooldown makes it longer */
  #schedule(waitMs) {
    const untilMs = Math.max(waitMs, this.#cooldownEnds - performance.now());
    if (untilMs === 0) this.#on.reload();
    else this.#timer = setTimeout(this.#due, untilMs);
  }

  #due = () => {
    this.#timer = undefined;
    // A turn that has begun meanwhile is not torn from its stream: its end is the next chance.
    if (this.#on.running()) this.#deferred = true;
    else this.#on.reload();
  };
}
