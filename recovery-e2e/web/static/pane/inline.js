/**
 * Text within a block.
 * @typedef {string | {type: 'code', text: string} | {type: 'break'} | {type: 'strong' | 'em', children: Inline[]}
 *   | {type: 'link', href: string, children: Inline[]}} Inline
 */

/** Everything that may be markup. The bounds keep parsing linear in the length of the text. */
const TOKEN =
  /(?<ticks>`+)|\\(?<escaped>[!-/:-@[-`{-~])|(?<mark>\*\*|__|\*|_)|\[(?<label>[^[\]\n]{1,500})\]\((?<target>[^\s()<>]{1,2000})\)|(?<url>https?:\/\/[^\s<>"]{1,2000})|(?<line> *\n)/g;

/** Allowed link targets: never a script. */
const SAFE = /^(?:https?:\/\/|mailto:)/i;

/** Emphasis nested deeper than this is shown as text. */
const DEPTH = 8;

/**
 * Parses code spans, emphasis, links, escapes and line breaks; anything else, or without an end mark, is text.
 * @param {string} text
 * @param {number} [depth]
 * @returns {Inline[]}
 */
export function inline(text, depth = 0) {
  /** @type {Inline[]} */
  const found = [];
  /** Marks without an end mark in the rest of the text. @type {Set<string>} */
  const endless = new Set();
  const tokens = new RegExp(TOKEN);
  let done = 0;
  for (let token; (token = tokens.exec(text)); ) {
    const read = nodeAt(text, token, endless, depth);
    if (read === null) continue;
    if (token.index > done) found.push(text.slice(done, token.index));
    found.push(read.node);
    done = read.end;
    tokens.lastIndex = done;
  }
  if (done < text.length) found.push(text.slice(done));
  return found;
}

/**
 * @param {string} text
 * @param {RegExpExecArray} token
 * @param {Set<string>} endless
 * @param {number} depth
 * @returns {{node: Inline, end: number} | null}
 */
function nodeAt(text, token, endless, depth) {
  const { ticks, escaped, mark, label, target, url, line } = token.groups ?? {};
  const after = token.index + token[0].length;
  if (line !== undefined) return { node: { type: 'break' }, end: after };
  if (escaped !== undefined) return { node: escaped, end: after };
  if (url !== undefined) {
    // A full stop at the end of the sentence is not part of the address.
    const href = url.replace(/[.,;:!?'*_)\]]{1,20}$/, '');
    return { node: { type: 'link', href, children: [href] }, end: token.index + href.length };
  }
  if (label !== undefined && target !== undefined) {
    if (!SAFE.test(target)) return null;
    return { node: { type: 'link', href: target, children: inline(label, depth + 1) }, end: after };
  }
  const opening = ticks ?? mark ?? '';
  if (endless.has(opening) || (mark && (depth >= DEPTH || !opens(text, token.index, mark)))) return null;
  const close = ticks ? tickEnd(text, after, ticks) : markEnd(text, after, opening);
  if (close < 0) {
    endless.add(opening);
    return null;
  }
  const inside = text.slice(after, close);
  const end = close + opening.length;
  // The space between a backtick and the marks is not part of the code.
  if (ticks) return { node: { type: 'code', text: inside.replace(/^ (.*) $/s, '$1') }, end };
  return { node: { type: opening.length === 2 ? 'strong' : 'em', children: inline(inside, depth + 1) }, end };
}

/** @param {string} text @param {number} at @param {string} mark */
function opens(text, at, mark) {
  const inWord = mark.startsWith('_') && /\w/.test(text[at - 1] ?? '');
  return !inWord && /\S/.test(text[at + mark.length] ?? '');
}

/** @param {string} text @param {number} from @param {string} ticks */
function tickEnd(text, from, ticks) {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let run; (run = runs.exec(text)); ) if (run[0] === ticks) return run.index;
  return -1;
}

/** @param {string} text @param {number} from @param {string} mark */
function markEnd(text, from, mark) {
  const sign = mark[0];
  for (let at = text.indexOf(mark, from + 1); at >= 0; at = text.indexOf(mark, at + 1)) {
    // Of three signs the last two close a pair; a single sign is not half of a pair.
    if (mark.length === 2 && text[at + 2] === sign) continue;
    if (mark.length === 1 && (text[at + 1] === sign || text[at - 1] === sign)) continue;
    const inWord = sign === '_' && /\w/.test(text[at + mark.length] ?? '');
    if (/\S/.test(text[at - 1] ?? '') && !inWord) return at;
  }
  return -1;
}
