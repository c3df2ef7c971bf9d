import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Orphans } from '../static/pane/orphans.js';
import { ORPHAN_LIMIT, ORPHAN_WAIT_MS } from '../static/recovery/timing.js';
import { Clock } from './support/clock.js';

function setUp(t) {
  const clock = Clock.install(t);
  const escaped = [];
  const orphans = new Orphans((frame) => escaped.push(frame.call_id));
  return { clock, escaped, orphans };
}

const frame = (call_id, parent_call_id = 'p') => ({ type: 'tool_result', call_id, parent_call_id });

test('frames whose agent arrives in time are placed in order, and are not released', async (t) => {
  const { clock, escaped, orphans } = setUp(t);
  for (const [id, parent] of [['a', 'p'], ['b', 'q'], ['c', 'p']]) orphans.hold(frame(id, parent));
  const placed = [];
  orphans.retry(({ call_id, parent_call_id }) => parent_call_id === 'p' && placed.push(call_id) > 0);
  assert.deepEqual(placed, ['a', 'c']);
  await clock.advance(ORPHAN_WAIT_MS);
  assert.deepEqual(escaped, ['b']);
});

test('each frame has its own wait', async (t) => {
  const { clock, escaped, orphans } = setUp(t);
  orphans.hold(frame('a'));
  await clock.advance(ORPHAN_WAIT_MS - 1);
  orphans.hold(frame('b'));
  await clock.advance(1);
  assert.deepEqual(escaped, ['a']);
  await clock.advance(ORPHAN_WAIT_MS);
  assert.deepEqual(escaped, ['a', 'b']);
});

test('beyond the limit the oldest is released at once', (t) => {
  const { clock, escaped, orphans } = setUp(t);
  for (let id = 0; id <= ORPHAN_LIMIT; id += 1) orphans.hold(frame(`c${id}`));
  assert.deepEqual(escaped, ['c0']);
  assert.equal(clock.pending, ORPHAN_LIMIT);
});

test('dropped frames are not painted later', async (t) => {
  const { clock, escaped, orphans } = setUp(t);
  orphans.hold(frame('a'));
  orphans.clear();
  await clock.advance(ORPHAN_WAIT_MS);
  assert.deepEqual([escaped, clock.pending], [[], 0]);
});
