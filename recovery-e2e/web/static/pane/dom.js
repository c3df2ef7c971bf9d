/**
 * An element with a class and children; strings become text, never markup.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, className, ...children) {
  const node = document.createElement(tag);
  node.className = className;
  node.append(...children);
  return node;
}

/**
 * Sets the text of a node. A text that has grown is appended to: an assignment would be announced again by a live
 * region, and would clear a selection.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  const shown = node.firstChild instanceof Text ? node.firstChild : null;
  if (shown?.data === text) return;
  if (shown && text.startsWith(shown.data)) shown.appendData(text.slice(shown.data.length));
  else node.textContent = text;
}

/** @param {Element} node @param {string} name @param {string | null} value null removes the attribute */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

const SVG = 'http://www.w3.org/2000/svg';

/**
 * A line icon of 16 units, hidden from assistive technology: the button around it carries the name.
 * @param {string} className
 * @param {string} path
 */
export function icon(className, path) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', className);
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

/**
 * A button that shows an icon alone.
 * @param {string} className
 * @param {Element} image
 * @param {string} label
 */
export function iconButton(className, image, label) {
  const button = element('button', className, image);
  button.type = 'button';
  button.title = label;
  button.setAttribute('aria-label', label);
  return button;
}
