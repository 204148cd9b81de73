// The stream of events: an object a second, read with fetch: EventSource sends no headers.
// Comes back after a break, and ends while nobody looks at the page.

import { login } from "./api.js";

const SILENCE_MS = 6000;
const FIRST_PAUSE_MS = 500, LONGEST_PAUSE_MS = 8000;

export class Events extends EventTarget {
  #running = null;  // the AbortController of the stream under way
  #pause = FIRST_PAUSE_MS;
  #timer = null;

  start() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#stop("paused") : this.#open()));
    login.addEventListener("changed", () => { this.#stop("connecting"); this.#open(); });
    this.#open();
  }

  #say(state, detail = "") {
    this.dispatchEvent(new CustomEvent("state", { detail: { state, detail } }));
  }

  #stop(state) {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    this.#say(state);
  }

  #open() {
    if (this.#running !== null || document.hidden) return;
    clearTimeout(this.#timer);
    const control = new AbortController();
    this.#running = control;
    this.#read(control).then(() => "", (error) => error.message).then((why) => {
      if (this.#running !== control) return;
      this.#running = null;
      if (this.refused) return;
      this.#say("lost", why);
      this.#timer = setTimeout(() => this.#open(), this.#pause * (0.8 + 0.4 * Math.random()));
      this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2);
    });
  }

  async #read(control) {
    this.refused = false;
    const response = await fetch("events", {
      headers: { Accept: "text/event-stream", ...login.headers() }, cache: "no-store", credentials: "omit",
      signal: control.signal,
    });
    if (response.status === 401 || response.status === 403) {
      this.refused = true;
      this.#say(response.status === 401 ? "login" : "forbidden");
      if (response.status === 401) login.need("");
      return;
    }
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    await this.#readPast(control);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", watch = null;
    const waits = () => { clearTimeout(watch); watch = setTimeout(() => control.abort(), SILENCE_MS); };
    waits();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        waits();
        const parts = (rest + value).split(/\r?\n\r?\n/);
        rest = parts.pop();
        for (const part of parts) this.#take(part);
      }
    } finally {
      clearTimeout(watch);
    }
  }

  // What was before: asked for each time, since nothing was read while nobody looked.
  async #readPast(control) {
    const response = await fetch("history", { headers: login.headers(), cache: "no-store", credentials: "omit", signal: control.signal });
    if (response.ok) this.dispatchEvent(new CustomEvent("past", { detail: await response.json() }));
  }

  #take(block) {
    const data = block.split(/\r?\n/).filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, "")).join("\n");
    if (data === "") return;
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return;  // A line that is cut is not worth the stream.
    }
    this.#pause = FIRST_PAUSE_MS;
    this.#say("live");
    this.dispatchEvent(new CustomEvent("sample", { detail: event }));
  }
}
