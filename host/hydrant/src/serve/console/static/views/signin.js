// Signing in: a token, typed or pasted, that is kept in memory until the page is closed, reloaded or signed out of.

import { el, replace } from "../dom.js";

/** The form. `enter(token)` fails with a problem where the token is not good. */
export function signIn({ message, enter }) {
  const field = el("input", {
    id: "token", type: "password", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-describedby": "token-note token-problem",
  });
  const problem = el("p", { id: "token-problem", class: "problem", role: "alert" }, message ?? "");
  const button = el("button", { type: "submit", class: "primary" }, "Sign in");

  async function submit(event) {
    event.preventDefault();
    const token = field.value.trim();
    if (!token) return;
    button.disabled = true;
    replace(problem);
    try {
      // What cannot stand in a header is no token.
      if (!/^[\x21-\x7e]+$/.test(token)) throw Object.assign(new Error(), { status: 401 });
      await enter(token);
      field.value = "";
    } catch (error) {
      field.value = "";
      button.disabled = false;
      replace(problem, error.status === 401
        ? "The server does not know this token."
        : `Not signed in: ${error.message}.`);
      field.setAttribute("aria-invalid", "true");
      field.focus();
    }
  }

  return el("main", { class: "signin" },
    el("form", { on: { submit } },
      el("h1", {}, el("strong", {}, "hydrant"), " console"),
      el("label", { for: "token" }, "Token"),
      field,
      el("p", { id: "token-note", class: "quiet" },
        "It stays in the memory of this page. Reloading or closing it signs you out."),
      problem,
      button));
}
