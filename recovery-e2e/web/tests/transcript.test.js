import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OUTPUT_CHARS } from '../static/pane/calls.js';
import { Transcript } from '../static/pane/transcript.js';

/** A transcript after these frames. */
function after(...frames) {
  const transcript = new Transcript();
  for (const frame of frames) transcript.apply(frame);
  return transcript;
}

const user = (row_id, content = row_id) => ({ type: 'user_turn', row_id, content, client_send_ids: [] });
const pending = (row_id, ...ids) => ({ type: 'tool_pending', row_id, items: ids.map((id) => item(id)) });
const item = (call_id) => ({ call_id, name: 'bash', header: 'bash', preview: `run ${call_id}` });
const chunk = (call_id, row_id, text) => ({ type: 'tool_output_chunk', call_id, row_id, chunk: text });
const result = (call_id, row_id, output, more = {}) => ({ type: 'tool_result', call_id, row_id, name: 'bash', output, is_error: false, ...more });
const ofAgent = (parent_call_id, frame) => ({ ...frame, parent_call_id });

/** Every call on screen, as `id: output (state)`, followed by the calls of its agent. */
function calls(transcript) {
  const line = ({ callId, output, state, steps }) => [`${callId}: ${output} (${state})`, ...steps.flatMap((step) => step.calls.flatMap(line))];
  return transcript.rows.flatMap((row) => (row.calls ?? []).flatMap(line));
}

test('text is appended to its row until the row ends, and then another begins', () => {
  const text = (row_id, text) => ({ type: 'content', row_id, text });
  const transcript = after(text('a', 'one '), text('a', 'two'), { type: 'stream_end', row_id: 'a' }, text('b', 'three'));
  assert.deepEqual(transcript.rows.map(({ rowId, text, streaming }) => [rowId, text, streaming]), [
    ['a', 'one two', false],
    ['b', 'three', true],
  ]);
});

test('the end of a row that is not streamed is ignored', () => {
  const transcript = after({ type: 'content', row_id: 'a', text: 'x' }, { type: 'stream_end', row_id: 'z' });
  assert.equal(transcript.live.rowId, 'a');
});

test('an in-progress snapshot continues the row that an earlier connection has left', () => {
  const transcript = after({ type: 'content', row_id: 'a', text: 'on' });
  const [{ id }] = transcript.rows;
  transcript.endStreaming();
  transcript.apply({ type: 'in_progress_snapshot', row_id: 'a', content: 'one t' });
  transcript.apply({ type: 'content', row_id: 'a', text: 'wo' });
  assert.deepEqual(transcript.rows.map((row) => [row.id, row.text]), [[id, 'one two']]);
});

test('the calls of one message are one batch, and each result is shown in its own call', () => {
  const transcript = after(pending('a', 'x', 'y'), chunk('y', 't2', 'so '), chunk('x', 't1', 'far'), result('y', 't2', 'so good'));
  assert.equal(transcript.rows.length, 1);
  assert.deepEqual(calls(transcript), ['x: far (running)', 'y: so good (done)']);
});

test('the accepted result replaces the first one', () => {
  const transcript = after(pending('a', 'x'), result('x', 't', 'raw'), result('x', 't', 'stored', { accepted: true }));
  assert.deepEqual(calls(transcript), ['x: stored (done)']);
});

test('an id that a later turn uses again is another call', () => {
  const turns = [user('u1'), pending('a', 'x'), result('x', 't1', 'first'), user('u2'), pending('b', 'x')];
  assert.deepEqual(calls(after(...turns, chunk('x', 't2', 'sec'))), ['x: first (done)', 'x: sec (running)']);
  assert.deepEqual(calls(after(...turns, result('x', 't2', 'second'))), ['x: first (done)', 'x: second (done)']);
});

test('a result of another row than that of the newest call gets a batch of its own', () => {
  const transcript = after(pending('a', 'x'), result('x', 't1', 'first'), result('x', 't9', 'stray'));
  assert.deepEqual(calls(transcript), ['x: first (done)', 'x: stray (done)']);
});

test('a result that no frame has announced gets a batch of its own', () => {
  assert.deepEqual(calls(after(result('x', 't', 'out', { is_error: true }))), ['x: out (failed)']);
});

test('a call without a result is running until the next turn begins, live and from a history', () => {
  const open = [user('u1'), pending('a', 'x')];
  assert.deepEqual(calls(after(...open)), ['x:  (running)']);
  assert.deepEqual(calls(after(...open, user('u2'))), ['x:  (interrupted)']);
  const stored = [
    { role: 'user', row_id: 'u1', content: 'go' },
    { role: 'assistant', row_id: 'a', content: '', tool_calls: [{ id: 'x', name: 'bash', arguments: '{}' }] },
  ];
  const transcript = new Transcript();
  transcript.replace(stored, false);
  assert.deepEqual(calls(transcript), ['x:  (running)']);
  transcript.replace([...stored, { role: 'user', row_id: 'u2', content: 'on' }], false);
  assert.deepEqual(calls(transcript), ['x:  (interrupted)']);
});

test('a long output keeps its end, and the number of characters that were dropped', () => {
  const transcript = after(pending('a', 'x'), chunk('x', 't', 'a'.repeat(OUTPUT_CHARS)), chunk('x', 't', 'bcd'));
  const [{ output, clipped }] = transcript.rows[0].calls;
  assert.deepEqual([output.length, output.slice(-4), clipped], [OUTPUT_CHARS, 'abcd', 3]);
});

test('the calls of an agent are steps of its call, matched by the newest of their id', () => {
  const transcript = after(
    pending('a', 'p'),
    ofAgent('p', pending('t', 'p::r1s1::x', 'p::r1s1::y')),
    ofAgent('p', chunk('p::r1s1::x', 't', 'so ')),
    ofAgent('p', result('p::r1s1::y', 't', 'y!')),
    { type: 'agent_context', parent_call_id: 'p', prompt_tokens: 27_000, context_window: 33_000 },
    result('p', 't', 'the answer'),
  );
  assert.deepEqual(calls(transcript), ['p: the answer (done)', 'p::r1s1::x: so  (running)', 'p::r1s1::y: y! (done)']);
  const [agent] = transcript.rows[0].calls;
  assert.deepEqual(agent.context, { prompt: 27_000, window: 33_000 });
  assert.deepEqual(agent.steps.map((step) => step.calls.length), [2]);
});

test('a call of an unknown agent changes nothing, and `apply` returns false', () => {
  const transcript = new Transcript();
  assert.equal(transcript.apply(ofAgent('p', pending('t', 'p::r1s1::x'))), false);
  assert.deepEqual(transcript.rows, []);
});

test('a later agent with the same id does not get the calls of the earlier one', () => {
  const transcript = after(pending('a', 'p'), result('p', 't1', 'done'), user('u'), pending('b', 'p'));
  assert.equal(transcript.apply(ofAgent('p', pending('t2', 'p::r2s1::x'))), true);
  assert.equal(transcript.apply(ofAgent('p', pending('t1', 'p::r1s9::x'))), false);
  assert.deepEqual(calls(transcript), ['p: done (done)', 'p:  (running)', 'p::r2s1::x:  (running)']);
});

test('a history shows the same rows as the live frames', () => {
  const live = after(
    user('u', 'go'),
    { type: 'content', row_id: 'a', text: 'I look.' },
    { type: 'stream_end', row_id: 'a' },
    pending('a', 'p', 'x'),
    ofAgent('p', pending('t1', 'p::r1s1::k', 'p::r1s1::l')),
    ofAgent('p', result('p::r1s1::k', 't1', 'k!', { accepted: true })),
    ofAgent('p', result('p::r1s1::l', 't1', 'l!', { accepted: true })),
    result('x', 't2', 'x!', { accepted: true }),
    result('p', 't1', 'p!', { accepted: true }),
  );
  const before = live.rows.map(({ id }) => id);
  const step = (id) => ({ ...item(`p::r1s1::${id}`), output: `${id}!`, is_error: false });
  const call = (id) => ({ id, name: 'bash', arguments: JSON.stringify({ command: `run ${id}` }) });
  const stored = [
    { role: 'user', row_id: 'u', content: 'go' },
    { role: 'assistant', row_id: 'a', content: 'I look.', tool_calls: [call('p'), call('x')] },
    { role: 'tool', row_id: 't2', tool_call_id: 'x', name: 'bash', content: 'x!', is_error: false },
    { role: 'tool', row_id: 't1', tool_call_id: 'p', name: 'bash', content: 'p!', is_error: false, agent_steps: [step('k'), step('l')] },
  ];
  const read = new Transcript();
  read.replace(stored, false);
  const bare = (rows) => JSON.parse(JSON.stringify(rows, (key, value) => (key === 'id' ? undefined : value)));
  assert.deepEqual(bare(read.rows), bare(live.rows));
  live.replace(stored, false);
  assert.deepEqual(live.rows.map(({ id }) => id), before, 'a row that is in both keeps its id');
});

test('a stored call of an agent has the title that its live frame had', () => {
  const transcript = new Transcript();
  transcript.replace([{ role: 'assistant', row_id: 'a', tool_calls: [{ id: 'p', name: 'task_agent', arguments: '{"task":"look"}' }] }], true);
  const [{ header, preview }] = transcript.rows[0].calls;
  assert.deepEqual([header, preview], ['agent', 'look']);
});

test('a snapshot keeps the output of a call that still runs', () => {
  const transcript = after(pending('a', 'x'), chunk('x', 't', 'so far'));
  transcript.replace([{ role: 'assistant', row_id: 'a', content: '', tool_calls: [{ id: 'x', name: 'bash' }] }], true);
  assert.deepEqual(calls(transcript), ['x: so far (running)']);
});

test('a send is shown until the node shows it, in a frame or in a snapshot', () => {
  const transcript = after();
  for (const id of ['s1', 's2', 's3', 's4']) transcript.send(id, id);
  transcript.apply({ ...user('u1'), client_send_ids: ['s1'] });
  transcript.taken('s3', 'accepted');
  transcript.taken('s4', 'queued');
  const shown = () => transcript.sends.map(({ sendId }) => sendId);
  assert.deepEqual(shown(), ['s2', 's3', 's4']);
  transcript.replace([{ ...user('u1'), role: 'user', client_send_ids: ['s1'] }], true);
  assert.deepEqual(shown(), ['s2', 's4'], 'a missing accepted one was cut, or its row will arrive');
  transcript.replace([], false);
  assert.deepEqual(shown(), ['s2']);
});

test('a user turn settles exactly the sends that it names, and later answers to them change nothing', () => {
  const transcript = after();
  for (const id of ['a', 'b', 'c']) transcript.send(id, `text of ${id}`);
  transcript.apply({ type: 'user_turn', row_id: 'u', content: 'text of b and more', client_send_ids: ['b', 'elsewhere'] });
  assert.deepEqual(transcript.sends.map(({ sendId }) => sendId), ['a', 'c']);
  assert.deepEqual(transcript.rows.map(({ rowId, text }) => [rowId, text]), [['u', 'text of b and more']]);
  transcript.taken('b', 'accepted');
  transcript.settle(['b']);
  assert.deepEqual(transcript.sends.map(({ sendId, phase }) => [sendId, phase]), [['a', 'sending'], ['c', 'sending']]);
});

test('a send that was accepted will start a turn, a queued one waits', () => {
  const transcript = after();
  transcript.send('s', 'text');
  assert.equal(transcript.sending, true);
  transcript.taken('s', 'accepted');
  assert.equal(transcript.sending, true);
  transcript.taken('s', 'queued');
  assert.equal(transcript.sending, false);
  transcript.rest();
  assert.equal(transcript.sends.length, 1);
});

test('turns are counted from a row to the end, without sends', () => {
  const transcript = after(user('u1'), pending('a', 'x'), user('u2'), user('u3'));
  transcript.send('s', 'text');
  const [first, , second] = transcript.rows;
  assert.deepEqual([transcript.turnsFrom(first.id), transcript.turnsFrom(second.id)], [3, 2]);
});
