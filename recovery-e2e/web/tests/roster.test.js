import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inOrder } from '../static/dashboard/order.js';
import { after, clusterState } from '../static/recovery/roster.js';
import { REDIAL_CAP_MS, REDIAL_JITTER_MS, REDIAL_MS } from '../static/recovery/timing.js';
import { RosterWorld } from './support/roster_world.js';

const entry = (ws_id, more = {}) => ({ ws_id, name: ws_id, state: 'idle', kind: 'interactive', parent_ws_id: null, ...more });
const rosterOf = (...entries) => new Map(entries.map((known) => [known.ws_id, known]));

for (const [what, frame, expected] of [
  ['a snapshot is all there is', { type: 'node_snapshot', workstreams: [entry('b'), entry('c')] }, [entry('b'), entry('c')]],
  ['a creation adds', { type: 'ws_created', ...entry('c', { kind: 'coordinator', parent_ws_id: 'a' }) },
    [entry('a'), entry('b'), entry('c', { kind: 'coordinator', parent_ws_id: 'a' })]],
  ['a creation with few fields is an idle conversation', { type: 'ws_created', ws_id: 'c' }, [entry('a'), entry('b'), entry('c')]],
  ['a creation of what is known replaces it', { type: 'ws_created', ...entry('a', { name: 'new' }) }, [entry('a', { name: 'new' }), entry('b')]],
  ['a state is that of its workstream', { type: 'ws_state', ws_id: 'b', state: 'running' }, [entry('a'), entry('b', { state: 'running' })]],
  ['a name is that of its workstream', { type: 'ws_rename', ws_id: 'b', name: 'B' }, [entry('a'), entry('b', { name: 'B' })]],
  ['what is closed is gone', { type: 'ws_closed', ws_id: 'a', reason: 'closed' }, [entry('b')]],
]) {
  test(`in a roster, ${what}`, () => {
    assert.deepEqual([...after(rosterOf(entry('a'), entry('b')), frame).values()], expected);
  });
}

test('a frame of an unknown workstream, or of none, changes nothing', () => {
  const roster = rosterOf(entry('a'));
  for (const type of ['ws_state', 'ws_rename', 'ws_closed', 'aggregate', 'replay_complete', 'replay_truncated', 'unheard_of']) {
    assert.equal(after(roster, { type, ws_id: 'z', state: 'running', name: 'Z' }), roster, type);
  }
  for (const type of ['ws_state', 'ws_rename']) assert.equal(after(roster, { type, ws_id: 'a' }), roster, `${type} of nothing`);
});

test('the roster is exposed to the page under its own names', () => {
  const { nodes, overview } = clusterState(rosterOf(entry('a', { state: 'running' })));
  assert.deepEqual(nodes.local.workstreams, [{ id: 'a', name: 'a', state: 'running', kind: 'interactive', parent_ws_id: null }]);
  assert.deepEqual(overview, {});
});

test('workstreams are listed by name, each followed by its children', () => {
  const roster = rosterOf(
    entry('6', { name: 'mate' }), entry('1', { name: 'pilot' }), entry('2', { name: 'crew', parent_ws_id: '3' }),
    entry('3', { name: 'mate' }), entry('4', { name: 'boy', parent_ws_id: '2' }), entry('5', { name: 'orphan', parent_ws_id: 'gone' }),
  );
  assert.deepEqual(inOrder(roster).map(({ entry, depth }) => [entry.ws_id, depth]), [['3', 0], ['2', 1], ['4', 2], ['6', 0], ['5', 0], ['1', 0]]);
});

test('a source that the browser gave up resumes from the cursor of the newest frame', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  assert.equal(world.presented, null);
  world.refuse();
  assert.equal(world.refusals, 1);
  world.node.create('late');
  world.page.focus();
  assert.equal(world.presented, '1-3');
  await world.deliver();
  assert.deepEqual([...world.roster.keys()], ['keeper', 'ghost', 'late'], 'what was missed is replayed');
  assert.equal(world.stream.state, 'live');
});

test('a truncated replay ends the cursor, and its snapshot removes closed workstreams', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  world.refuse();
  world.node.restart();
  world.node.create('keeper');
  world.page.show(true);
  assert.equal(world.presented, '1-3');
  await world.deliver();
  assert.deepEqual([...world.roster.keys()], ['keeper']);
  world.refuse();
  world.page.show(true);
  assert.equal(world.presented, null);
});

test('frames without an id, after a redial by the browser, restore no cursor; the next with one sets it', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  world.node.restart();
  world.node.create('keeper');
  await world.deliver();
  assert.deepEqual([...world.node.dead], ['1-3'], 'the header carried it');
  world.refuse();
  world.page.focus();
  assert.equal(world.presented, null);
  await world.deliver();
  assert.equal(world.node.dead.size, 1, 'no second truncation');
  world.node.aggregate();
  await world.deliver();
  world.refuse();
  world.page.focus();
  assert.equal(world.presented, '2-2');
});

for (const [type, frames] of [
  ['replay_truncated', 1],
  ['node_snapshot', 2],
]) {
  test(`a connection that breaks right after ${type} leaves no cursor`, async (t) => {
    const world = new RosterWorld(t);
    await world.open();
    world.node.restart();
    for (let step = 0; step < 1 + frames; step += 1) world.source.deliver();
    world.refuse();
    world.page.focus();
    assert.equal(world.presented, null);
  });
}

test('a snapshot ends the cursor even if no replay was truncated', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  world.source.onmessage({ data: JSON.stringify({ type: 'node_snapshot', workstreams: [] }), lastEventId: '1-3' });
  world.refuse();
  world.page.focus();
  assert.equal(world.presented, null);
});

test('a hidden page keeps its source; when shown or focused it does not replace one that is open or redials', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  const { source } = world;
  const unchanged = () => {
    for (const visible of [false, true]) world.page.show(visible);
    world.page.focus();
    assert.deepEqual(world.page.sources, [source]);
  };
  unchanged();
  world.node.sever();
  assert.equal(source.readyState, 0);
  unchanged();
});

test('a source that the browser gave up on a hidden page is reopened when the page is shown, not when it is focused', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  world.page.show(false);
  world.refuse();
  world.page.focus();
  assert.equal(world.source, undefined);
  world.page.show(true);
  assert.notEqual(world.source, undefined);
  assert.equal(world.clock.pending, 0, 'and no second time');
});

test('a page that has no source yet opens one when it is focused, and one in place of another', async (t) => {
  const world = new RosterWorld(t);
  world.page.focus();
  const { source } = world;
  assert.notEqual(source, undefined);
  world.stream.open();
  assert.equal(world.page.sources.length, 1);
  assert.notEqual(world.source, source);
});

test('a source that the browser gave up is reopened after a wait that doubles up to its maximum and is reset by a success', async (t) => {
  const world = new RosterWorld(t);
  world.stream.open();
  for (const wait of [REDIAL_MS, 2 * REDIAL_MS, 4 * REDIAL_MS, REDIAL_CAP_MS, REDIAL_CAP_MS]) {
    world.source.refused();
    await world.clock.advance(wait - 1);
    assert.equal(world.source, undefined);
    await world.clock.advance(REDIAL_JITTER_MS + 1);
    assert.notEqual(world.source, undefined);
  }
  await world.deliver();
  world.refuse();
  await world.clock.advance(2 * REDIAL_MS + REDIAL_JITTER_MS);
  assert.notEqual(world.source, undefined, 'the first wait again');
});

test('the state of the lane is shown at each step', async (t) => {
  const world = new RosterWorld(t);
  world.stream.open();
  assert.equal(world.stream.state, 'connecting');
  for (let step = 0; step < 2; step += 1) {
    world.source.deliver();
    assert.equal(world.stream.state, 'catching-up');
  }
  await world.deliver();
  assert.equal(world.stream.state, 'live');
  world.node.sever();
  assert.equal(world.stream.state, 'offline');
  world.source.deliver();
  assert.equal(world.stream.state, 'catching-up');
  await world.deliver();
  world.refuse();
  assert.equal(world.stream.state, 'offline');
});

test('an invalid frame closes the connection, and the snapshot of the next one contains its change', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  world.node.loaded.delete('ghost');
  world.source.onmessage({ data: '{', lastEventId: '1-4' });
  assert.equal(world.source, undefined);
  assert.equal(world.stream.state, 'offline');
  await world.clock.advance(REDIAL_MS + REDIAL_JITTER_MS);
  assert.equal(world.presented, null);
  await world.deliver();
  assert.deepEqual([...world.roster.keys()], ['keeper']);
});

test('a sign-out clears the cursor', async (t) => {
  const world = new RosterWorld(t);
  await world.open();
  world.refuse();
  world.stream.forget();
  world.page.focus();
  assert.equal(world.presented, null);
});
