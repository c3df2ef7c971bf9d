import { CHURN_LIMIT, CHURN_WINDOW_MS, DEGRADED_CAP_MS, DEGRADED_MS, DEGRADED_RESET_MS } from './timing.js';

/**
 * A limit on the reloads after truncated replays. A node whose ring is too small, or that restarts repeatedly,
 * truncates every connection, so that each reload would cause the next one. Times are milliseconds of one clock.
 */
export class Churn {
  /** @type {number[]} */
  #truncations = [];
  #cooldownMs = 0;
  #trippedAt = -Infinity;

  /**
   * Counts one truncation.
   * @param {number} now
   * @returns {number} the time until a reload may start, 0 below the limit
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
