import { Quiesce } from '../recovery/quiesce.js';
import { Conversation } from './conversation.js';
import { element } from './dom.js';
import { viewOf } from './row_view.js';
import { StreamChip } from './stream_chip.js';

/**
 * The pane of one workstream: its rows, its composer and the state of its stream, kept true by the recovery core.
 * Nothing happens before `connect()`, which loads the history and then opens the stream. `state()` is for reading.
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
    /** Ends the pane and takes it from the page. */
    destroy() {
      conversation.destroy();
      el.remove();
    },
    state: () => recovery.state(),
  };
}
