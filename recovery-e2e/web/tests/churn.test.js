import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Churn } from '../static/recovery/churn.js';
import * as timing from '../static/recovery/timing.js';

/** The cooldowns that truncations at these times bring. */
function cooldowns(times) {
  const churn = new Churn();
  return times.map((at) => churn.count(at));
}

test('the third truncation within the window enters a cooldown, the first two do not', () => {
  assert.deepEqual(cooldowns([0, 1, 2]), [0, 0, timing.DEGRADED_MS]);
});

test('a truncation that has left the window counts no more', () => {
  const window = timing.CHURN_WINDOW_MS;
  assert.deepEqual(cooldowns([0, 1, window]), [0, 0, 0]);
  assert.deepEqual(cooldowns([0, 1, window - 1]), [0, 0, timing.DEGRADED_MS]);
});

test('each further cooldown is twice as long, up to the cap', () => {
  const [, , ...found] = cooldowns([0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(found, [15_000, 30_000, 60_000, 120_000, 120_000, 120_000]);
});

test('after a calm time the next cooldown is the first again', () => {
  const calm = timing.DEGRADED_RESET_MS;
  assert.deepEqual(cooldowns([0, 1, 2, 3, calm, calm + 1, calm + 2]).at(-1), 2 * 2 * timing.DEGRADED_MS);
  assert.deepEqual(cooldowns([0, 1, 2, 3, calm + 3, calm + 4, calm + 5]).at(-1), timing.DEGRADED_MS);
});
