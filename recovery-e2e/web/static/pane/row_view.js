import { element, icon, iconButton, setAttribute, setText } from './dom.js';
import { MarkdownView } from './markdown_view.js';
import { BatchView } from './tool_view.js';

/** @import { Notice, Row, Send, TextRow, UserRow } from './transcript.js' */

const REWIND_ICON = 'M3 3v4h4M3.4 7A5.2 5.2 0 1 1 3 10.2';
const EDIT_ICON = 'M2.5 13.5l.7-3L10.7 3l2.3 2.3-7.5 7.5zM9 4.7l2.3 2.3';

/**
 * The view of one entry of a pane.
 * @typedef {{el: HTMLElement, show(entry: any): void}} View
 */

/** @param {Row | Send} entry @returns {View} */
export function viewOf({ kind }) {
  switch (kind) {
    case 'user':
      return new UserView();
    case 'send':
      return new SendView();
    case 'text':
      return new TextView();
    case 'batch':
      return new BatchView();
    case 'notice':
      return new NoticeView();
  }
}

class UserView {
  #text = element('div', 'msg-user-text');
  el = element('div', 'msg user', this.#text, actions());

  /** @param {UserRow} row */
  show({ id, rowId, text }) {
    this.el.dataset.entry = String(id);
    setAttribute(this.el, 'data-row-id', rowId);
    setText(this.#text, text);
  }
}

/** A send has no row yet, so it has no rewind buttons. */
class SendView {
  #text = element('div', 'msg-user-text');
  #phase = element('span', 'msg-queued', 'Queued');
  el = element('div', 'msg user', this.#text, this.#phase);

  /** @param {Send} send */
  show({ sendId, text, phase }) {
    this.el.dataset.clientSendId = sendId;
    setAttribute(this.el, 'data-accepted', phase === 'sending' ? null : 'true');
    this.#phase.hidden = phase !== 'queued';
    setText(this.#text, text);
  }
}

class TextView {
  #body = new MarkdownView();
  el = element('div', 'msg assistant', this.#body.el);

  /** @param {TextRow} row */
  show({ rowId, text, streaming }) {
    setAttribute(this.el, 'data-row-id', rowId);
    setAttribute(this.el, 'data-streaming', streaming ? 'true' : null);
    // Announced once, when it is complete.
    setAttribute(this.el, 'aria-busy', streaming ? 'true' : null);
    this.#body.show(text);
  }
}

class NoticeView {
  el = element('div', 'msg notice');

  /** @param {Notice} notice */
  show({ text, failed }) {
    this.el.classList.toggle('notice--failed', failed);
    setText(this.el, text);
  }
}

function actions() {
  const edit = iconButton('msg-action-btn', icon('icon-edit', EDIT_ICON), 'Rewind and edit this message');
  const rewind = iconButton('msg-action-btn', icon('icon-rewind', REWIND_ICON), 'Rewind to before this message');
  return element('div', 'msg-actions', edit, rewind);
}
