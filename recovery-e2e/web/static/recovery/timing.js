/**
 * Every duration of the client, in milliseconds. Windows of tests are computed from these exports, so no other
 * module writes a duration of its own.
 */

/** How long one history request may take, body included. A read that hangs must become a failure that heals. */
export const HISTORY_DEADLINE_MS = 15_000;

/** How long a send, a rewind or a roster request may take before it is reported as failed. */
export const REQUEST_DEADLINE_MS = 15_000;

/** Floor of the one retry after a declined or failed refetch: long enough for a restarting node to answer again. */
export const STALE_RETRY_MS = 2_000;

/** Spread above `STALE_RETRY_MS`, so that the panes of one node do not ask in step. */
export const STALE_RETRY_JITTER_MS = 500;

/** Spread of the reload after a truncated replay: a restart truncates every pane at once, so it is wide. */
export const TRUNCATED_JITTER_MS = 10_000;

/** Truncated replays within `CHURN_WINDOW_MS` that enter a cooldown. A count: two are a restart and a failed reload. */
export const CHURN_LIMIT = 3;

/** How long a truncated replay counts towards `CHURN_LIMIT`. */
export const CHURN_WINDOW_MS = 60_000;

/** The first cooldown without a reload: longer than the reload's own spread. It doubles with each further one. */
export const DEGRADED_MS = 15_000;

/** Ceiling of the cooldown: a node that has become well is noticed within two minutes. */
export const DEGRADED_CAP_MS = 120_000;

/** After this long without a new cooldown the next one is the first again; more than two of the longest. */
export const DEGRADED_RESET_MS = 300_000;

/** Failed attempts of a handoff repair before it stops and asks the person. A count, not a duration. */
export const REPAIR_ATTEMPTS = 4;

/** Wait after the first failed repair attempt; it doubles with each further one. */
export const REPAIR_BACKOFF_MS = 2_000;

/** Spread above each repair wait. */
export const REPAIR_JITTER_MS = 500;

/** Wait before a source that the browser gave up (CLOSED) is opened anew; it doubles with each failure. */
export const REDIAL_MS = 5_000;

/** Ceiling of the redial wait: an outage that ends is noticed within half a minute. */
export const REDIAL_CAP_MS = 30_000;

/** Spread above each redial wait. */
export const REDIAL_JITTER_MS = 500;

/** How long a frame of an agent's call waits for the call of the agent itself, before it is painted on its own. */
export const ORPHAN_WAIT_MS = 500;

/** How many such frames may wait. A count; with one more, the oldest is painted on its own. */
export const ORPHAN_LIMIT = 256;

/** How long a coordinator waits for more news of its children and tasks before it asks for them: a turn brings many. */
export const SIDEBAR_MS = 500;

/** Spread above `SIDEBAR_MS`, so that the panes of one node do not ask in step. */
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
 * The wait before a source that the browser gave up is opened anew.
 * @param {number} failures how many there have been since one last opened, from 1
 */
export function redialWait(failures) {
  return jittered(Math.min(REDIAL_CAP_MS, REDIAL_MS * 2 ** (failures - 1)), REDIAL_JITTER_MS);
}
