// Following a stream of server-sent events with fetch, since an EventSource cannot send a key.

const SHORTEST = 500;
const LONGEST = 15_000;

/** Return the events of a body: {id, event, data}. The client of sdk/js reads them. */
const inBody = async (body) => (await import("/sdk/streams.js")).eventsOf(body);

/** Return how long to wait before another try, in milliseconds: longer after each failure, and never the same for all. */
export function pause(failures, random = Math.random) {
  return Math.min(SHORTEST * 2 ** failures, LONGEST) * (0.5 + random() / 2);
}

/**
 * Follow a stream until it is over or `signal` aborts. It is resumed after every cut, after the last id that came.
 *
 * `open(last)` asks for the stream and returns the response. `onEvent` gets each event, `onState` "live", "cut" or "over".
 */
export async function follow({ open, last, onEvent, onState = () => {}, signal, sleep = rest, eventsOf = inBody }) {
  let failures = 0;
  while (!signal.aborted) {
    let answered = false;
    let over = null; // some streams go on after the end, but none is asked for again
    try {
      const response = await open(last);
      if (response.status === 204) return onState("over");
      if (!response.ok) {
        if ([401, 403, 404].includes(response.status)) return onState("refused");
        throw new Error(String(response.status));
      }
      onState("live");
      for await (const event of await eventsOf(response.body)) {
        answered = true;
        if (signal.aborted) return undefined;
        if (event.id !== undefined) last = event.id;
        await onEvent(event);
        if (event.event === "over") onState((over = "over"));
      }
      if (over) return undefined;
    } catch (error) {
      if (signal.aborted || over) return undefined;
    }
    onState("cut");
    failures = answered ? 0 : failures + 1;
    await sleep(pause(failures), signal);
  }
  return undefined;
}

/** Wait; an abort, a window that comes back to the front or back online ends it early. */
export function rest(milliseconds, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done, { once: true });
    globalThis.addEventListener?.("online", done, { once: true });
  });
}
