// The service, as the console asks it. The token lives in a closure for as long as the page does: not in the address, not
// in storage, not in a cookie, and nothing here gives it out again.

const BASE = new URL("../", document.baseURI);

/** A problem that the service answered (RFC 9457), or that there was no answer. */
export class Problem extends Error {
  constructor(status, members, retryAfter) {
    super(members.detail || members.title || (status ? `the server answered ${status}` : "the server does not answer"));
    this.name = "Problem";
    this.status = status;
    this.code = members.code ?? "";
    this.title = members.title ?? "";
    this.hint = members.hint ?? "";
    this.retryAfter = retryAfter;
  }
}

/** A session with this token. */
export function session(token) {
  const headers = { authorization: `Bearer ${token}` };

  async function send(path, options = {}) {
    let answer;
    try {
      answer = await fetch(new URL(path, BASE), {
        ...options,
        headers: { ...headers, accept: "application/json", ...options.headers },
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, { title: "the server does not answer" });
    }
    if (answer.ok) return answer;
    const members = await answer.json().catch(() => ({}));
    const seconds = Number(answer.headers.get("retry-after"));
    throw new Problem(answer.status, members ?? {}, Number.isFinite(seconds) && seconds > 0 ? seconds : undefined);
  }

  const get = async (path, query = {}, signal) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const search = new URLSearchParams(given).toString();
    return (await send(search ? `${path}?${search}` : path, { signal })).json();
  };
  const post = async (path, body) => {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await send(path, options)).json();
  };
  const at = encodeURIComponent;

  return {
    /** The cheapest question that every role may ask. */
    known: () => get("v1/receipts", { limit: 1 }),
    skills: (signal) => get("v1/skills", {}, signal),
    skill: (id, signal) => get(`v1/skills/${at(id)}`, {}, signal),
    capabilities: (signal) => get("v1/capabilities", {}, signal),
    capability: (skill, signal) => get(`v1/capabilities/${at(skill)}`, {}, signal),
    approvals: (status, signal) => get("v1/approvals", { status }, signal),
    approval: (id, signal) => get(`v1/approvals/${at(id)}`, {}, signal),
    decide: (id, verdict, body) => post(`v1/approvals/${at(id)}/${verdict}`, body),
    receipts: (cursor, signal) => get("v1/receipts", { cursor }, signal),
    receipt: (id, signal) => get(`v1/receipts/${at(id)}`, {}, signal),
    resources: (signal) => get("v1/resources", { limit: 500 }, signal),
    graph: (uri, depth, signal) => get("v1/graph", { uri, depth, format: "json" }, signal),
    chain: (cursor, limit, verify, signal) => get("v1/chain", { cursor, limit, verify: verify || undefined }, signal),
    /** The stream of changes, as a `Response` whose body is read by live.js. */
    events: (lastId, signal) => send("v1/events", {
      signal,
      headers: { accept: "text/event-stream", ...(lastId ? { "last-event-id": lastId } : {}) },
    }),
  };
}
