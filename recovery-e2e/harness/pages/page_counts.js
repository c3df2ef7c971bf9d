// What the page has asked for, what of it is not read yet, and which frames its streams brought.
() => {
  const { fetch, EventSource } = window;
  const frames = {};
  let started = 0;
  let unread = 0;

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
      source.addEventListener("message", ({ data }) => {
        const type = /"type":"(\w+)"/.exec(data)?.[1];
        frames[type] = (frames[type] ?? 0) + 1;
      });
      return source;
    },
  });

  window.__counts = {
    started: () => started,
    unread: () => unread,
    frames: (type) => frames[type] ?? 0,
    fetch: fetch.bind(window),
  };
}
