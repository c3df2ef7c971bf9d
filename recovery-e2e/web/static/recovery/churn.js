import { CHURN_LIMIT, CHURN_WINDOW_MS, DEGRADED_CAP_MS, DEGRADED_MS, DEGRADED_RESET_MS } from './timing.js';

/**
 * The limit on what truncated replays may cost. A node whose ring is too small, or that restarts again and again,
 * truncates every connection, and each reload would bring the next one. Times are milliseconds of any one clock.
 */
export class Churn {
  /** @type {number[]} */
  #truncations = [];
  #cooldownMs = 0;
  #trippedAt = -Infinity;

  /**
   * Counts one truncation.
   * @param {number} now
   * @returns {number} how long no reload may start, 0 while the limit is not reached
   */
  count(now) {
    this.#truncations = [...this.#truncations.filter((at) => now - at < CHURN_WINDOW_MS), now];
    if (this.#truncations.length < CHURN_LIMIT) return 0;
    const calm = now - this.#trippedAt >= DEGRADED_RESET_MS;
    this.#cooldownMs = calm ? DEGRADED_MS : Math.min(2 * this.#cooldownMs, DEGRADED_CAP_MS);
    this.#trippedAt = now;
    return this.#cooldownMs;
  }
}
