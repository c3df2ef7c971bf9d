import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  HISTORY_DEADLINE_MS, REPAIR_ATTEMPTS, REPAIR_BACKOFF_MS, REPAIR_JITTER_MS, STALE_RETRY_JITTER_MS, STALE_RETRY_MS,
  TRUNCATED_JITTER_MS,
} from '../static/recovery/timing.js';
import { settle } from './support/clock.js';
import { World } from './support/world.js';

const RETRY_WINDOW_MS = STALE_RETRY_MS + STALE_RETRY_JITTER_MS;

/** A pane with two turns, the last of which is then cut. */
async function cut(t) {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  await world.turn('second');
  world.node.rewind(1);
  await world.deliver();
  return world;
}

test('a cut sets the latch and keeps every row until the snapshot arrives', async (t) => {
  const world = await cut(t);
  assert.deepEqual(world.users, ['first', 'second']);
  assert.equal(world.recovery.state().latch, true);
  assert.equal(world.recovery.state().queued, 0);
  await world.answer();
  assert.deepEqual(world.users, ['first']);
  assert.equal(world.recovery.state().latch, false);
});

test('a failed refetch keeps the rows and the latch, and arms one retry, which succeeds', async (t) => {
  const world = await cut(t);
  await world.fail();
  const { latch, queued, retryArmed } = world.recovery.state();
  assert.deepEqual({ latch, queued, retryArmed }, { latch: true, queued: null, retryArmed: true });
  await world.clock.advance(RETRY_WINDOW_MS);
  assert.equal(world.page.requests.length, 1);
  await world.answer();
  assert.deepEqual(world.users, ['first']);
});

test('a failed retry arms no other, and the next idle edge sends a refetch beside the open stream', async (t) => {
  const world = await cut(t);
  await world.fail();
  await world.clock.advance(RETRY_WINDOW_MS);
  await world.fail();
  assert.equal(world.recovery.state().retryArmed, false);
  assert.equal(world.recovery.needsPerson, true);
  const { generation } = world.recovery.state();
  await world.turn('third');
  await world.answer();
  assert.deepEqual(world.users, ['first', 'third']);
  assert.equal(world.recovery.state().generation, generation, 'the backstop opens no stream');
});

test('a read that hangs fails at its deadline', async (t) => {
  const world = await cut(t);
  await world.clock.advance(HISTORY_DEADLINE_MS);
  assert.equal(world.page.requests.length, 0);
  assert.equal(world.recovery.state().retryArmed, true);
});

for (const [state, fault] of [
  ['no transport', (world) => world.page.show(false)],
  ['a redial that has not opened', (world) => world.source.broken()],
]) {
  test(`a retry that falls due with ${state} asks for nothing`, async (t) => {
    const world = await cut(t);
    await world.fail();
    fault(world);
    await world.clock.advance(RETRY_WINDOW_MS);
    assert.equal(world.page.requests.length, 0);
    const { latch, retryArmed } = world.recovery.state();
    assert.deepEqual({ latch, retryArmed }, { latch: true, retryArmed: false });
  });
}

test('a retry that is due during a turn is left to the idle edge', async (t) => {
  const world = await cut(t);
  await world.fail();
  world.node.begin('third', [], []);
  await world.deliver();
  await world.clock.advance(RETRY_WINDOW_MS);
  assert.equal(world.page.requests.length, 0);
  while (world.node.busy) world.node.step();
  await world.deliver();
  assert.equal(world.page.requests.length, 1);
});

for (const [change, fault] of [
  ['fallen', (world) => world.page.show(false)],
  ['been redialled', async (world) => (world.recovery.redial(), await world.deliver())],
]) {
  test(`a snapshot is declined when the transport has ${change} since it was asked for`, async (t) => {
    const world = await cut(t);
    const [request] = world.page.requests;
    await fault(world);
    world.page.read(request);
    world.page.answer(request);
    await settle();
    assert.deepEqual(world.users, ['first', 'second']);
    assert.equal(world.recovery.state().latch, true);
  });
}

test('an idle edge during a read whose snapshot is declined sends a refetch at once', async (t) => {
  const world = await cut(t);
  const [request] = world.page.requests;
  world.recovery.redial();
  await world.deliver();
  world.page.read(request);
  world.page.answer(request);
  await settle();
  assert.equal(world.page.requests.length, 1, 'it asks again, without waiting for the retry');
  await world.answer();
  assert.deepEqual(world.users, ['first']);
  assert.equal(world.recovery.state().latch, false);
});

test('an idle edge during a read sends no second one', async (t) => {
  const world = await cut(t);
  const [request] = world.page.requests;
  await world.turn('third');
  assert.deepEqual(world.page.requests, [request]);
  assert.equal(world.page.requests[0], request, 'it was not superseded');
});

test('an idle edge during a superseded read counts for the read that replaced it', async (t) => {
  const world = await cut(t);
  await world.turn('third');
  world.node.rewind(1);
  await world.deliver();
  await world.fail();
  assert.equal(world.page.requests.length, 1, 'it asks again, without waiting for the retry');
});

test('a superseded read neither ends the queue of the read that replaced it nor arms a retry', async (t) => {
  const world = await cut(t);
  world.node.rewind(1);
  await world.deliver();
  await settle();
  const { queued, retryArmed } = world.recovery.state();
  assert.deepEqual({ queued, retryArmed }, { queued: 0, retryArmed: false });
});

test('a read at an idle edge disarms the retry', async (t) => {
  const world = await cut(t);
  await world.fail();
  assert.equal(world.recovery.state().retryArmed, true);
  await world.turn('third');
  assert.equal(world.page.requests.length, 1);
  assert.equal(world.recovery.state().retryArmed, false);
});

test('a declined snapshot drops no queued frame', async (t) => {
  const world = await cut(t);
  await world.turn('third');
  assert.deepEqual(world.users, ['first', 'second']);
  await world.fail();
  assert.deepEqual(world.users, ['first', 'second', 'third']);
});

test('a declined snapshot drops no queued frame, even after a second cut', async (t) => {
  const world = await cut(t);
  await world.turn('third');
  world.node.rewind(1);
  await world.deliver();
  await world.fail();
  assert.deepEqual(world.users, ['first', 'second', 'third']);
});

test('a second cut skips the frames queued for the first, and settles their sends', async (t) => {
  const world = await cut(t);
  world.transcript.send('s', 'third');
  await world.turn('third', ['s']);
  world.node.rewind(1);
  await world.deliver();
  assert.equal(world.page.requests.length, 1, 'the first refetch is superseded');
  await world.answer();
  assert.deepEqual(world.users, ['first']);
  assert.deepEqual(world.transcript.sends, []);
});

test('an idle state before the end of the replay is no idle edge', async (t) => {
  const world = await cut(t);
  await world.fail();
  world.recovery.redial();
  for (let frame = 0; frame < 4; frame += 1) world.source.deliver();
  await world.answer();
  assert.deepEqual(world.users, ['first', 'second']);
  await world.deliver();
  await world.answer();
  assert.deepEqual(world.users, ['first'], 'a latched pane heals when it is shown, without a later turn');
});

test('no refetch is sent while a row is being streamed', async (t) => {
  const world = await cut(t);
  await world.fail();
  world.node.begin('third', [], []);
  world.node.step();
  await world.deliver();
  world.node.state = 'idle';
  world.recovery.redial();
  await world.deliver();
  assert.equal(world.recovery.state().liveRefs, 1);
  assert.equal(world.page.requests.length, 0);
});

test('a resync keeps the rows, sets the latch, and opens no stream before a snapshot is rendered', async (t) => {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  world.node.resync();
  await world.deliver();
  assert.equal(world.recovery.state().latch, true);
  assert.equal(world.source, undefined);
  world.recovery.redial();
  world.page.show(false);
  world.page.show(true);
  assert.equal(world.source, undefined);
  await world.answer();
  assert.equal(world.recovery.state().latch, false);
  assert.notEqual(world.source.query.get('history_token'), null);
});

test('a repair makes its attempts, then waits for the user, who starts one attempt at a time', async (t) => {
  const world = new World(t);
  await world.open();
  world.node.resync();
  await world.deliver();
  for (let attempt = 1; attempt < REPAIR_ATTEMPTS; attempt += 1) {
    await world.fail();
    assert.equal(world.recovery.needsPerson, false);
    await world.clock.advance(REPAIR_BACKOFF_MS * 2 ** (attempt - 1) + REPAIR_JITTER_MS);
    assert.equal(world.page.requests.length, 1, `attempt ${attempt + 1}`);
  }
  await world.fail();
  assert.equal(world.recovery.needsPerson, true);
  assert.equal(world.clock.pending, 0);
  void world.recovery.connect();
  void world.recovery.connect();
  assert.equal(world.page.requests.length, 1);
  assert.equal(world.recovery.reloading && world.recovery.needsPerson, true, 'the offer stays while it is tried');
  await world.answer();
  assert.equal(world.recovery.needsPerson, false);
  assert.equal(world.recovery.state().latch, false);
});

test('a rendered snapshot without a token ends a repair, and the next connection presents none', async (t) => {
  const world = new World(t);
  await world.open();
  world.node.resync();
  await world.deliver();
  const [request] = world.page.requests;
  world.page.read(request);
  request.snapshot.handoff_token = null;
  world.page.answer(request);
  await settle();
  assert.equal(world.recovery.state().latch, false);
  assert.equal(world.source.query.has('history_token'), false);
  assert.equal(world.source.query.has('last_event_id'), false);
  await world.deliver();
  await world.answer();
  assert.equal(world.recovery.streamState, 'live', 'the node had the history read once more');
});

test('a repair attempt that is due while the page is hidden starts when the page is shown', async (t) => {
  const world = new World(t);
  await world.open();
  world.node.resync();
  await world.deliver();
  await world.fail();
  world.page.show(false);
  await world.clock.advance(REPAIR_BACKOFF_MS + REPAIR_JITTER_MS);
  assert.equal(world.page.requests.length, 0);
  world.page.show(true);
  assert.equal(world.page.requests.length, 1);
  world.page.show(false);
  world.page.show(true);
  assert.equal(world.page.requests.length, 1, 'it is made once');
});

for (const [moment, reach] of [
  ['under way', async () => {}],
  ['to come', (world) => world.fail()],
  ['waiting for the page to be shown', async (world) => {
    await world.fail();
    world.page.show(false);
    await world.clock.advance(REPAIR_BACKOFF_MS + REPAIR_JITTER_MS);
  }],
]) {
  test(`an attempt that is ${moment} when its pane is destroyed opens nothing`, async (t) => {
    const world = new World(t);
    await world.open();
    world.node.resync();
    await world.deliver();
    await reach(world);
    const [request] = world.page.requests;
    world.recovery.destroy();
    if (request) {
      world.page.read(request);
      request.resolve({ ok: true, status: 200, json: async () => request.snapshot });
    }
    await settle();
    world.page.show(false);
    world.page.show(true);
    await settle();
    const { sources, requests, listeners } = world.page;
    assert.deepEqual([sources.length, requests.length, listeners, world.clock.pending], [0, 0, 0, 0]);
  });
}

test('a send whose row was lost closes the gate, but blocks no refetch', async (t) => {
  const world = await cut(t);
  world.transcript.send('s', 'lost');
  world.transcript.taken('s', 'accepted');
  await world.fail();
  assert.equal(world.recovery.state().busy, true);
  await world.clock.advance(RETRY_WINDOW_MS);
  await world.answer();
  assert.equal(world.recovery.state().latch, false);
  assert.equal(world.recovery.state().busy, false);
});

test('a restarted node truncates the replay, and the reload shows what is stored', async (t) => {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  world.node.begin('second', [], ['c1']);
  for (let step = 0; step < 3; step += 1) world.node.step();
  await world.deliver();
  world.node.restart();
  await world.deliver();
  assert.equal(world.recovery.streamState, 'catching-up');
  await world.answer();
  await world.deliver();
  const [calls] = world.transcript.rows.filter(({ kind }) => kind === 'batch');
  assert.equal(calls.calls[0].state, 'running', 'a call that a crash has left open is shown as still running');
  assert.equal(world.recovery.streamState, 'live');
});

test('after a failed reload the cursor of the truncation is presented again, which causes the next reload', async (t) => {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  const { cursor } = world.recovery.state();
  world.node.restart();
  await world.deliver();
  await world.clock.advance(TRUNCATED_JITTER_MS);
  await world.fail();
  assert.equal(world.source.query.get('last_event_id'), cursor);
  await world.deliver();
  await world.clock.advance(TRUNCATED_JITTER_MS);
  assert.equal(world.page.requests.length, 1);
  await world.answer();
  await world.deliver();
  assert.equal(world.recovery.streamState, 'live');
});

test('a hidden page closes its stream, and resumes from its cursor when shown', async (t) => {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  const { cursor } = world.recovery.state();
  world.page.show(false);
  assert.equal(world.source, undefined);
  await world.turn('second');
  world.page.show(true);
  assert.equal(world.source.query.get('last_event_id'), cursor);
  await world.deliver();
  assert.deepEqual(world.users, ['first', 'second']);
});

test('an invalid frame is dropped alone, and moves the cursor', async (t) => {
  const world = new World(t);
  await world.open();
  world.source.onmessage({ data: '{', lastEventId: '1-99' });
  assert.equal(world.recovery.state().cursor, '1-99');
});

test('after destroy nothing is requested, opened or painted', async (t) => {
  const world = new World(t);
  void world.recovery.connect();
  const [request] = world.page.requests;
  world.recovery.destroy();
  world.page.read(request);
  world.page.answer(request);
  await world.answer();
  world.page.show(false);
  world.page.show(true);
  assert.deepEqual([world.page.sources.length, world.page.requests.length, world.clock.pending], [0, 0, 0]);
});

test('a disconnected pane opens no stream when a load in flight ends', async (t) => {
  const world = new World(t);
  void world.recovery.connect();
  await settle();
  world.recovery.disconnect();
  await world.answer();
  assert.equal(world.page.sources.length, 0);
});

test('a disconnected pane opens no stream when a repair in flight ends', async (t) => {
  const world = new World(t);
  await world.open();
  world.node.resync();
  await world.deliver();
  world.recovery.disconnect();
  await world.answer();
  await world.clock.advance(REPAIR_BACKOFF_MS + REPAIR_JITTER_MS);
  await world.answer();
  assert.equal(world.page.sources.length, 0);
});

test('a disconnected pane has no transport', async (t) => {
  const world = new World(t);
  await world.open();
  world.recovery.disconnect();
  assert.equal(world.page.sources.length, 0);
  assert.equal(world.recovery.state().readyState, null);
});

test('a pane is busy while a turn runs that it did not send, and not after', async (t) => {
  const world = new World(t);
  await world.open();
  world.node.begin('first', [], []);
  await world.deliver();
  assert.equal(world.recovery.state().busy, true);
  while (world.node.busy) world.node.step();
  await world.deliver();
  assert.equal(world.recovery.state().busy, false);
});

test('a redial during a load opens nothing, since the load opens a stream', async (t) => {
  const world = new World(t);
  void world.recovery.connect();
  await settle();
  world.recovery.redial();
  assert.equal(world.page.sources.length, 0);
  await world.answer();
  assert.equal(world.page.sources.length, 1);
});

test('a reload scheduled after a truncation is cancelled when the pane is destroyed', async (t) => {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  world.node.restart();
  await world.deliver();
  world.recovery.destroy();
  await world.clock.advance(TRUNCATED_JITTER_MS);
  assert.deepEqual([world.page.requests.length, world.clock.pending], [0, 0]);
});

test('a `connect` whose load fails opens a stream without cursor and token', async (t) => {
  const world = new World(t);
  await world.open();
  await world.turn('first');
  void world.recovery.connect();
  await world.fail();
  assert.equal(world.source.query.has('last_event_id'), false);
  assert.equal(world.source.query.has('history_token'), false);
});

test('a refetch beside an open stream does not change the cursor of the next connection', async (t) => {
  const world = await cut(t);
  await world.answer();
  const { cursor } = world.recovery.state();
  world.page.show(false);
  world.page.show(true);
  assert.equal(world.source.query.get('last_event_id'), cursor);
  assert.equal(world.source.query.has('history_token'), false);
});

test('a connection requests user turns and tool turns', async (t) => {
  const world = new World(t);
  await world.open();
  assert.deepEqual([world.source.query.get('user_turn'), world.source.query.get('tool_turn')], ['1', '1']);
});
