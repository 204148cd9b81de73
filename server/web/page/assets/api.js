// Commands over POST /api, as the user who is logged in.

import { isBytes } from "./words.js";

const STORE = "tallyd.authorization";
const WAIT_MS = 15000;

// What a command or the way to it answered instead of a reply.
export class ApiError extends Error {
  constructor(message, { code = "", status = 0 } = {}) {
    super(message);
    this.code = code;
    this.status = status;
  }
  // Whether the user lacks a right, which a login can change.
  get forbidden() {
    return this.code === "NOPERM" || this.status === 403;
  }
}

class Login extends EventTarget {
  #authorization = null;
  user = null;

  constructor() {
    super();
    try {
      const kept = JSON.parse(sessionStorage.getItem(STORE) ?? "null");
      if (kept) [this.user, this.#authorization] = kept;
    } catch {
      // A tab without storage asks again when it is loaded again.
    }
  }
  headers() {
    return this.#authorization === null ? {} : { Authorization: this.#authorization };
  }
  set(user, password) {
    const raw = new TextEncoder().encode(`${user}:${password}`);
    this.#authorization = `Basic ${btoa(Array.from(raw, (b) => String.fromCharCode(b)).join(""))}`;
    this.user = user;
  }
  clear() {
    this.#authorization = null;
    this.user = null;
  }
  // Keeps what has proved right, or forgets it, for the next load of this tab.
  keep() {
    try {
      if (this.user === null) sessionStorage.removeItem(STORE);
      else sessionStorage.setItem(STORE, JSON.stringify([this.user, this.#authorization]));
    } catch {
      // As above.
    }
  }
  need(message) {
    this.dispatchEvent(new CustomEvent("need", { detail: message }));
  }
  changed() {
    this.dispatchEvent(new Event("changed"));
  }
}

export const login = new Login();

function errorIn(value, status = 0) {
  if (value === null || typeof value !== "object" || typeof value.error !== "string") return null;
  return new ApiError(value.error, { code: value.code ?? value.error.split(" ", 1)[0], status });
}

async function post(body, ask) {
  let response, value;
  try {
    response = await fetch("api", {
      method: "POST", body: JSON.stringify(body), cache: "no-store", credentials: "omit",
      headers: { "Content-Type": "application/json", ...login.headers() }, signal: AbortSignal.timeout(WAIT_MS),
    });
    value = await response.text();
  } catch (error) {
    throw new ApiError(error.name === "TimeoutError" ? `The server has not answered for ${WAIT_MS / 1000} seconds.`
      : "The server cannot be reached.");
  }
  try {
    value = JSON.parse(value);
  } catch {
    throw new ApiError(`The server answered ${response.status} ${response.statusText}.`, { status: response.status });
  }
  if (response.ok) return value;
  const error = errorIn(value, response.status) ?? new ApiError(`The server answered ${response.status}.`,
    { status: response.status });
  if (response.status === 401 && ask) login.need(error.message);
  throw error;
}

// The reply of one command. Throws ApiError.
export async function call(...words) {
  const value = await post(words, true);
  const error = errorIn(value);
  if (error) throw error;
  return value;
}

// The replies of several, each a value or an ApiError. Throws if none can be asked.
export async function batch(commands) {
  if (commands.length === 0) return [];
  const values = await post(commands, true);
  if (!Array.isArray(values)) throw new ApiError("The server did not answer a list with a list.");
  return values.map((value) => errorIn(value) ?? value);
}

// The replies of several in a database. It is named each time: requests share connections, and whoever had
// one before may have chosen another.
export async function inDatabase(database, commands) {
  const [chosen, ...replies] = await batch([["SELECT", database], ...commands]);
  if (chosen instanceof ApiError && database !== "0") throw chosen;
  return replies;
}

// Whether these words let somebody in: null, or what the server said.
export async function tryLogin(user, password) {
  login.set(user, password);
  try {
    await post(["PING"], false);
    return null;
  } catch (error) {
    if (error.status === 401) return "The user or the password is wrong.";
    return error.forbidden ? null : error.message;
  }
}

// A reply as a list, whether the server gave its fields names or places.
export function fields(reply) {
  if (Array.isArray(reply)) return reply;
  return reply !== null && typeof reply === "object" && !isBytes(reply) ? Object.values(reply) : [];
}

// A reply of known fields as an object, by their places.
export function named(reply, names) {
  const values = fields(reply);
  return Object.fromEntries(names.map((name, i) => [name, values[i]]));
}

// "name:value" rows of INFO as an object of texts.
export function infoRows(text) {
  const rows = {};
  for (const line of String(text).split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0 && !line.startsWith("#")) rows[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return rows;
}

// "a=1,b=2" as an object of numbers where they are such.
export function infoPairs(text) {
  const pairs = {};
  for (const part of String(text).split(",")) {
    const equals = part.indexOf("=");
    if (equals <= 0) continue;
    const value = part.slice(equals + 1);
    pairs[part.slice(0, equals)] = part.slice(0, equals) !== "name" && value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return pairs;
}
