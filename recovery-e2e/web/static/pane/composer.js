import { requestId } from '../api.js';
import { element } from './dom.js';

/**
 * Where a message is written. Enter sends, Shift+Enter breaks the line. A text whose send failed comes back, with
 * the name of that send: sent again unchanged it is the same send, should the node have taken it after all.
 */
export class Composer {
  #input = element('textarea', 'composer-input');
  #error = element('p', 'composer-error');
  #failed = { id: '', text: '' };
  #onSend;

  /**
   * @param {(id: string, text: string) => void} onSend
   * @param {HTMLElement} status shown in the foot
   */
  constructor(onSend, status) {
    this.#onSend = onSend;
    this.#input.rows = 1;
    this.#input.placeholder = 'Write a message';
    this.#input.setAttribute('aria-label', 'Message');
    this.#error.setAttribute('role', 'alert');
    const send = element('button', 'composer-send', 'Send');
    send.type = 'submit';
    const hint = element('span', 'composer-hint', 'Enter sends, Shift+Enter breaks the line');
    const foot = element('div', 'composer-foot', status, hint, send);
    this.el = element('form', 'composer', this.#error, this.#input, foot);
    this.el.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#input.addEventListener('keydown', (event) => {
      // A key that ends a composition belongs to the input method.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
  }

  /** Gives a text back to be sent again, above anything written since. @param {string} id @param {string} text */
  restore(id, text) {
    this.#failed = { id, text };
    this.#input.value = this.#input.value === '' ? text : `${text}\n${this.#input.value}`;
  }

  /** Shows and announces what went wrong; the next send clears it. @param {string} message */
  showError(message) {
    this.#error.textContent = message;
  }

  #submit() {
    const text = this.#input.value;
    if (text.trim() === '') return;
    const id = text === this.#failed.text ? this.#failed.id : requestId();
    this.#input.value = '';
    this.#error.textContent = '';
    this.#onSend(id, text);
  }
}
