/**
 * @import { View } from './row_view.js'
 * @import { Row, Send } from './transcript.js'
 */

/** A list of entries on screen, one node each. An entry that remains keeps its node, and so its focus and selection. */
export class Entries {
  /** @type {Map<number, {view: View, shown: Row | Send}>} */
  #views = new Map();
  #start;
  /** @type {ChildNode} */
  #last;
  #newView;

  /**
   * @param {ChildNode} start the node after which the entries follow
   * @param {(entry: Row | Send) => View} newView
   */
  constructor(start, newView) {
    this.#start = start;
    this.#last = start;
    this.#newView = newView;
  }

  /** Shows one entry as it is now; a new one is added at the end. @param {Row | Send} entry */
  show(entry) {
    const isNew = !this.#views.has(entry.id);
    const { el } = this.#viewOf(entry);
    if (!isNew) return;
    this.#last.after(el);
    this.#last = el;
  }

  /** Shows exactly these entries, in this order. @param {readonly (Row | Send)[]} entries */
  replace(entries) {
    const ids = new Set(entries.map(({ id }) => id));
    for (const [id, { view }] of this.#views) {
      if (ids.has(id)) continue;
      view.el.remove();
      this.#views.delete(id);
    }
    this.#last = this.#start;
    for (const entry of entries) {
      const { el } = this.#viewOf(entry);
      if (this.#last.nextSibling !== el) this.#last.after(el);
      this.#last = el;
    }
  }

  /** @param {Row | Send} entry */
  #viewOf(entry) {
    const known = this.#views.get(entry.id);
    if (known?.shown === entry) return known.view;
    const view = known?.view ?? this.#newView(entry);
    view.show(entry);
    this.#views.set(entry.id, { view, shown: entry });
    return view;
  }
}
