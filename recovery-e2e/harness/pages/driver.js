// The page driver: what a scenario does in a page, and what it can ask of it.
//
// Conditions and quantities come as JSON, in the form of `Condition` and `Quantity` in the harness
// (`node/client/condition.rs`). An unknown one is an error of the harness, at once.

import * as timing from "/static/recovery/timing.js";

// Whatever is done to the page's timers, a wait of the harness keeps wall time.
const { setTimeout, clearTimeout } = window.__pageTime?.originals ?? window;

// A mistake of the harness, as opposed to an exception that the client under test causes.
class HarnessError extends Error {
  name = "HarnessError";
}

// The driver of what is shown within `root`. `state` returns what this kind of page knows besides: its
// booleans can be asked for by their names.
export function driverFor(root, state) {
  const quantities = {
    rows: () => userRows().length,
    running: () => root.querySelectorAll(".conv-batch--running").length,
    liveRefs: () => state().liveRefs,
    toolsOnTop: () => toolRows().filter((row) => !row.closest(".conv-agent")).length,
    agentCards: () => new Set(nestedRows().map((row) => row.closest(".conv-agent"))).size,
    toolsInCards: () => nestedRows().length,
    // A step of an agent has the ids of its agent in its own.
    escapedSteps: () =>
      toolRows().filter((row) => !row.closest(".conv-agent") && row.dataset.callId.includes("::")).length,
    text: (text) => transcript().textContent.split(text).length - 1,
    frames: (type) => __counts.frames(type),
    framesOfNewest: (type) => __counts.framesOfEach(type).at(-1) ?? 0,
    cursorMoves: () => __counts.moves(),
    eventSources: () => __counts.streams(),
    rosterModel: () => state().model.length,
    rosterRail: () => state().rail.length,
  };

  const flags = {
    empty: () => root.querySelector(".empty-state")?.checkVisibility() ?? false,
    // Whether a person is offered to try again.
    asks: () => root.querySelector(".history-handoff-repair")?.checkVisibility() ?? false,
    // Whether the browser has given the newest stream up.
    givenUp: () => __counts.readyState() === EventSource.CLOSED,
  };

  const conditions = {
    equals: ([quantity, n]) => measure(quantity) === n,
    atLeast: ([quantity, n]) => measure(quantity) >= n,
    is: (flag) => isSet(flag),
    not: (flag) => !isSet(flag),
    all: (all) => all.every(holds),
    inBoth: (condition) => holds(condition) && __e2e.peer.holds(condition),
    output: ({ call, text }) =>
      (root.querySelector(`.tool-output-stream[data-call-id="${call}"]`)?.textContent ?? "").includes(text),
    cursorAt: ({ epoch, number }) => {
      const [own, at] = (state().cursor ?? "").split("-");
      return own === epoch && Number(at) >= number;
    },
    eachStream: ({ streams, frames, count }) => {
      const each = __counts.framesOfEach(frames);
      return each.length === streams && each.every((n) => n >= count);
    },
  };

  function userRows() {
    return [...root.querySelectorAll(".msg.user")];
  }

  function bubbles() {
    return [...root.querySelectorAll(".msg.assistant .msg-body")].map((body) => body.textContent);
  }

  function toolRows() {
    return [...root.querySelectorAll(".conv-row[data-call-id]")];
  }

  function nestedRows() {
    return toolRows().filter((row) => row.closest(".conv-agent"));
  }

  function transcript() {
    return root.querySelector(".pane-messages");
  }

  function isSet(flag) {
    const value = flags[flag]?.() ?? state()[flag];
    if (typeof value !== "boolean") throw new HarnessError(`this page has no flag ${flag}`);
    return value;
  }

  function measure(quantity) {
    const [name, argument] = parts(quantity);
    if (!Object.hasOwn(quantities, name)) throw new HarnessError(`there is no quantity ${name}`);
    const value = quantities[name](argument);
    if (typeof value !== "number") throw new HarnessError(`this page has no quantity ${name}`);
    return value;
  }

  function holds(condition) {
    const [name, argument] = parts(condition);
    if (!Object.hasOwn(conditions, name)) throw new HarnessError(`there is no condition ${name}`);
    return conditions[name](argument);
  }

  // What a person sees in the transcript: who sent each user row, and what each call has brought.
  function shown() {
    const users = userRows().map((row) => ({
      rowId: row.dataset.rowId ?? null,
      sendId: row.dataset.clientSendId ?? null,
      text: row.querySelector(".msg-user-text").textContent,
    }));
    const calls = toolRows().map((row) => ({
      output: row.querySelector(":scope > .tool-output")?.textContent ?? "",
    }));
    return { users, calls };
  }

  // The state of the page, taken in one task.
  function look() {
    return { rows: userRows().length, empty: flags.empty(), ...state() };
  }

  // Resolves when `condition` holds: tried now, after every change of the document, and in every frame,
  // since a pane's state can change without its document. What `then` does, it does in that very task.
  function until(condition, patienceMs, then = () => null) {
    return new Promise((resolve, reject) => {
      let frame = 0;
      let done = false;
      const observer = new MutationObserver(attempt);
      const deadline = setTimeout(() => end(false, null), patienceMs);

      function stop() {
        done = true;
        observer.disconnect();
        clearTimeout(deadline);
        cancelAnimationFrame(frame);
      }
      function end(held, result) {
        stop();
        try {
          resolve({ held, result, saw: JSON.stringify(look()) });
        } catch (error) {
          reject(error);
        }
      }
      function attempt() {
        if (done) return;
        try {
          if (holds(condition)) end(true, then());
        } catch (error) {
          stop();
          reject(error);
        }
      }
      function everyFrame() {
        attempt();
        if (!done) frame = requestAnimationFrame(everyFrame);
      }
      observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
      everyFrame();
    });
  }

  // Clicks the rewind button of a user row as a person's click would, and returns the state in the very
  // task of the click.
  function clickRewind(row) {
    const button = userRows()[row]?.querySelector(".msg-actions > button:has(.icon-rewind)");
    if (!button) throw new Error(`user row ${row} of ${userRows().length} has no rewind button`);
    const seen = look();
    button.click();
    return seen;
  }

  function clickRetry() {
    const button = root.querySelector(".history-handoff-retry");
    if (!button?.checkVisibility()) throw new Error("no retry is offered");
    button.click();
  }

  // Writes a message and sends it, with the events that a person's keys and click bring.
  function write(message) {
    const input = root.querySelector(".composer-input");
    input.value = message;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.form.requestSubmit();
  }

  // What a tab switch does to a page; neither it nor a minimised window does it headless. Returns the
  // state when every listener has run.
  function setHidden(hidden) {
    const get = (value) => ({ configurable: true, get: () => value });
    Object.defineProperty(document, "hidden", get(hidden));
    Object.defineProperty(document, "visibilityState", get(hidden ? "hidden" : "visible"));
    document.dispatchEvent(new Event("visibilitychange"));
    return look();
  }

  return {
    timing: { ...timing }, bubbles, shown, look, measure, holds, until, clickRewind, clickRetry, write, setHidden,
    clickRewindWhen: (condition, patienceMs, row) => until(condition, patienceMs, () => clickRewind(row)),
    fence, frame, passWallTime, pending,
  };
}

// A value of a Rust enum as serde writes it: its variant's name and, if it has one, its argument.
function parts(value) {
  return typeof value === "string" ? [value] : Object.entries(value)[0];
}

// What may still change this page by itself: a timer, or a stream that is connecting.
function pending() {
  return !(window.__pageTime?.idle() ?? false) || __counts.connecting();
}

// Two marker requests, one after the other, the first a macrotask from now. Whatever the page has
// asked for before is then counted at the proxy, which says why it takes two.
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
