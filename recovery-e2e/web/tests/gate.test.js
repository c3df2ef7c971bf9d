import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rowsGated } from '../static/recovery/gate.js';

test('the gate has two terms, busy and latch; the queue is not a term', () => {
  for (const busy of [false, true]) {
    for (const latch of [false, true]) {
      for (const queued of [null, 0, 3]) assert.equal(rowsGated({ busy, latch, queued }), busy || latch);
    }
  }
});
