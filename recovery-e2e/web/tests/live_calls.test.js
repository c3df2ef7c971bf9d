import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LiveCalls } from '../static/recovery/live_calls.js';
import { Quiesce } from '../static/recovery/quiesce.js';
import { STALE_RETRY_JITTER_MS, STALE_RETRY_MS } from '../static/recovery/timing.js';
import { World } from './support/world.js';

const RETRY_WINDOW_MS = STALE_RETRY_MS + STALE_RETRY_JITTER_MS;

const pending = (...ids) => ({ type: 'tool_pending', row_id: 'a', items: ids.map((call_id) => ({ call_id, name: 'bash' })) });
const result = (call_id, row_id = `t-${call_id}`) => ({ type: 'tool_result', call_id, row_id, name: 'bash', output: '' });
const snapshot = (...ids) => ({ messages: ids.map((row_id) => ({ role: 'user', row_id })), cursor: null, handoff_token: null });

/** A coordinator over one turn, which is then cut; its refetch is under way. */
async function cut(t) {
  const world = new World(t, new LiveCalls());
  await world.open();
  await world.turn('first');
  world.node.rewind(1);
  await world.deliver();
  return world;
}

for (const [story, frames, calm] of [
  ['is announced', [pending('c1')], false],
  ['is announced with another that has ended', [pending('c1', 'c2'), result('c1')], false],
  ['has ended', [pending('c1'), result('c1')], true],
  ['has ended and is accepted', [pending('c1'), result('c1'), { ...result('c1'), accepted: true }], true],
  ['has ended, and its id is used again', [pending('c1'), result('c1'), pending('c1')], false],
  ['was made by an agent', [{ ...pending('p::r1s1::c'), parent_call_id: 'p' }], false],
  ['writes, and was announced to an earlier connection', [{ type: 'tool_output_chunk', call_id: 'c1', chunk: '.' }], true],
]) {
  test(`${calm ? 'no call runs' : 'a call runs'} when one ${story}`, () => {
    const policy = new LiveCalls();
    assert.deepEqual(frames.map((frame) => policy.arrive(frame)), frames.map(() => false), 'no frame waits');
    assert.equal(policy.calm, calm);
    assert.equal(policy.admits(snapshot('a', 't-c1')), calm);
    policy.rest();
    assert.equal(policy.calm, true, 'at rest nothing runs');
  });
}

test('a snapshot without a row that was painted since the request was sent is declined', () => {
  const policy = new LiveCalls();
  policy.arrive({ type: 'user_turn', row_id: 'before' });
  policy.begin();
  policy.arrive({ type: 'user_turn', row_id: 'since' });
  policy.arrive({ type: 'stream_end', row_id: null });
  policy.arrive({ type: 'error', row_id: 'no frame of a row' });
  assert.equal(policy.admits(snapshot('before')), false);
  assert.equal(policy.admits(snapshot('since')), true, 'what was painted before may have been cut');
  policy.begin();
  assert.equal(policy.admits(snapshot('before')), true, 'each refetch is judged by what came after it was sent');
});

test('a coordinator paints during a refetch, and after a declined snapshot its next idle edge sends a refetch', async (t) => {
  const world = await cut(t);
  const [request] = world.page.requests;
  world.page.read(request);
  await world.turn('second');
  assert.deepEqual(world.users, ['first', 'second'], 'nothing waits for the refetch');
  assert.equal(world.recovery.state().queued, null);
  world.page.answer(request);
  await world.answer();
  assert.deepEqual(world.users, ['second']);
  assert.equal(world.recovery.state().latch, false);
});

/** A frame outside of any turn. */
function bring(world, frame) {
  world.source.onmessage({ data: JSON.stringify(frame), lastEventId: '' });
}

test('a retry that is due while a call runs sends nothing, and the next idle edge sends a refetch', async (t) => {
  const world = await cut(t);
  await world.fail();
  bring(world, pending('c1'));
  await world.clock.advance(RETRY_WINDOW_MS);
  assert.equal(world.page.requests.length, 0);
  bring(world, { type: 'state_change', state: 'idle' });
  await world.answer();
  assert.deepEqual(world.users, []);
  assert.equal(world.recovery.state().latch, false);
});

test('a snapshot that arrives while a call runs is declined, and removes no row', async (t) => {
  const world = await cut(t);
  bring(world, pending('c1'));
  await world.answer();
  assert.deepEqual(world.transcript.rows.map(({ kind }) => kind), ['user', 'text', 'batch']);
  assert.equal(world.recovery.state().latch, true);
});

test('a call whose result was lost with a connection ends with the turn', async (t) => {
  const world = await cut(t);
  await world.fail();
  world.node.begin('second', [], ['c1']);
  for (let step = 0; step < 3; step += 1) world.node.step();
  await world.deliver();
  world.page.show(false);
  while (world.node.busy) world.node.step();
  world.node.evict(100);
  world.page.show(true);
  await world.deliver();
  await world.clock.advance(10_000);
  await world.answer();
  assert.deepEqual(world.users, ['second']);
  assert.equal(world.recovery.state().latch, false);
});

test('the frames queued for a superseded refetch are cut by the next one', () => {
  const policy = new Quiesce();
  assert.equal(policy.arrive(pending('c1')), false, 'without a refetch nothing waits');
  policy.begin();
  policy.arrive(pending('c1'));
  policy.begin();
  policy.arrive(result('c1'));
  assert.equal(policy.queued, 2);
  assert.deepEqual(policy.end(true), { voided: [pending('c1')], kept: [result('c1')] });
  assert.equal(policy.queued, null);
  policy.begin();
  policy.arrive(result('c1'));
  assert.deepEqual(policy.end(false), { voided: [], kept: [result('c1')] }, 'a declined snapshot voids nothing');
});
