// The syntax of commands, from COMMAND DOCS, to complete what is typed.

import { ApiError, call } from "./api.js";
import { USES } from "./rules.js";
import { quoteWord } from "./words.js";

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
  #policies = [];  // their names, to complete POLICY

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
    call("POLICY.LIST").then((names) => { this.#policies = list(names); }).catch(() => { this.#policies = []; });
    return this.#asked;
  }

  // Another user may see other commands.
  forget() {
    this.#entries = null;
    this.#asked = null;
  }

  // What may be in place of the last word: commands while the line is the begin of a name, and where a
  // command takes rules, these and the names of policies. Each has the line that it makes.
  completions(line, most = 12) {
    return [...this.#commands(line), ...this.#rules(line)].slice(0, most);
  }

  #rules(line) {
    const known = this.of(line);
    if (known === null || !/\brule\b/.test(known.syntax)) return [];
    const [, before, typed] = /^(.*\s)(\S*)$/s.exec(line.trimStart()) ?? [null, "", ""];
    const words = before.trim().split(/\s+/).slice(known.name.split(" ").length);
    if (words.length < 1) return [];  // The key comes first.
    const last = words[words.length - 1].toUpperCase();
    const takes = (text) => text.toUpperCase().startsWith(typed.toUpperCase()) && text !== typed;
    if (last === "POLICY") {
      return this.#policies.map(quoteWord).filter(takes).map((name) => ({ line: before + name, name, syntax: "", summary: "A stored policy." }));
    }
    if (typed === "" && words.length > 1) return [];
    return USES.filter(([name]) => takes(name)).map(([name, syntax, summary]) => ({ line: before + name, name, syntax, summary }));
  }

  #commands(line, most = 12) {
    const typed = line.trimStart().toUpperCase();
    if (this.#entries === null || typed === "") return [];
    return this.#entries.filter((one) => one.name.startsWith(typed) && one.name !== typed.trimEnd())
      .slice(0, most).map((one) => ({ ...one, line: one.name }));
  }

  // The command that the line names, the longest name first; null if none.
  of(line) {
    const typed = `${line.trim().toUpperCase().replace(/\s+/g, " ")} `;
    const matching = list(this.#entries).filter((one) => typed.startsWith(`${one.name} `));
    return matching.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
  }
}
