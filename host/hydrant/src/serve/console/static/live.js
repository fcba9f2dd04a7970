// The stream of changes. EventSource cannot send a header, and a token has no place in an address, so that the stream is
// read with fetch. It comes back by itself, later each time, and whoever listens is told when to look at everything anew.

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
// A comment comes more often than this from a stream that lives.
const SILENCE = 60000;

/** Reads the stream until `stop()`: `on.event({name, data})`, `on.state("live" | "waiting" | "refused")`. */
export function listen(api, on) {
  const all = new AbortController();
  let lastId = "";
  let wait = FIRST_WAIT;

  async function read() {
    const one = new AbortController();
    const stop = () => one.abort();
    all.signal.addEventListener("abort", stop);
    let silence = setTimeout(stop, SILENCE);
    try {
      const answer = await api.events(lastId, one.signal);
      on.state("live");
      wait = FIRST_WAIT;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const take = parser((event) => {
        if (event.id !== undefined) lastId = event.id;
        on.event(event);
      });
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(stop, SILENCE);
        take(value);
      }
    } finally {
      clearTimeout(silence);
      all.signal.removeEventListener("abort", stop);
      one.abort();
    }
  }

  (async () => {
    while (!all.signal.aborted) {
      try {
        await read();
      } catch (error) {
        if (all.signal.aborted) return;
        if (error.status === 401 || error.status === 403) {
          on.state("refused", error);
          return;
        }
        if (error.retryAfter) wait = Math.max(wait, error.retryAfter * 1000);
      }
      if (all.signal.aborted) return;
      on.state("waiting");
      await new Promise((resume) => {
        const timer = setTimeout(resume, wait * (0.8 + Math.random() * 0.4));
        all.signal.addEventListener("abort", () => { clearTimeout(timer); resume(); }, { once: true });
      });
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  })();

  return { stop: () => all.abort() };
}

/** A reader of the event stream format: takes pieces of text as they come, gives whole events. */
export function parser(give) {
  let rest = "";
  let event = {};
  let data = [];
  return (piece) => {
    rest += piece;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) give({ name: event.name || "message", id: event.id, data: json(data.join("\n")) });
        event = {};
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "event") event.name = value;
      else if (field === "id") event.id = value;
    }
  };
}

function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
