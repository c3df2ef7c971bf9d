import { element } from './dom.js';
import { parse } from './markdown.js';

/**
 * @import { Inline } from './inline.js'
 * @import { Block } from './markdown.js'
 */

/** Shows a growing text: blocks that have not changed keep their nodes, and so a selection or focus. */
export class MarkdownView {
  el = element('div', 'msg-body');
  /** @type {string[]} */
  #sources = [];

  /** @param {string} text */
  show(text) {
    const blocks = parse(text);
    const same = blocks.findIndex(({ source }, at) => source !== this.#sources[at]);
    const keep = same < 0 ? blocks.length : same;
    while (this.el.childNodes.length > keep) this.el.lastChild?.remove();
    this.el.append(...blocks.slice(keep).map(({ block }) => blockNode(block)));
    this.#sources = blocks.map(({ source }) => source);
  }
}

/** @param {Block} block @returns {HTMLElement} */
function blockNode(block) {
  switch (block.type) {
    case 'paragraph':
      return element('p', '', ...block.children.map(inlineNode));
    case 'heading':
      return heading(block.level, block.children.map(inlineNode));
    case 'code':
      return codeBlock(block.language, block.text);
    case 'quote':
      return element('blockquote', '', ...block.blocks.map(blockNode));
    case 'rule':
      return element('hr', '');
    case 'list': {
      const items = block.items.map((blocks) => element('li', '', ...blocks.map(blockNode)));
      if (block.start === null) return element('ul', '', ...items);
      const list = element('ol', '', ...items);
      list.start = block.start;
      return list;
    }
  }
}

/** The page has an `h1`, so the first level of a text becomes the second. @param {number} level @param {Node[]} children */
function heading(level, children) {
  const tag = /** @type {'h2' | 'h3' | 'h4' | 'h5' | 'h6'} */ (`h${Math.min(level + 1, 6)}`);
  return element(tag, '', ...children);
}

/** @param {Inline} inline @returns {Node} */
function inlineNode(inline) {
  if (typeof inline === 'string') return document.createTextNode(inline);
  if (inline.type === 'break') return element('br', '');
  if (inline.type === 'code') return element('code', '', inline.text);
  const children = inline.children.map(inlineNode);
  if (inline.type !== 'link') return element(inline.type, '', ...children);
  const link = element('a', '', ...children);
  link.href = inline.href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  return link;
}

/** @param {string} language @param {string} text */
function codeBlock(language, text) {
  const code = element('code', '', text);
  const pre = element('pre', '', code);
  pre.tabIndex = 0;
  const copy = element('button', 'code-copy', 'Copy');
  copy.type = 'button';
  copy.addEventListener('click', () => void copyText(code, copy));
  copy.addEventListener('blur', () => (copy.textContent = 'Copy'));
  return element('div', 'code-block', element('div', 'code-head', element('span', 'code-language', language), copy), pre);
}

/** Copies a code block; without clipboard access, selects it so that the user can copy it. @param {Element} code @param {Element} button */
async function copyText(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(code);
    button.textContent = 'Selected, press Ctrl+C';
  }
}
