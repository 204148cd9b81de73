// The syntax of commands, from COMMAND DOCS, to complete what is typed.

import { ApiError, call } from "./api.js";

const NATIVE = new Set(["hits", "limit", "policy", "active", "quota"]);

function list(value) {
  return Array.isArray(value) ? value : [];
}

// One argument as redis-cli writes it: TOKEN name, [name …], a|b.
function write(argument) {
  const flags = list(argument.flags);
  const inner = list(argument.arguments).map(write);
  let text = argument.type === "pure-token" ? "" : argument.type === "oneof" ? inner.join("|")
    : argument.type === "block" ? inner.join(" ") : argument.display_text ?? argument.name;
  const token = argument.token ?? "";
  const once = [token, text].filter((part) => part !== "").join(" ");
  if (flags.includes("multiple")) {
    const again = flags.includes("multiple_token") ? once : text;
    text = flags.includes("multiple_token") && flags.includes("optional") && inner.length > 0 ? `${once} …` : `${once} [${again} …]`;
  } else {
    text = once;
  }
  return flags.includes("optional") ? `[${text}]` : text;
}

function entry(name, docs) {
  return { name: name.toUpperCase(), syntax: list(docs.arguments).map(write).join(" "), summary: docs.summary ?? "",
    native: NATIVE.has(docs.group) };
}

function add(found, name, docs) {
  const parts = Object.entries(docs.subcommands ?? {});
  if (parts.length === 0) found.push(entry(name, docs));
  for (const [part, more] of parts) found.push(entry(part.replace("|", " "), { group: docs.group, ...more }));
}

export class Syntax {
  #entries = null;
  #asked = null;

  // Asks once; again after a failure. The commands come sorted, ours first.
  load() {
    this.#asked ??= call("COMMAND", "DOCS").then((reply) => {
      const found = [];
      for (const [name, docs] of Object.entries(reply)) add(found, name, docs);
      found.sort((a, b) => b.native - a.native || a.name.localeCompare(b.name));
      this.#entries = found;
    }).catch((error) => {
      this.#asked = null;
      if (!(error instanceof ApiError)) throw error;
    });
    return this.#asked;
  }

  // Another user may see other commands.
  forget() {
    this.#entries = null;
    this.#asked = null;
  }

  // Commands whose name begins with the line, while no argument has been begun.
  completions(line, most = 12) {
    const typed = line.trimStart().toUpperCase();
    if (this.#entries === null || typed === "") return [];
    return this.#entries.filter((one) => one.name.startsWith(typed) && one.name !== typed.trimEnd()).slice(0, most);
  }

  // The command that the line names, the longest name first; null if none.
  of(line) {
    const typed = `${line.trim().toUpperCase().replace(/\s+/g, " ")} `;
    const matching = list(this.#entries).filter((one) => typed.startsWith(`${one.name} `));
    return matching.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
  }
}
