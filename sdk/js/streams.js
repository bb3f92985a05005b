// Server-sent events, read from a body with `fetch`: an EventSource cannot send a key.

/** Yield the events of a body: {id, event, data}. Comments and unfinished events are left out. `heard` is called for all that comes. */
export async function* eventsOf(body, heard = () => {}) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let found = { event: "message", data: [] };
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const lines = (rest + value).split(/\r\n|\n|\r/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (found.data.length) yield { ...found, data: found.data.join("\n") };
          found = { id: found.id, event: "message", data: [] };
        } else if (!line.startsWith(":")) {
          const [, name, text] = /^([^:]*):? ?(.*)$/s.exec(line);
          if (name === "data") found.data.push(text);
          else if (name === "event" || name === "id") found[name] = text;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
