// The words in which a scenario speaks to a pane, of whichever kind: what a person sees and does, and
// the waits of the harness.

import * as timing from "/static/recovery/timing.js";

// Whatever is done to the page's timers, a wait of the harness keeps wall time.
const { setTimeout, clearTimeout } = window.__pageTime?.originals ?? window;

// The words for the pane within `root`. What its kind lets be seen besides is told by `state`.
export function wordsFor(root, state) {
  function userRows() {
    return [...root.querySelectorAll(".msg.user")];
  }

  function bubbles() {
    return [...root.querySelectorAll(".msg.assistant .msg-body")].map((body) => body.textContent);
  }

  // Rows of tools, by where they stand. A step of an agent has the ids of its agent in its own.
  function tools() {
    const rows = [...root.querySelectorAll(".conv-row[data-call-id]")];
    const nested = rows.filter((row) => row.closest(".conv-agent"));
    const top = rows.filter((row) => !row.closest(".conv-agent"));
    return {
      top: top.length,
      cards: new Set(nested.map((row) => row.closest(".conv-agent"))).size,
      nested: nested.length,
      escaped: top.filter((row) => row.dataset.callId.includes("::")).length,
    };
  }

  // What a call that runs has brought so far.
  function output(callId) {
    return root.querySelector(`.tool-output-stream[data-call-id="${callId}"]`)?.textContent ?? "";
  }

  // How often a text stands in the transcript: what is painted twice need not be a user row.
  function count(text) {
    return root.querySelector(".pane-messages").textContent.split(text).length - 1;
  }

  // What stands in the transcript: whom each user row belongs to, and what each call has brought.
  function shown() {
    const users = userRows().map((row) => ({
      rowId: row.dataset.rowId ?? null,
      sendId: row.dataset.clientSendId ?? null,
      text: row.querySelector(".msg-user-text").textContent,
    }));
    const calls = [...root.querySelectorAll(".conv-row[data-call-id]")].map((row) => ({
      id: row.dataset.callId,
      output: row.querySelector(":scope > .tool-output")?.textContent ?? "",
    }));
    return { users, calls };
  }

  // What a scenario sees of the pane, taken in one task.
  function look() {
    const empty = root.querySelector(".empty-state")?.checkVisibility() ?? false;
    return { rows: userRows().length, empty, ...state() };
  }

  // Resolves when `predicate` holds: tried now, after every change of the document, and in every
  // frame, since a pane's state can change without its document.
  function until(predicate, patienceMs) {
    return new Promise((resolve) => {
      let frame = 0;
      const observer = new MutationObserver(attempt);
      const deadline = setTimeout(() => end(false), patienceMs);

      function end(held) {
        observer.disconnect();
        clearTimeout(deadline);
        cancelAnimationFrame(frame);
        resolve({ held, saw: JSON.stringify(look()) });
      }
      function attempt() {
        if (predicate()) end(true);
      }
      function everyFrame() {
        frame = requestAnimationFrame(everyFrame);
        attempt();
      }
      observer.observe(document, {
        attributes: true,
        characterData: true,
        childList: true,
        subtree: true,
      });
      everyFrame();
    });
  }

  // Clicks the rewind button of a user row as a person's click would, and tells what stood in the
  // very task of the click.
  function clickRewind(row) {
    const button = userRows()[row]?.querySelector(".msg-actions > button:has(.icon-rewind)");
    if (!button) throw new Error(`user row ${row} has no rewind button`);
    const seen = look();
    button.click();
    return seen;
  }

  // Whether a person is offered to try again.
  function asks() {
    return root.querySelector(".history-handoff-repair")?.checkVisibility() ?? false;
  }

  function clickRetry() {
    root.querySelector(".history-handoff-retry").click();
  }

  // Writes a message and sends it, with the events that a person's keys and click bring.
  function write(message) {
    const input = root.querySelector(".composer-input");
    input.value = message;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.form.requestSubmit();
  }

  // What a tab switch does to a page; neither it nor a minimised window does it headless. Tells what
  // stands when every listener has heard of it.
  function setHidden(hidden) {
    const get = (value) => ({ configurable: true, get: () => value });
    Object.defineProperty(document, "hidden", get(hidden));
    Object.defineProperty(document, "visibilityState", get(hidden ? "hidden" : "visible"));
    document.dispatchEvent(new Event("visibilitychange"));
    return look();
  }

  return {
    timing, look, bubbles, tools, output, count, shown, until, clickRewind, asks, clickRetry, write, setHidden, fence, frame,
    passWallTime,
  };
}

// Two marker requests, one after the other, the first a macrotask from now. Whatever the page has
// asked for before is then counted at the front; why two, is told there.
async function fence(id) {
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (let trip = 1; trip <= 2; trip += 1) await __counts.fetch(`/__fence/${id}`, { cache: "no-store" });
  return true;
}

function frame() {
  return new Promise((resolve) => requestAnimationFrame(() => resolve(true)));
}

// Lets time pass that no clock of the harness moves.
function passWallTime(ms) {
  return new Promise((resolve) => setTimeout(() => resolve(true), ms));
}
