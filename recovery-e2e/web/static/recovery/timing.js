/**
 * Every duration of the client, in milliseconds. Tests compute their windows from these exports, so no other
 * module contains a duration.
 */

/** How long one history request may take, body included. A read that hangs must fail, so that it is retried. */
export const HISTORY_DEADLINE_MS = 15_000;

/** How long a send, a rewind or a roster request may take before it is reported as failed. */
export const REQUEST_DEADLINE_MS = 15_000;

/** Minimum wait before the one retry after a declined or failed refetch: long enough for a node to restart. */
export const STALE_RETRY_MS = 2_000;

/** Spread above `STALE_RETRY_MS`, so that the panes of one node do not send their requests together. */
export const STALE_RETRY_JITTER_MS = 500;

/** Spread of the reload after a truncated replay: a restart truncates every pane at once, so it is wide. */
export const TRUNCATED_JITTER_MS = 10_000;

/** Truncated replays within `CHURN_WINDOW_MS` that enter a cooldown. A count: two are a restart and a failed reload. */
export const CHURN_LIMIT = 3;

/** How long a truncated replay counts towards `CHURN_LIMIT`. */
export const CHURN_WINDOW_MS = 60_000;

/** The first cooldown without a reload: longer than the reload's own spread. It doubles with each further one. */
export const DEGRADED_MS = 15_000;

/** Maximum cooldown: a node that has recovered is noticed within two minutes. */
export const DEGRADED_CAP_MS = 120_000;

/** After this long without a new cooldown the next one has the first duration again; more than twice the maximum. */
export const DEGRADED_RESET_MS = 300_000;

/** Failed attempts of a handoff repair before it stops and waits for the user. A count, not a duration. */
export const REPAIR_ATTEMPTS = 4;

/** Wait after the first failed repair attempt; it doubles with each further one. */
export const REPAIR_BACKOFF_MS = 2_000;

/** Spread above each repair wait. */
export const REPAIR_JITTER_MS = 500;

/** Wait before a source that the browser gave up (CLOSED) is reopened; it doubles with each failure. */
export const REDIAL_MS = 5_000;

/** Maximum redial wait: the end of an outage is noticed within half a minute. */
export const REDIAL_CAP_MS = 30_000;

/** Spread above each redial wait. */
export const REDIAL_JITTER_MS = 500;

/** How long a frame of an agent's call waits for the call of the agent itself, before it is painted on its own. */
export const ORPHAN_WAIT_MS = 500;

/** How many such frames may wait. A count; beyond it, the oldest is painted on its own. */
export const ORPHAN_LIMIT = 256;

/** How long a coordinator collects changes of its children and tasks before it requests them: a turn makes many. */
export const SIDEBAR_MS = 500;

/** Spread above `SIDEBAR_MS`, so that the panes of one node do not send their requests together. */
export const SIDEBAR_JITTER_MS = 500;

/**
 * A wait with its spread.
 * @param {number} floorMs
 * @param {number} spreadMs
 */
export function jittered(floorMs, spreadMs) {
  return floorMs + Math.random() * spreadMs;
}

/**
 * The wait before a source that the browser gave up is reopened.
 * @param {number} failures since the last source that opened, from 1
 */
export function redialWait(failures) {
  return jittered(Math.min(REDIAL_CAP_MS, REDIAL_MS * 2 ** (failures - 1)), REDIAL_JITTER_MS);
}
