import assert from 'node:assert/strict';
import { test } from 'node:test';

import { advance } from '../static/recovery/cursor.js';

const A = '00000000000000aa';
const B = '00000000000000bb';

test('within an epoch only a larger counter moves the cursor', () => {
  assert.equal(advance(`${A}-7`, `${A}-8`), `${A}-8`);
  assert.equal(advance(`${A}-7`, `${A}-7`), `${A}-7`);
  assert.equal(advance(`${A}-7`, `${A}-6`), `${A}-7`);
});

test('counters compare as numbers, whatever their length', () => {
  assert.equal(advance(`${A}-9`, `${A}-10`), `${A}-10`);
  assert.equal(advance(`${A}-9007199254740993`, `${A}-9007199254740992`), `${A}-9007199254740993`);
});

test('an id of another epoch replaces the cursor, also with a smaller counter', () => {
  assert.equal(advance(`${A}-7`, `${B}-1`), `${B}-1`);
});

test('the first id, and an id of a form that only the node can judge, are kept as they came', () => {
  assert.equal(advance(null, `${A}-1`), `${A}-1`);
  assert.equal(advance('x', `${A}-1`), `${A}-1`);
  for (const seen of ['12', 'x', `${A}-`, `${A}-1-2`]) assert.equal(advance(`${A}-7`, seen), seen);
});
