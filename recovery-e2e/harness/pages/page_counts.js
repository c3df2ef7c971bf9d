// What the page has requested, which answers it has not read yet, which frames its streams have brought,
// and how many exceptions were not caught.
() => {
  const { fetch, EventSource } = window;
  // For each event source: frames by their type, and those of a row as it is stored once more.
  const streams = [];
  const sources = [];
  // What the newest stream would resume from, and how often that has moved.
  let cursor = null;
  let moves = 0;
  let newest = null;
  let started = 0;
  let unread = 0;
  let uncaught = 0;

  // Not those of an image or a script that does not load, which are of an element.
  window.addEventListener("error", ({ target }) => { if (target === window) uncaught += 1; });
  window.addEventListener("unhandledrejection", () => { uncaught += 1; });

  function counted(promise) {
    unread += 1;
    const settled = () => { unread -= 1; };
    promise.then(settled, settled);
    return promise;
  }

  window.fetch = (...request) => {
    started += 1;
    return counted(fetch(...request));
  };

  for (const read of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    const original = Response.prototype[read];
    if (original) Response.prototype[read] = function () { return counted(original.call(this)); };
  }

  window.EventSource = new Proxy(EventSource, {
    construct(target, request, made) {
      started += 1;
      const source = Reflect.construct(target, request, made);
      const frames = {};
      streams.push(frames);
      sources.push(source);
      newest = source;
      cursor = new URL(source.url).searchParams.get("last_event_id");
      source.addEventListener("message", ({ data, lastEventId }) => {
        // A frame without an id repeats the last one.
        if (lastEventId !== "" && lastEventId !== cursor) {
          cursor = lastEventId;
          moves += 1;
        }
        const type = /"type":"(\w+)"/.exec(data)?.[1];
        frames[type] = (frames[type] ?? 0) + 1;
        if (/"accepted":true/.test(data)) frames[`accepted ${type}`] = (frames[`accepted ${type}`] ?? 0) + 1;
      });
      return source;
    },
  });

  const framesOfEach = (type) => streams.map((frames) => frames[type] ?? 0);

  window.__counts = {
    started: () => started,
    unread: () => unread,
    uncaught: () => uncaught,
    streams: () => streams.length,
    /** The state of the event source that was made last. */
    readyState: () => newest?.readyState ?? null,
    /** Whether an event source is connecting, by itself or again. */
    connecting: () => sources.some(({ readyState }) => readyState === EventSource.CONNECTING),
    framesOfEach,
    frames: (type) => framesOfEach(type).reduce((sum, frames) => sum + frames, 0),
    cursor: () => cursor,
    moves: () => moves,
    fetch: fetch.bind(window),
  };
}
