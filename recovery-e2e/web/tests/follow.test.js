import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Follow } from '../static/pane/follow.js';
import { FakeDom } from './support/dom.js';

/** A view of 100 pixels on a content of 500, at its end. */
function setUp(t) {
  const dom = FakeDom.install();
  t.after(() => dom.restore());
  const el = { clientHeight: 100, scrollHeight: 500, scrollTop: 400 };
  return { dom, el, follow: new Follow(el, 80) };
}

test('a view at its end follows what is added, at the next paint', (t) => {
  const { dom, el, follow } = setUp(t);
  follow.beforeChange();
  el.scrollHeight = 700;
  follow.beforeChange();
  el.scrollHeight = 900;
  assert.equal(el.scrollTop, 400);
  dom.draw();
  assert.equal(el.scrollTop, 900);
});

test('a view that is not at its end stays where it is', (t) => {
  const { dom, el, follow } = setUp(t);
  el.scrollTop = 300;
  follow.beforeChange();
  el.scrollHeight = 700;
  dom.draw();
  assert.equal(el.scrollTop, 300);
});

test('a view that is scrolled up between a change and its paint stays there and stops following', (t) => {
  const { dom, el, follow } = setUp(t);
  for (const scrollTop of [280, 280]) {
    follow.beforeChange();
    el.scrollHeight += 200;
    el.scrollTop = scrollTop;
    dom.draw();
    assert.equal(el.scrollTop, 280);
  }
});

test('a change that is cancelled is not followed', (t) => {
  const { dom, el, follow } = setUp(t);
  follow.beforeChange();
  el.scrollHeight = 700;
  follow.cancel();
  dom.draw();
  assert.equal(el.scrollTop, 400);
});
