import { element } from './dom.js';

/** The bar that is shown when the pane is out of date and no automatic repair is in progress. */
export class RepairBar {
  #retry = element('button', 'history-handoff-retry', 'Try again');
  #reload = element('button', 'history-handoff-reload', 'Reload the page');
  el = element('div', 'history-handoff-repair', 'These messages may be out of date.', this.#retry, this.#reload);

  /** @param {() => void} onRetry starts one attempt */
  constructor(onRetry) {
    this.el.setAttribute('role', 'alert');
    for (const button of [this.#retry, this.#reload]) button.type = 'button';
    this.#retry.addEventListener('click', onRetry);
    this.#reload.addEventListener('click', () => location.reload());
  }

  /** @param {boolean} needed @param {boolean} attempting */
  show(needed, attempting) {
    this.el.hidden = !needed;
    this.#retry.disabled = attempting;
  }
}
