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

/** Every call on screen, as `id: output (state)`, those of an agent behind it. */
function calls(transcript) {
  const tell = ({ callId, output, state, steps }) => [`${callId}: ${output} (${state})`, ...steps.flatMap((step) => step.calls.flatMap(tell))];
  return transcript.rows.flatMap((row) => (row.calls ?? []).flatMap(tell));
}

test('text is appended to its row until the row ends, and then another begins', () => {
  const text = (row_id, text) => ({ type: 'content', row_id, text });
  const transcript = after(text('a', 'one '), text('a', 'two'), { type: 'stream_end', row_id: 'a' }, text('b', 'three'));
  assert.deepEqual(transcript.rows.map(({ rowId, text, streaming }) => [rowId, text, streaming]), [
    ['a', 'one two', false],
    ['b', 'three', true],
  ]);
});

test('the end of another row, or a repeated one, ends nothing', () => {
  const transcript = after({ type: 'content', row_id: 'a', text: 'x' }, { type: 'stream_end', row_id: 'z' });
  assert.equal(transcript.live.rowId, 'a');
});

test('what has streamed so far goes on in the bubble that an earlier connection has left', () => {
  const transcript = after({ type: 'content', row_id: 'a', text: 'on' });
  const [{ id }] = transcript.rows;
  transcript.endStreaming();
  transcript.apply({ type: 'in_progress_snapshot', row_id: 'a', content: 'one t' });
  transcript.apply({ type: 'content', row_id: 'a', text: 'wo' });
  assert.deepEqual(transcript.rows.map((row) => [row.id, row.text]), [[id, 'one two']]);
});

test('the calls of one message are one batch, and each result finds its own call', () => {
  const transcript = after(pending('a', 'x', 'y'), chunk('y', 't2', 'so '), chunk('x', 't1', 'far'), result('y', 't2', 'so good'));
  assert.equal(transcript.rows.length, 1);
  assert.deepEqual(calls(transcript), ['x: far (running)', 'y: so good (done)']);
});

test('the accepted result takes the place of the receipt', () => {
  const transcript = after(pending('a', 'x'), result('x', 't', 'raw'), result('x', 't', 'stored', { accepted: true }));
  assert.deepEqual(calls(transcript), ['x: stored (done)']);
});

test('an id that a later turn uses again is another call', () => {
  const turns = [user('u1'), pending('a', 'x'), result('x', 't1', 'first'), user('u2'), pending('b', 'x')];
  assert.deepEqual(calls(after(...turns, chunk('x', 't2', 'sec'))), ['x: first (done)', 'x: sec (running)']);
  assert.deepEqual(calls(after(...turns, result('x', 't2', 'second'))), ['x: first (done)', 'x: second (done)']);
});

test('a result of another row than the newest call has is shown by itself, never in that call', () => {
  const transcript = after(pending('a', 'x'), result('x', 't1', 'first'), result('x', 't9', 'stray'));
  assert.deepEqual(calls(transcript), ['x: first (done)', 'x: stray (done)']);
});

test('a result that nothing has announced is shown by itself', () => {
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

test('of a long output the end is kept, and how much is missing', () => {
  const transcript = after(pending('a', 'x'), chunk('x', 't', 'a'.repeat(OUTPUT_CHARS)), chunk('x', 't', 'bcd'));
  const [{ output, clipped }] = transcript.rows[0].calls;
  assert.deepEqual([output.length, output.slice(-4), clipped], [OUTPUT_CHARS, 'abcd', 3]);
});

test('the calls of an agent stand in its call, paired there by the newest of their id', () => {
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

test('a call of an agent that is not known changes nothing, and says so', () => {
  const transcript = new Transcript();
  assert.equal(transcript.apply(ofAgent('p', pending('t', 'p::r1s1::x'))), false);
  assert.deepEqual(transcript.rows, []);
});

test('a later agent of the same id does not get the calls of the earlier one', () => {
  const transcript = after(pending('a', 'p'), result('p', 't1', 'done'), user('u'), pending('b', 'p'));
  assert.equal(transcript.apply(ofAgent('p', pending('t2', 'p::r2s1::x'))), true);
  assert.equal(transcript.apply(ofAgent('p', pending('t1', 'p::r1s9::x'))), false);
  assert.deepEqual(calls(transcript), ['p: done (done)', 'p:  (running)', 'p::r2s1::x:  (running)']);
});

test('a history shows what the live frames have shown', () => {
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
  assert.deepEqual(live.rows.map(({ id }) => id), before, 'a row that stands in both keeps its place on screen');
});

test('a snapshot keeps what has been seen of a call that still runs', () => {
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
  assert.deepEqual(shown(), ['s2', 's4'], 'an accepted one that is missing was cut or is on its way');
  transcript.replace([], false);
  assert.deepEqual(shown(), ['s2']);
});

test('a user turn settles exactly the sends that it names, and what is said of them later changes nothing', () => {
  const transcript = after();
  for (const id of ['a', 'b', 'c']) transcript.send(id, `text of ${id}`);
  transcript.apply({ type: 'user_turn', row_id: 'u', content: 'text of b and more', client_send_ids: ['b', 'elsewhere'] });
  assert.deepEqual(transcript.sends.map(({ sendId }) => sendId), ['a', 'c']);
  assert.deepEqual(transcript.rows.map(({ rowId, text }) => [rowId, text]), [['u', 'text of b and more']]);
  transcript.taken('b', 'accepted');
  transcript.settle(['b']);
  assert.deepEqual(transcript.sends.map(({ sendId, phase }) => [sendId, phase]), [['a', 'sending'], ['c', 'sending']]);
});

test('a queued send is waiting, one that was taken at once has a turn to come', () => {
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

test('turns are counted from a row to the end, sends apart', () => {
  const transcript = after(user('u1'), pending('a', 'x'), user('u2'), user('u3'));
  transcript.send('s', 'text');
  const [first, , second] = transcript.rows;
  assert.deepEqual([transcript.turnsFrom(first.id), transcript.turnsFrom(second.id)], [3, 2]);
});
