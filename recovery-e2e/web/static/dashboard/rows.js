import { pagePath } from '../api.js';
import { element, setText } from '../pane/dom.js';

/**
 * @import { Entry } from '../recovery/roster.js'
 *
 * @typedef {{entry: Entry, depth: number, parent: string}} Line a workstream in a list; `parent` is a name, or empty
 */

/** @type {Record<string, string>} */
const STATES = {
  idle: 'Idle',
  thinking: 'Thinking',
  running: 'Running tools',
  attention: 'Needs attention',
  error: 'Failed',
};

/** @type {Record<string, string>} */
const KINDS = { interactive: 'Conversation', coordinator: 'Coordinator' };

/** A loaded workstream in the rail; a click opens its page. */
export class RailRow {
  #name = element('span', 'row-name');
  #state = element('span', 'ws-state');
  el = element('button', 'row', this.#name, this.#state);
  /** @type {Entry | null} */
  #entry = null;

  constructor() {
    this.el.type = 'button';
    this.el.addEventListener('click', () => this.#entry && location.assign(pagePath(this.#entry)));
  }

  /** @param {Line} line */
  show({ entry, depth }) {
    this.#entry = entry;
    this.el.title = `${entry.name}: ${stateName(entry)}`;
    this.el.style.setProperty('--depth', String(depth));
    setText(this.#name, entry.name);
    showState(this.#state, entry);
  }
}

/** A loaded workstream in the table, with all its fields. */
export class TableRow {
  #link = element('a', 'ws-link');
  #state = element('span', 'ws-state');
  #kind = element('td', '');
  #parent = element('td', '');
  #close = element('button', 'ws-close', 'Close');
  el = element(
    'tr', '', element('td', 'ws-name', this.#link), element('td', '', this.#state), this.#kind, this.#parent,
    element('td', '', this.#close),
  );
  /** @type {Entry | null} */
  #entry = null;

  /** @param {(entry: Entry) => void} onClose */
  constructor(onClose) {
    this.#close.type = 'button';
    this.#close.addEventListener('click', () => this.#entry && onClose(this.#entry));
  }

  /** @param {Line} line */
  show({ entry, depth, parent }) {
    this.#entry = entry;
    this.el.style.setProperty('--depth', String(depth));
    this.#link.href = pagePath(entry);
    setText(this.#link, entry.name);
    showState(this.#state, entry);
    setText(this.#kind, KINDS[entry.kind] ?? entry.kind);
    setText(this.#parent, parent);
    this.#close.setAttribute('aria-label', `Close ${entry.name}`);
  }
}

/** A workstream that is stored and not loaded; its page loads it. */
export class StoredRow {
  #name = element('span', 'row-name');
  #kind = element('span', 'ws-state');
  #link = element('a', 'stored-link', this.#name, this.#kind);
  el = element('li', 'stored-row', this.#link);

  /** @param {Entry} entry */
  show(entry) {
    this.#link.href = pagePath(entry);
    setText(this.#name, entry.name);
    setText(this.#kind, KINDS[entry.kind] ?? entry.kind);
  }
}

/** @param {Entry} entry */
function stateName({ state }) {
  return STATES[state] ?? state;
}

/** @param {HTMLElement} node @param {Entry} entry */
function showState(node, entry) {
  node.dataset.state = entry.state;
  setText(node, stateName(entry));
}
