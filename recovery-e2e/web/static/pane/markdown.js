import { inline } from './inline.js';

/**
 * @import { Inline } from './inline.js'
 *
 * A parser for the part of Markdown that models write. It returns values and never HTML, so that no markup is injected.
 *
 * @typedef {{type: 'paragraph', children: Inline[]} | {type: 'heading', level: number, children: Inline[]}
 *   | {type: 'code', language: string, text: string} | {type: 'quote', blocks: Block[]} | {type: 'rule'}
 *   | {type: 'list', start: number | null, items: Block[][]}} Block
 */

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6}) +(.*)$/;
const RULE = /^ {0,3}(?:\*[ *]*\*[ *]*\*|-[ -]*-[ -]*-|_[ _]*_[ _]*_)[ ]*$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +(.*))?$/;
/** What ends a paragraph without a blank line; of numbered items only the first of a list. */
const INTERRUPTS = [FENCE, HEADING, RULE, QUOTE, /^ {0,3}(?:[-*+]|1[.)]) +/];

/** Lists and quotes nested deeper than this are shown as text: a limit on the work for a hostile text. */
const DEPTH = 8;

/**
 * The blocks of a text, each with its source lines: equal lines are an equal block.
 * @param {string} text
 * @returns {{source: string, block: Block}[]}
 */
export function parse(text) {
  return blocksOf(text.split('\n'), 0);
}

/** @param {string[]} lines @param {number} depth */
function blocksOf(lines, depth) {
  const found = [];
  for (let at = 0; at < lines.length; ) {
    if (lineAt(lines, at).trim() === '') {
      at += 1;
      continue;
    }
    const { block, end } = blockAt(lines, at, depth);
    found.push({ source: lines.slice(at, end).join('\n'), block });
    at = end;
  }
  return found;
}

/**
 * The block that begins at a line that is not blank, and the line after it.
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @returns {{block: Block, end: number}}
 */
function blockAt(lines, at, depth) {
  const line = lineAt(lines, at);
  const fence = FENCE.exec(line);
  if (fence) return fencedAt(lines, at, fence[1] ?? '', fence[2] ?? '');
  const heading = HEADING.exec(line);
  if (heading) {
    const [, marks = '', title = ''] = heading;
    const children = inline(title.replace(/ #+$/, '').trim());
    return { block: { type: 'heading', level: marks.length, children }, end: at + 1 };
  }
  if (RULE.test(line)) return { block: { type: 'rule' }, end: at + 1 };
  if (depth < DEPTH && QUOTE.test(line)) return quoteAt(lines, at, depth);
  if (depth < DEPTH && ITEM.test(line)) return listAt(lines, at, depth);
  let end = at + 1;
  while (end < lines.length && !endsParagraph(lineAt(lines, end))) end += 1;
  return { block: { type: 'paragraph', children: inline(lines.slice(at, end).join('\n').trim()) }, end };
}

/** A fence without an end mark runs to the end of the text, as while it is streamed. */
function fencedAt(/** @type {string[]} */ lines, /** @type {number} */ at, /** @type {string} */ fence, /** @type {string} */ language) {
  let end = at + 1;
  while (end < lines.length && !closes(fence, lineAt(lines, end))) end += 1;
  const text = lines.slice(at + 1, end).join('\n');
  return { block: /** @type {Block} */ ({ type: 'code', language, text }), end: Math.min(end + 1, lines.length) };
}

/** @param {string} fence @param {string} line */
function closes(fence, line) {
  const marks = line.trim();
  return marks.length >= fence.length && marks === (fence[0] ?? '').repeat(marks.length);
}

/** @param {string[]} lines @param {number} at @param {number} depth */
function quoteAt(lines, at, depth) {
  const inside = [];
  let end = at;
  for (let quote; (quote = QUOTE.exec(lineAt(lines, end))); end += 1) inside.push(quote[1] ?? '');
  return { block: /** @type {Block} */ ({ type: 'quote', blocks: nested(inside, depth) }), end };
}

/** @param {string[]} lines @param {number} at @param {number} depth */
function listAt(lines, at, depth) {
  const marker = (ITEM.exec(lineAt(lines, at)) ?? [])[2] ?? '';
  const ordered = /\d/.test(marker);
  /** @type {string[][]} */
  const items = [];
  let end = at;
  let width = 0;
  while (end < lines.length) {
    const line = lineAt(lines, end);
    const [, indent = '', mark = '', rest = ''] = ITEM.exec(line) ?? [];
    // A line indented by two or more belongs to the item above, including the items of a nested list.
    if (mark !== '' && (items.length === 0 || (indent.length < 2 && /\d/.test(mark) === ordered && !RULE.test(line)))) {
      width = indent.length + mark.length + 1;
      items.push([rest]);
      end += 1;
      continue;
    }
    let next = end;
    while (next < lines.length && lineAt(lines, next).trim() === '') next += 1;
    const follows = lineAt(lines, next);
    if (!/^ {2}/.test(follows) && (next === end || !ITEM.test(follows))) break;
    const item = items.at(-1);
    for (; end < next; end += 1) item?.push('');
    if (/^ {2}/.test(follows)) {
      item?.push(follows.slice(Math.min(width, follows.length - follows.trimStart().length)));
      end += 1;
    }
  }
  const start = ordered ? Number.parseInt(marker, 10) : null;
  return { block: /** @type {Block} */ ({ type: 'list', start, items: items.map((item) => nested(item, depth)) }), end };
}

/** @param {string[]} lines @param {number} depth */
function nested(lines, depth) {
  return blocksOf(lines, depth + 1).map(({ block }) => block);
}

/** @param {string} line */
function endsParagraph(line) {
  return line.trim() === '' || INTERRUPTS.some((begins) => begins.test(line));
}

/** @param {string[]} lines @param {number} at */
function lineAt(lines, at) {
  return lines[at] ?? '';
}
