import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Messages } from '../static/pane/render.js';
import { FakeDom } from './support/dom.js';

/** A list of messages whose nodes show their text. */
function setUp(t) {
  const dom = FakeDom.install();
  t.after(() => dom.restore());
  const view = () => {
    const el = document.createElement('div');
    return { el, show: ({ text }) => (el.text = text) };
  };
  const messages = new Messages(() => {}, view);
  const nodes = () => messages.el.children.filter(({ text }) => text !== undefined);
  return { messages, nodes, texts: () => nodes().map(({ text }) => text) };
}

const stored = (...ids) => ids.map((id) => ({ role: 'user', row_id: id, content: id }));
const turn = (id, ...client_send_ids) => ({ type: 'user_turn', row_id: id, content: id, client_send_ids });

test('a new row is shown after the other rows and before the sends', (t) => {
  const { messages, texts } = setUp(t);
  messages.showSend('s1', 'first send');
  messages.paint(turn('a'));
  messages.showSend('s2', 'second send');
  messages.paint(turn('b'));
  assert.deepEqual(texts(), ['a', 'b', 'first send', 'second send']);
  messages.paint(turn('c', 's1'));
  assert.deepEqual(texts(), ['a', 'b', 'c', 'second send']);
});

test('a snapshot adds, moves and removes rows, and a row that remains keeps its node', (t) => {
  const { messages, nodes, texts } = setUp(t);
  messages.render(stored('a', 'b', 'c'), false);
  messages.showSend('s1', 'send');
  const [, b, c, send] = nodes();
  messages.render(stored('c', 'new', 'b'), false);
  assert.deepEqual(texts(), ['c', 'new', 'b', 'send']);
  assert.ok(nodes()[0] === c && nodes()[2] === b && nodes()[3] === send);
});

test('a row after a snapshot follows the last row of the snapshot, or is the first one', (t) => {
  const { messages, texts } = setUp(t);
  messages.render(stored('a', 'b'), false);
  messages.render(stored('a'), false);
  messages.paint(turn('c'));
  assert.deepEqual(texts(), ['a', 'c']);
  messages.render([], false);
  messages.paint(turn('d'));
  assert.deepEqual(texts(), ['d']);
});

test('a text frame after a snapshot continues a row of the snapshot, not one from before it', (t) => {
  const { messages, texts } = setUp(t);
  messages.paint({ type: 'content', row_id: 'x', text: 'streamed' });
  messages.render([...stored('a'), { role: 'assistant', row_id: 'y', content: 'stored' }], true);
  assert.equal(messages.liveRefs, 0);
  messages.paint({ type: 'content', row_id: 'y', text: ' and more' });
  messages.paint({ type: 'content', row_id: 'x', text: 'again' });
  assert.deepEqual(texts(), ['a', 'stored and more', 'again']);
});
