import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Stream } from '../static/recovery/stream.js';
import { REDIAL_CAP_MS, REDIAL_JITTER_MS, REDIAL_MS } from '../static/recovery/timing.js';
import { Clock } from './support/clock.js';
import { FakeNode } from './support/node.js';
import { FakePage } from './support/page.js';

function setUp(t) {
  const clock = Clock.install(t);
  const page = FakePage.install(t, new FakeNode());
  const nothing = () => {};
  const stream = new Stream(() => '/events', { opened: nothing, frame: nothing, dropped: nothing, changed: nothing });
  return { clock, page, stream };
}

test('an id-less frame, which repeats the last id, does not bring back a cursor that was cleared', (t) => {
  const { page, stream } = setUp(t);
  stream.open();
  const [source] = page.sources;
  source.onmessage({ data: '{}', lastEventId: '1-5' });
  stream.cursor = null;
  source.onmessage({ data: '{}', lastEventId: '1-5' });
  assert.equal(stream.cursor, null);
  source.onmessage({ data: '{}', lastEventId: '1-6' });
  assert.equal(stream.cursor, '1-6');
});

test('a source that the browser gave up is reopened with growing waits, until one opens', async (t) => {
  const { clock, page, stream } = setUp(t);
  stream.open();
  for (const floor of [REDIAL_MS, 2 * REDIAL_MS, 4 * REDIAL_MS, REDIAL_CAP_MS, REDIAL_CAP_MS]) {
    page.sources[0].refused();
    assert.equal(stream.readyState, 2);
    await clock.advance(floor - 1);
    assert.equal(page.sources.length, 0);
    await clock.advance(1 + REDIAL_JITTER_MS);
    assert.equal(page.sources.length, 1);
  }
  page.sources[0].deliver();
  assert.equal(stream.failing, false);
});

test('a stream that is opened on a hidden page connects when the page is shown', (t) => {
  const { page, stream } = setUp(t);
  page.show(false);
  stream.open();
  assert.equal(page.sources.length, 0);
  page.show(true);
  assert.equal(page.sources.length, 1);
  stream.close();
  page.show(false);
  page.show(true);
  assert.equal(page.sources.length, 0, 'one that was closed is not wanted any more');
});
