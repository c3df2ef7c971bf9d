import { requestId } from '../api.js';
import { element } from './dom.js';

/**
 * The message input. Enter sends, Shift+Enter inserts a line break. A text whose send failed is restored with its
 * send id: sent again unchanged it is the same send, in case the node accepted the first one.
 */
export class Composer {
  #input = element('textarea', 'composer-input');
  #error = element('p', 'composer-error');
  #stop = element('button', 'composer-stop', 'Stop');
  #failed = { id: '', text: '' };
  #on;

  /**
   * @param {{send(id: string, text: string): void, stop(): Promise<void>}} on
   * @param {HTMLElement} status shown in the foot
   */
  constructor(on, status) {
    this.#on = on;
    this.#input.rows = 1;
    this.#input.placeholder = 'Write a message';
    this.#input.setAttribute('aria-label', 'Message');
    this.#error.setAttribute('role', 'alert');
    this.#stop.type = 'button';
    this.#stop.hidden = true;
    const send = element('button', 'composer-send', 'Send');
    send.type = 'submit';
    const hint = element('span', 'composer-hint', 'Enter to send, Shift+Enter for a new line');
    const foot = element('div', 'composer-foot', status, hint, element('div', 'composer-buttons', this.#stop, send));
    this.el = element('form', 'composer', this.#error, this.#input, foot);
    this.el.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#stop.addEventListener('click', () => void this.#stopTurn());
    this.#input.addEventListener('keydown', (event) => {
      // This Enter ends a composition of the input method.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
  }

  /** Shows the stop button while a turn runs. @param {boolean} busy */
  setBusy(busy) {
    if (this.#stop.hidden === !busy) return;
    const focused = this.#stop === document.activeElement;
    this.#stop.hidden = !busy;
    if (focused) this.#input.focus();
  }

  /** Restores a failed send, above any text written since. @param {string} id @param {string} text */
  restore(id, text) {
    this.#failed = { id, text };
    this.#write(text);
  }

  /** Inserts a text to edit, above any text written before. @param {string} text */
  edit(text) {
    this.#write(text);
    this.#input.focus();
  }

  /** Shows and announces an error; the next send clears it. @param {string} message */
  showError(message) {
    this.#error.textContent = message;
  }

  #write(/** @type {string} */ text) {
    this.#input.value = this.#input.value === '' ? text : `${text}\n${this.#input.value}`;
  }

  #submit() {
    const text = this.#input.value;
    if (text.trim() === '') return;
    const id = text === this.#failed.text ? this.#failed.id : requestId();
    this.#input.value = '';
    this.#error.textContent = '';
    this.#on.send(id, text);
  }

  async #stopTurn() {
    this.#stop.disabled = true;
    await this.#on.stop();
    this.#stop.disabled = false;
  }
}
