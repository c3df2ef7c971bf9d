/**
 * @template T
 * @typedef {{el: HTMLElement, show(item: T): void}} View
 */

/**
 * The children of an element, one for each key. A child whose key remains keeps its node, and so its focus and selection.
 * @template T
 */
export class Keyed {
  /** @type {Map<string, View<T>>} */
  #views = new Map();
  #parent;
  #make;

  /** @param {HTMLElement} parent @param {() => View<T>} make */
  constructor(parent, make) {
    this.#parent = parent;
    this.#make = make;
    parent.tabIndex = -1;
  }

  /** @param {readonly {key: string, item: T}[]} wanted in this order */
  show(wanted) {
    const focused = this.#parent.contains(document.activeElement);
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, { el }] of this.#views) {
      if (keys.has(key)) continue;
      el.remove();
      this.#views.delete(key);
    }
    let before = this.#parent.firstElementChild;
    for (const { key, item } of wanted) {
      const view = this.#views.get(key) ?? this.#make();
      this.#views.set(key, view);
      view.show(item);
      if (view.el === before) before = before.nextElementSibling;
      else this.#parent.insertBefore(view.el, before);
    }
    // The focused child was removed: keep the keyboard focus in the list.
    if (focused && !this.#parent.contains(document.activeElement)) this.#parent.focus({ preventScroll: true });
  }
}
