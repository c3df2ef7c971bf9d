import { request, requestId, workstreamPath } from '../api.js';
import { Recovery } from '../recovery/core.js';
import { rowsGated } from '../recovery/gate.js';
import { Composer } from './composer.js';
import { Messages } from './render.js';
import { RepairBar } from './repair_bar.js';

/**
 * @import { Policy } from '../recovery/history.js'
 * @import { StreamState } from '../recovery/status.js'
 * @import { Frame } from '../recovery/wire.js'
 * @import { View } from './row_view.js'
 * @import { Row, Send } from './transcript.js'
 *
 * What differs between panes: how rows look, how frames are handled during a refetch, the content of the composer's
 * foot, and how the state of the stream is shown. `painted` is called with each painted frame, and with null where rows
 * may have changed otherwise: at a snapshot, and at the end of a turn.
 * @typedef {{
 *   viewOf(entry: Row | Send): View, policy: Policy, foot: HTMLElement,
 *   changed(stream: StreamState, busy: boolean): void, painted?(frame: Frame | null): void,
 * }} Kind
 */

/**
 * The parts of every pane, kept current by the recovery core: its rows, its composer, and the bar that is shown when it
 * is out of date. The pane does the layout.
 */
export class Conversation {
  #path;
  #kind;
  #recovery;
  messages;
  composer;
  repair = new RepairBar(() => void this.#recovery.connect());

  /** @param {string} wsId @param {Kind} kind */
  constructor(wsId, kind) {
    this.#path = workstreamPath(wsId);
    this.#kind = kind;
    this.messages = new Messages((...action) => this.#act(...action), kind.viewOf);
    this.composer = new Composer({ send: (id, text) => this.#send(id, text), stop: () => this.#stop() }, kind.foot);
    this.#recovery = new Recovery(wsId, {
      render: (snapshot) => {
        this.messages.render(snapshot.messages, this.#recovery.busy);
        kind.painted?.(null);
      },
      paint: (frame) => {
        this.messages.paint(frame);
        kind.painted?.(frame);
      },
      passOver: (frame) => this.messages.passOver(frame),
      rested: () => {
        this.messages.rest();
        kind.painted?.(null);
      },
      liveRefs: () => this.messages.liveRefs,
      endRefs: () => this.messages.endRefs(),
      sending: () => this.messages.sending,
      changed: () => this.refresh(),
    }, kind.policy);
  }

  /** For those who open, close or inspect the pane. */
  get recovery() {
    return this.#recovery;
  }

  /** Updates everything that is derived from the state of the recovery. */
  refresh() {
    const { streamState, busy, needsPerson, reloading } = this.#recovery;
    this.repair.show(needsPerson, reloading);
    this.composer.setBusy(busy);
    this.messages.setGated(this.#gated);
    this.#kind.changed(streamState, busy);
  }

  /** Stops everything. Requests still in flight change nothing. */
  destroy() {
    this.#recovery.destroy();
    this.messages.destroy();
  }

  get #gated() {
    return rowsGated(this.#recovery.state());
  }

  /** @param {'rewind' | 'edit'} action @param {number} turns @param {string} text of the row */
  #act(action, turns, text) {
    if (this.#gated) return;
    void this.#post('rewind', { turns, request_id: requestId() }).then(({ error, answer }) => {
      if (answer?.status === 'busy') this.composer.showError('A turn is running. Wait for it to end, or stop it, then rewind.');
      else if (error) this.composer.showError(`The rewind failed. ${error}`);
      else if (action === 'edit') this.composer.edit(text);
    });
  }

  /** @param {string} id @param {string} text */
  #send(id, text) {
    this.messages.showSend(id, text);
    this.refresh();
    void this.#post('send', { message: text, client_send_id: id }).then(({ error, answer }) => {
      if (!error) this.messages.sendTaken(id, answer.status === 'queued' ? 'queued' : 'accepted');
      else if (this.messages.dropSend(id)) {
        this.composer.restore(id, text);
        this.composer.showError(`The message was not sent. ${error}`);
      }
      this.refresh();
    });
  }

  async #stop() {
    const { error } = await this.#post('cancel', {});
    if (error) this.composer.showError(`The turn could not be stopped. ${error}`);
  }

  /**
   * @param {string} action
   * @param {object} body
   * @returns {Promise<{answer?: any, error?: string}>}
   */
  #post(action, body) {
    return request(`${this.#path}/${action}`, { method: 'POST', body }).then(
      (answer) => ({ answer }),
      (error) => ({ error: error.message }),
    );
  }
}
