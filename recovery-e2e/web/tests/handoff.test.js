import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HandoffRepair, HandoffToken } from '../static/recovery/handoff.js';
import { REPAIR_ATTEMPTS, REPAIR_BACKOFF_MS, REPAIR_JITTER_MS } from '../static/recovery/timing.js';
import { Clock, settle } from './support/clock.js';
import { FakePage } from './support/page.js';

/** A repair whose attempts a test ends. */
function repairing(t) {
  const clock = Clock.install(t);
  FakePage.install(t, null);
  const ends = [];
  let repaired = 0;
  const repair = new HandoffRepair({
    attempt: () => new Promise((resolve) => ends.push(resolve)),
    repaired: () => { repaired += 1; },
    changed: () => {},
  });
  const end = async (rendered) => (ends.at(-1)(rendered), await settle());
  return { clock, repair, end, attempts: () => ends.length, repaired: () => repaired };
}

/** Lets every automatic attempt fail. */
async function exhaust({ clock, repair, end }) {
  repair.begin();
  for (let attempt = 1; attempt < REPAIR_ATTEMPTS; attempt += 1) {
    await end(false);
    await clock.advance(REPAIR_BACKOFF_MS * 2 ** (attempt - 1) + REPAIR_JITTER_MS);
  }
  await end(false);
}

test('a token is returned once', () => {
  const token = new HandoffToken();
  token.arm('p');
  assert.deepEqual([token.take(), token.take()], ['p', null]);
});

test('the wait between attempts doubles from the first', async (t) => {
  const { clock, repair, end, attempts } = repairing(t);
  repair.begin();
  for (let attempt = 1; attempt < REPAIR_ATTEMPTS; attempt += 1) {
    await end(false);
    await clock.advance(REPAIR_BACKOFF_MS * 2 ** (attempt - 1) - 1);
    assert.equal(attempts(), attempt);
    await clock.advance(REPAIR_JITTER_MS + 1);
    assert.equal(attempts(), attempt + 1);
  }
});

test('a failed attempt of the user is followed by no other, however often', async (t) => {
  const world = repairing(t);
  await exhaust(world);
  for (let click = 1; click <= 2; click += 1) {
    void world.repair.try();
    assert.equal(world.repair.exhausted, true);
    await world.end(false);
    assert.deepEqual([world.attempts(), world.clock.pending], [REPAIR_ATTEMPTS + click, 0]);
  }
});

test('a second refusal during a repair starts no second repair, and adds no attempts', async (t) => {
  const { repair, attempts, end, clock } = repairing(t);
  repair.begin();
  repair.begin();
  assert.equal(attempts(), 1);
  await end(false);
  repair.begin();
  assert.deepEqual([attempts(), clock.pending], [1, 1]);
});

test('an attempt that the user starts early replaces the next one', async (t) => {
  const { repair, attempts, end, clock } = repairing(t);
  repair.begin();
  void repair.try();
  assert.equal(attempts(), 1, 'one at a time');
  await end(false);
  void repair.try();
  assert.deepEqual([attempts(), clock.pending], [2, 0]);
});

test('a later repair has all its attempts', async (t) => {
  const world = repairing(t);
  await exhaust(world);
  void world.repair.try();
  await world.end(true);
  assert.deepEqual([world.repaired(), world.repair.active], [1, false]);
  world.repair.begin();
  await world.end(false);
  assert.deepEqual([world.repair.exhausted, world.clock.pending], [false, 1]);
});
