import { Churn } from './churn.js';
import { TRUNCATED_JITTER_MS, jittered } from './timing.js';

/**
 * The one reload of the history after a truncated replay. It waits for the end of a running turn, whose frames
 * still arrive live; otherwise it has a random delay, since a restart truncates every pane at once. Each
 * `replay_truncated` counts as churn, and beyond a limit the reload waits for a cooldown.
 */
export class Truncation {
  /**
   * The cursor that could not be replayed. Until a render, connections present it and not the newer one: after a
   * failed reload the node then sends the envelope again, which schedules the next reload. @type {string | null}
   */
  from = null;
  #deferred = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #churn = new Churn();
  /** No reload starts earlier. Kept across connections: the next one gets the envelope again. */
  #cooldownEnds = -Infinity;
  #on;

  /** @param {{running(): boolean, reload(): void}} on whether a turn runs, and what reloads */
  constructor(on) {
    this.#on = on;
  }

  /** Whether the reload waits for a cooldown. */
  get degraded() {
    return this.#timer !== undefined && performance.now() < this.#cooldownEnds;
  }

  /** A `replay_truncated` has arrived. The oldest cursor is kept: the gap begins there. @param {string | null} cursor */
  envelope(cursor) {
    this.from ??= cursor;
    if (this.#deferred || this.#timer !== undefined) return;
    const now = performance.now();
    if (now >= this.#cooldownEnds) this.#cooldownEnds = now + this.#churn.count(now);
    if (this.#on.running()) this.#deferred = true;
    else this.#schedule(jittered(0, TRUNCATED_JITTER_MS));
  }

  /** The turn has ended. Returns whether a deferred reload has used this edge. */
  idleEdge() {
    if (!this.#deferred) return false;
    this.#deferred = false;
    this.#schedule(0);
    return true;
  }

  /** The connection was lost; the next one gets the envelope again. */
  transportDropped() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#deferred = false;
  }

  /** A snapshot was rendered: the gap is closed. */
  clear() {
    this.transportDropped();
    this.from = null;
  }

  /** @param {number} waitMs at least; a cooldown extends it */
  #schedule(waitMs) {
    const untilMs = Math.max(waitMs, this.#cooldownEnds - performance.now());
    if (untilMs === 0) this.#on.reload();
    else this.#timer = setTimeout(this.#due, untilMs);
  }

  #due = () => {
    this.#timer = undefined;
    // A turn that has begun meanwhile keeps its stream; the reload waits for its end.
    if (this.#on.running()) this.#deferred = true;
    else this.#on.reload();
  };
}
