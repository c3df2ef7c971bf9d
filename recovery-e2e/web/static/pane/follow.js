/**
 * Keeps a scrolled view at its end while its content grows, once for all changes until the next paint: reading the
 * scroll position after each change would make the browser compute the layout of all rows each time. A view that is not
 * at its end, or is scrolled up before the paint, is not scrolled.
 */
export class Follow {
  #el;
  #within;
  /** @type {number | null} */
  #frame = null;

  /** @param {Element} el the scrolled element @param {number} within distance in pixels that counts as the end */
  constructor(el, within) {
    this.#el = el;
    this.#within = within;
  }

  /** The content is about to change. */
  beforeChange() {
    if (this.#frame !== null) return;
    const { scrollHeight, scrollTop, clientHeight } = this.#el;
    const atEnd = scrollHeight - scrollTop - clientHeight < this.#within;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = null;
      if (atEnd && this.#el.scrollTop >= scrollTop) this.toEnd();
    });
  }

  toEnd() {
    this.#el.scrollTop = this.#el.scrollHeight;
  }

  /** Cancels a scroll that is still to come. */
  cancel() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
  }
}
