import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CHURN_WINDOW_MS, DEGRADED_MS, TRUNCATED_JITTER_MS } from '../static/recovery/timing.js';
import { Truncation } from '../static/recovery/truncation.js';
import { Clock } from './support/clock.js';

/** A truncation under test: whether a turn runs, and how often it has reloaded. */
function setUp(t) {
  const clock = Clock.install(t);
  const world = { clock, running: false, reloads: 0 };
  const truncation = new Truncation({ running: () => world.running, reload: () => (world.reloads += 1) });
  return { ...world, world, truncation };
}

test('without a turn an envelope causes one reload within the jitter, and a second envelope meanwhile causes no other', async (t) => {
  const { clock, world, truncation } = setUp(t);
  truncation.envelope('a-1');
  truncation.envelope('a-2');
  assert.equal(world.reloads, 0);
  await clock.advance(TRUNCATED_JITTER_MS);
  assert.equal(world.reloads, 1);
  assert.equal(clock.pending, 0);
});

test('the oldest cursor is presented until a snapshot is rendered', (t) => {
  const { truncation } = setUp(t);
  truncation.envelope('a-1');
  truncation.envelope('a-2');
  truncation.transportDropped();
  assert.equal(truncation.from, 'a-1');
  truncation.clear();
  assert.equal(truncation.from, null);
});

test('during a turn the reload waits for the idle edge, and is not delayed after it', async (t) => {
  const { clock, world, truncation } = setUp(t);
  world.running = true;
  truncation.envelope('a-1');
  await clock.advance(2 * TRUNCATED_JITTER_MS);
  assert.equal(world.reloads, 0);
  world.running = false;
  assert.equal(truncation.idleEdge(), true);
  assert.equal(world.reloads, 1);
  assert.equal(truncation.idleEdge(), false, 'the next edge is not used');
});

test('a turn that begins during the jitter keeps its stream: the reload moves to its end', async (t) => {
  const { clock, world, truncation } = setUp(t);
  truncation.envelope('a-1');
  world.running = true;
  await clock.advance(TRUNCATED_JITTER_MS);
  assert.equal(world.reloads, 0);
  world.running = false;
  assert.equal(truncation.idleEdge(), true);
  assert.equal(world.reloads, 1);
});

test('a lost connection cancels the scheduled reload', async (t) => {
  const { clock, world, truncation } = setUp(t);
  truncation.envelope('a-1');
  truncation.transportDropped();
  await clock.advance(TRUNCATED_JITTER_MS);
  assert.equal(world.reloads, 0);
});

test('reloads at idle edges that only cause the next truncation end in a cooldown', (t) => {
  const { world, truncation } = setUp(t);
  for (let turn = 0; turn < 5; turn += 1) {
    world.running = true;
    truncation.envelope('a-1');
    world.running = false;
    truncation.idleEdge();
  }
  assert.equal(world.reloads, 2);
  assert.equal(truncation.degraded, true);
});

test('a cooldown continues across connections, ends in one reload, and is reported while it lasts', async (t) => {
  const { clock, world, truncation } = setUp(t);
  for (let envelope = 0; envelope < 3; envelope += 1) {
    truncation.transportDropped();
    truncation.envelope('a-1');
  }
  assert.equal(truncation.degraded, true);
  truncation.transportDropped();
  assert.equal(truncation.degraded, false, 'nothing waits while there is no connection');
  await clock.advance(DEGRADED_MS - 1);
  truncation.envelope('a-1');
  assert.equal(truncation.degraded, true);
  assert.equal(world.reloads, 0);
  await clock.advance(TRUNCATED_JITTER_MS);
  assert.equal(world.reloads, 1);
  assert.equal(truncation.degraded, false);
});

test('endless truncations cause fewer and fewer reloads', async (t) => {
  const { clock, world, truncation } = setUp(t);
  const hour = 60 * CHURN_WINDOW_MS;
  while (clock.now < hour) {
    truncation.envelope('a-1');
    await clock.advance(clock.next === null ? hour : clock.next - clock.now);
  }
  assert.ok(world.reloads < 100, `${world.reloads} reloads in an hour`);
});
