import { Quiesce } from '../recovery/quiesce.js';
import { Conversation } from './conversation.js';
import { element } from './dom.js';
import { viewOf } from './row_view.js';
import { StreamChip } from './stream_chip.js';

/**
 * The pane of one workstream: its rows, its composer and the state of its stream, kept current by the recovery core.
 * Nothing happens before `connect()`, which loads the history and then opens the stream. `state()` is read-only.
 *
 * @param {{wsId: string, root: Element}} options the pane is appended to `root`
 */
export function createInteractivePane({ wsId, root }) {
  const stream = new StreamChip();
  const conversation = new Conversation(wsId, {
    viewOf,
    policy: new Quiesce(),
    foot: stream.el,
    changed(state, busy) {
      stream.show(state, busy);
      el.dataset.busy = String(busy);
    },
  });
  const { recovery, messages, repair, composer } = conversation;
  const el = element('section', 'pane', messages.el, repair.el, composer.el);
  root.append(el);
  conversation.refresh();

  return {
    el,
    connect: () => recovery.connect(),
    disconnect: () => recovery.disconnect(),
    redial: () => recovery.redial(),
    /** Stops the pane and removes it from the page. */
    destroy() {
      conversation.destroy();
      el.remove();
    },
    state: () => recovery.state(),
  };
}
