import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inline } from '../static/pane/inline.js';
import { parse } from '../static/pane/markdown.js';

const blocks = (text) => parse(text).map(({ block }) => block);
const p = (...children) => ({ type: 'paragraph', children });
const code = (text, language = '') => ({ type: 'code', language, text });
const list = (start, ...items) => ({ type: 'list', start, items });
const strong = (...children) => ({ type: 'strong', children });
const em = (...children) => ({ type: 'em', children });
const span = (text) => ({ type: 'code', text });
const link = (href, ...children) => ({ type: 'link', href, children });
const br = { type: 'break' };

test('blocks are parsed', () => {
  const table = [
    ['', []],
    ['one\n\n\ntwo', [p('one'), p('two')]],
    ['# One #\ntext\n### Three', [{ type: 'heading', level: 1, children: ['One'] }, p('text'), { type: 'heading', level: 3, children: ['Three'] }]],
    ['#no heading', [p('#no heading')]],
    ['a\n---\nb', [p('a'), { type: 'rule' }, p('b')]],
    ['> a\n> b\n\nc', [{ type: 'quote', blocks: [p('a', br, 'b')] }, p('c')]],
    ['```js\nlet a;\n\n# b\n```\nafter', [code('let a;\n\n# b', 'js'), p('after')]],
    ['~~~\n```\n~~~', [code('```')]],
    ['````\n```\n````', [code('```')]],
    ['```\nnot closed', [code('not closed')]],
    ['text\n```\ncode\n```', [p('text'), code('code')]],
    ['- a\n- b', [list(null, [p('a')], [p('b')])]],
    ['3. a\n4. b', [list(3, [p('a')], [p('b')])]],
    ['- a\n\n- b\n\nc', [list(null, [p('a')], [p('b')]), p('c')]],
    ['- a\n  - b\n    - c\n- d', [list(null, [p('a'), list(null, [p('b'), list(null, [p('c')])])], [p('d')])]],
    ['1. a\n   ```\n   x\n\n   y\n   ```\n2. b', [list(1, [p('a'), code('x\n\ny')], [p('b')])]],
    ['1. a\n   - b\n2. c', [list(1, [p('a'), list(null, [p('b')])], [p('c')])]],
    ['- a\n1. b', [list(null, [p('a')]), list(1, [p('b')])]],
    ['text\n- a', [p('text'), list(null, [p('a')])]],
    ['It was\n1984. Then', [p('It was', br, '1984. Then')]],
    ['* * *', [{ type: 'rule' }]],
    ['- a\n-', [list(null, [p('a')], [])]],
  ];
  for (const [text, expected] of table) assert.deepEqual(blocks(text), expected, JSON.stringify(text));
});

test('text within a block is parsed', () => {
  const table = [
    ['plain', ['plain']],
    ['a `b` c', ['a ', span('b'), ' c']],
    ['`` a`b ``', [span('a`b')]],
    ['a `b', ['a `b']],
    ['`**a**`', [span('**a**')]],
    ['**a** and *b*', [strong('a'), ' and ', em('b')]],
    ['__a__ _b_', [strong('a'), ' ', em('b')]],
    ['***a***', [strong(em('a'))]],
    ['*a **b** c*', [em('a ', strong('b'), ' c')]],
    ['**a *b* c**', [strong('a ', em('b'), ' c')]],
    ['snake_case_name and 2 * 3 * 4', ['snake_case_name and 2 * 3 * 4']],
    ['**a', ['**a']],
    ['**a *b', ['**a *b']],
    ['\\*a\\*', ['*', 'a', '*']],
    ['a\nb', ['a', br, 'b']],
    ['[a **b**](https://c.d/e?f=g#h)', [link('https://c.d/e?f=g#h', 'a ', strong('b'))]],
    ['see https://a.b/c_d_e.', ['see ', link('https://a.b/c_d_e', 'https://a.b/c_d_e'), '.']],
    ['(https://a.b)', ['(', link('https://a.b', 'https://a.b'), ')']],
    ['[mail](mailto:a@b.c)', [link('mailto:a@b.c', 'mail')]],
  ];
  for (const [text, expected] of table) assert.deepEqual(inline(text), expected, JSON.stringify(text));
});

test('a link has only an allowed target', () => {
  const targets = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///x', '//host', '/path', '\tjavascript:x'];
  for (const target of targets) {
    for (const node of inline(`[a](${target}) `)) assert.equal(typeof node, 'string', target);
  }
});

test('HTML in a text stays text', () => {
  const text = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  assert.deepEqual(blocks(text), [p(text)]);
});

/** All text that a value shows, in order. */
function shown(node) {
  if (typeof node === 'string') return node;
  if (Array.isArray(node)) return node.map(shown).join('');
  return node.text ?? shown(node.children ?? node.blocks ?? node.items ?? []);
}

test('no readable text is lost, whatever the markup', () => {
  const parts = ['a', 'b c', '*', '**', '_', '`', '```', '\n', '\n\n', '- ', '1. ', '> ', '# ', '[x](y)', '  ', '    ', '~~~', '---', '['];
  let seed = 7;
  const below = (limit) => (seed = (seed * 48_271) % 0x7fffffff) % limit;
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: 1 + below(20) }, () => parts[below(parts.length)]).join('');
    const letters = (value) => value.replace(/[^abcxy]/g, '');
    // What follows the marks of a fence is its language.
    const fences = parse(text).map(({ source }) => source).join('\n');
    assert.equal(letters(fences), letters(text));
    if (!/```|~~~/.test(text)) assert.equal(letters(shown(blocks(text))), letters(text), JSON.stringify(text));
  }
});

test('a growing text keeps the blocks that were complete before', () => {
  const text = '# A\n\none *two*\n\n```js\nlet x = 1;\n```\n\n- a\n- b\n';
  for (let end = 1; end < text.length; end += 1) {
    const before = parse(text.slice(0, end)).map(({ source }) => source);
    const now = parse(text.slice(0, end + 1)).map(({ source }) => source);
    assert.deepEqual(now.slice(0, before.length - 1), before.slice(0, -1), text.slice(0, end));
  }
});

test('parsing a hostile text is linear in its length, or this test would not end', { timeout: 30_000 }, () => {
  const hostile = ['*', '**a ', '_a ', '`', '[', '[a](', '> ', '- ', '  - ', '\n', '#', '*a _b ', '1. ', 'https://', '```', '- a\n\n'];
  for (const part of hostile) parse(part.repeat(300_000 / part.length));
});
