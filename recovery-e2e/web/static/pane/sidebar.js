import { pagePath, request } from '../api.js';
import { SIDEBAR_JITTER_MS, SIDEBAR_MS, jittered } from '../recovery/timing.js';
import { element } from './dom.js';

/**
 * @typedef {{ws_id: string, name: string, state: string, kind: string}} Child
 * @typedef {{row_id: string, call_id: string, task: string, state: string, steps: number}} Task
 */

const STATES = {
  idle: 'Idle', thinking: 'Working', running: 'Working', done: 'Done', failed: 'Failed', interrupted: 'No result',
};

/** The sidebar of a coordinator: its child workstreams, and the tasks that it has given to agents. */
export class Sidebar {
  #children = new List('Children', 'No child workstreams yet.');
  #tasks = new List('Tasks', 'No tasks yet.');
  #error = element('p', 'coord-side-error');
  el = element('aside', 'coord-side', this.#error, this.#children.el, this.#tasks.el);
  /** Incremented by each read: an older read whose response is late must change nothing. */
  #reading = 0;
  #inFlight = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #path;
  #onTask;

  /** @param {string} path @param {(task: Task) => void} onTask a task was chosen */
  constructor(path, onTask) {
    this.#path = path;
    this.#onTask = onTask;
    this.el.setAttribute('aria-label', 'Children and tasks');
    this.#error.setAttribute('role', 'alert');
  }

  /** They may have changed: schedules one read for all changes until then. */
  changed() {
    this.#timer ??= setTimeout(() => void this.refresh(), jittered(SIDEBAR_MS, SIDEBAR_JITTER_MS));
  }

  /** Reads and shows both. If that fails, the lists remain as they are. */
  async refresh() {
    this.#stop();
    const reading = this.#reading;
    const controller = this.#inFlight;
    try {
      const read = (/** @type {string} */ what) => request(`${this.#path}/${what}`, { controller });
      const [{ children }, { tasks }] = await Promise.all([read('children'), read('tasks')]);
      if (reading !== this.#reading) return;
      this.#children.show(children.map(childLine));
      this.#tasks.show(tasks.map((/** @type {Task} */ task) => this.#taskLine(task)));
      this.#error.textContent = '';
    } catch (error) {
      if (reading !== this.#reading) return;
      this.#error.textContent = `Children and tasks may be out of date. ${/** @type {Error} */ (error).message}`;
    }
  }

  /** Cancels what would read or show later. */
  destroy() {
    this.#stop();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reading += 1;
    this.#inFlight.abort();
    this.#inFlight = new AbortController();
  }

  #taskLine(/** @type {Task} */ task) {
    const button = element('button', 'side-line', element('span', 'side-name', task.task), stateOf(task.state));
    if (task.steps > 0) button.append(element('span', 'side-steps', task.steps === 1 ? '1 step' : `${task.steps} steps`));
    button.type = 'button';
    button.title = task.task;
    button.addEventListener('click', () => this.#onTask(task));
    return button;
  }
}

/** Lines under a heading, or a text if there are none. */
class List {
  #items = element('ul', 'side-list');
  #count = element('span', 'side-count');
  #empty;
  el;

  /** @param {string} title @param {string} empty */
  constructor(title, empty) {
    this.#empty = element('p', 'side-empty', empty);
    this.el = element('section', 'side-section', element('h2', 'side-title', title, this.#count), this.#empty, this.#items);
  }

  /** @param {HTMLElement[]} lines */
  show(lines) {
    const focused = [...this.#items.children].findIndex((item) => item.contains(document.activeElement));
    this.#items.replaceChildren(...lines.map((line) => element('li', 'side-item', line)));
    this.#empty.hidden = lines.length > 0;
    this.#count.textContent = lines.length > 0 ? String(lines.length) : '';
    // Keep the keyboard focus at its position.
    if (focused >= 0) lines[Math.min(focused, lines.length - 1)]?.focus();
  }
}

/** @param {Child} child */
function childLine(child) {
  const link = element('a', 'side-line', element('span', 'side-name', child.name), stateOf(child.state));
  link.href = pagePath(child);
  return link;
}

/** @param {string} state */
function stateOf(state) {
  const chip = element('span', 'side-state', STATES[/** @type {keyof typeof STATES} */ (state)] ?? state);
  chip.dataset.state = state;
  return chip;
}
