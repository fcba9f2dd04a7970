// How values are written for people.

const AGES = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** A date of what the server says: RFC 3339, or seconds since 1970. */
export function date(value) {
  if (value === undefined || value === null) return undefined;
  const made = new Date(typeof value === "number" ? value * 1000 : value);
  return Number.isNaN(made.getTime()) ? undefined : made;
}

/** `3 hours ago`, `in 20 minutes`. */
export function age(value) {
  const when = date(value);
  if (!when) return "";
  const seconds = Math.round((when.getTime() - Date.now()) / 1000);
  for (const [unit, length] of AGES) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return Math.abs(seconds) < 5 ? "just now" : relative.format(seconds, "second");
}

/** `2026-11-23 01:31:49`, local. */
export function moment(value) {
  const when = date(value);
  if (!when) return String(value ?? "");
  const two = (number) => String(number).padStart(2, "0");
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} `
    + `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
}

/** `sha256:3c9a0f…e7`, enough to compare at a glance; the whole stands beside it. */
export function short(digest) {
  const text = String(digest ?? "");
  const [, kind, rest] = /^([a-z0-9-]+:)?(.*)$/s.exec(text) ?? [];
  return rest && rest.length > 20 ? `${kind ?? ""}${rest.slice(0, 8)}…${rest.slice(-6)}` : text;
}

/** `1 skill`, `3 skills`. */
export function count(number, what) {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** Kebab-case and snake_case members, for people. */
export function label(member) {
  const words = member.replace(/[-_]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value in one line or, as JSON, in several. */
export function written(value) {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return JSON.stringify(value, null, 2);
}

/** A list, whatever was sent: the list itself, or the first of these members that is one. */
export function listOf(answer, ...members) {
  if (Array.isArray(answer)) return answer;
  for (const member of members) {
    if (Array.isArray(answer?.[member])) return answer[member];
  }
  return [];
}
