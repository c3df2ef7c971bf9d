import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Messages } from '../static/pane/render.js';
import { Transcript } from '../static/pane/transcript.js';
import { FakeDom } from './support/dom.js';

/** A history of this many rows: user turns, answers, and answers that made a call. */
function messagesOf(rows) {
  return Array.from({ length: rows }, (_, at) => [
    { role: 'user', row_id: `r${at}`, content: 'go' },
    { role: 'assistant', row_id: `r${at}`, content: 'an answer' },
    { role: 'assistant', row_id: `r${at}`, tool_calls: [{ id: `c${at}`, name: 'bash', arguments: '{}' }] },
  ][at % 3]);
}

const text = (row_id) => ({ type: 'content', row_id, text: 'more ' });

/** The frames of one streamed row, its first and its last included. */
const STREAM = {
  'the first text of a row': text('live'),
  'the next text of it': text('live'),
  'all of its text again': { type: 'in_progress_snapshot', row_id: 'live', content: 'more and more' },
  'its end': { type: 'stream_end', row_id: 'live' },
  'a repeated end': { type: 'stream_end', row_id: 'live' },
  'more text of it, after its end': text('live'),
  'the first text of another row': text('next'),
};

/** The rows that `change` reads, by their place; each row reports when one of its properties is read. */
function readsOf(transcript, change) {
  const read = new Set();
  transcript.rows.forEach((row, at) => {
    for (const [name, value] of Object.entries(row)) {
      const get = () => {
        read.add(at);
        return value;
      };
      Object.defineProperty(row, name, { get, enumerable: true, configurable: true });
    }
  });
  change();
  return [...read];
}

test('a frame of text reads and replaces no row but its own, beside 1000 rows', () => {
  const transcript = new Transcript();
  transcript.replace(messagesOf(1000), true);
  const list = transcript.rows;
  assert.equal(transcript.takeChanged(), null);
  for (const [what, frame] of Object.entries(STREAM)) {
    const before = [...transcript.rows];
    const read = readsOf(transcript, () => transcript.apply(frame));
    assert.ok(read.every((at) => at >= 1000), `${what} reads ${read.length} rows`);
    const replaced = before.flatMap((row, at) => (row === transcript.rows[at] ? [] : at));
    assert.ok(replaced.every((at) => at >= 1000), `${what} replaces ${replaced.length} rows`);
    assert.equal(transcript.rows, list, `${what} copies the list`);
    const changed = transcript.takeChanged();
    assert.ok(changed.every((row) => transcript.rows.indexOf(row) >= 1000), `${what} reports ${changed.length} rows as changed`);
  }
  assert.deepEqual(transcript.rows.slice(1000).map(({ rowId, text, streaming }) => [rowId, text, streaming]), [
    ['live', 'more and moremore ', false],
    ['next', 'more ', true],
  ]);
});

test('a user turn reads no row but those whose calls still run', () => {
  const transcript = new Transcript();
  transcript.replace(messagesOf(999), true);
  const read = readsOf(transcript, () => transcript.apply({ type: 'user_turn', row_id: 'u', content: 'on' }));
  assert.deepEqual(read, [998], 'the last row of the snapshot is a call without a result');
  assert.equal(transcript.rows[998].calls[0].state, 'interrupted');
});

/** What each frame of a stream does beside this many rows: rows shown, operations on nodes, layouts. */
function workBeside(rows) {
  const dom = FakeDom.install();
  try {
    const shown = [];
    const view = () => ({ el: document.createElement('div'), show: (entry) => shown.push(entry.rowId) });
    const messages = new Messages(() => {}, view);
    messages.render(messagesOf(rows), true);
    dom.draw();
    return Object.entries(STREAM).map(([what, frame]) => {
      shown.length = dom.operations = dom.layouts = 0;
      messages.paint(frame);
      dom.draw();
      return { what, shown: [...shown], operations: dom.operations, layouts: dom.layouts };
    });
  } finally {
    dom.restore();
  }
}

test('a frame of text does the same work on the screen beside 1000 rows as beside 10', () => {
  const few = workBeside(10);
  assert.deepEqual(workBeside(1000), few);
  assert.deepEqual(few.map(({ shown }) => shown), [['live'], ['live'], ['live'], ['live'], [], ['live'], ['live', 'next']]);
});

test('any number of frames before the next paint read and set the scroll position as often as one', () => {
  const looks = (/** @type {number} */ frames) => {
    const dom = FakeDom.install();
    try {
      const messages = new Messages(() => {}, () => ({ el: document.createElement('div'), show() {} }));
      messages.render(messagesOf(10), true);
      dom.draw();
      dom.layouts = 0;
      for (let at = 0; at < frames; at += 1) messages.paint(text('live'));
      dom.draw();
      return dom.layouts;
    } finally {
      dom.restore();
    }
  };
  assert.equal(looks(100), looks(1));
});
