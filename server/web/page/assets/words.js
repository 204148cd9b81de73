// Words of a command, as text that people write and as values that the server takes.
//
// A value is a string, or {base64: "…"} for bytes that are not UTF-8. As text it is a bare word, or
// quoted as redis-cli quotes.

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ESCAPES = { n: 10, r: 13, t: 9, b: 8, a: 7 };

function fromBytes(list) {
  const array = Uint8Array.from(list);
  try {
    return strict.decode(array);
  } catch {
    let binary = "";
    for (const byte of array) binary += String.fromCharCode(byte);
    return { base64: btoa(binary) };
  }
}

export function isBytes(value) {
  return value !== null && typeof value === "object" && typeof value.base64 === "string"
    && Object.keys(value).length === 1;
}

function toBytes(value) {
  if (!isBytes(value)) return encoder.encode(String(value));
  try {
    return Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0));
  } catch {
    return encoder.encode(value.base64);
  }
}

// Reads a quoted word from `at` on, which is after the quote: [bytes, next] or null.
function readQuoted(text, at, quote) {
  const out = [];
  while (at < text.length) {
    const c = text[at];
    if (c === quote) return [out, at + 1];
    if (c === "\\" && quote === '"') {
      const hex = /^\\x([0-9a-fA-F]{2})/.exec(text.slice(at, at + 4));
      if (hex) {
        out.push(parseInt(hex[1], 16));
        at += 4;
        continue;
      }
      at += 1;
      if (at >= text.length) return null;
      if (text[at] in ESCAPES) {
        out.push(ESCAPES[text[at]]);
        at += 1;
        continue;
      }
    } else if (c === "\\" && text[at + 1] === "'") {
      at += 1;
    }
    const point = String.fromCodePoint(text.codePointAt(at));
    out.push(...encoder.encode(point));
    at += point.length;
  }
  return null;
}

// The words of a line; null while a quote is open, or if it ends inside a word.
export function splitWords(line) {
  const words = [];
  let at = 0;
  for (;;) {
    while (at < line.length && /\s/.test(line[at])) at += 1;
    if (at >= line.length) return words;
    const out = [];
    while (at < line.length && !/\s/.test(line[at])) {
      const c = line[at];
      if (c === '"' || c === "'") {
        const quoted = readQuoted(line, at + 1, c);
        if (quoted === null || (quoted[1] < line.length && !/\s/.test(line[quoted[1]]))) return null;
        for (const byte of quoted[0]) out.push(byte);
        at = quoted[1];
      } else {
        const point = String.fromCodePoint(line.codePointAt(at));
        out.push(...encoder.encode(point));
        at += point.length;
      }
    }
    words.push(fromBytes(out));
  }
}

function escaped(value) {
  if (!isBytes(value)) {
    return String(value).replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")
      // Controls, and marks that turn or hide what is beside them.
      .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        (c) => [...encoder.encode(c)].map((b) => `\\x${b.toString(16).padStart(2, "0")}`).join(""));
  }
  return [...toBytes(value)].map((b) => {
    if (b === 34 || b === 92) return `\\${String.fromCharCode(b)}`;
    return b >= 32 && b < 127 ? String.fromCharCode(b) : `\\x${b.toString(16).padStart(2, "0")}`;
  }).join("");
}

// In quotes where it must be; splitWords gives the value again.
export function quoteWord(value) {
  const inner = escaped(value);
  const plain = !isBytes(value) && inner === String(value) && inner !== "" && !/[\s'"]/.test(inner);
  return plain ? inner : `"${inner}"`;
}

export function quoteLine(words) {
  return words.map(quoteWord).join(" ");
}

// The key in a field: its text, or one word in double quotes.
export function readKey(text) {
  if (text.length > 1 && text.startsWith('"') && text.endsWith('"')) {
    const words = splitWords(text);
    if (words !== null && words.length === 1) return words[0];
  }
  return text;
}

// How a key is shown, and the text of such a field: as it is, if all of it can be seen.
export function showKey(value) {
  const inner = escaped(value);
  if (isBytes(value) || value === "" || inner.replace(/\\(["\\])/g, "$1") !== String(value)) return `"${inner}"`;
  return String(value).startsWith('"') ? `"${inner}"` : String(value);
}

// Whether this is only the begin of a name: lists keep `kept` bytes of it, and say how many more it has.
export function isShortened(value, kept) {
  return /^\.\.\. \(\d+ more bytes\)$/.test(String.fromCharCode(...toBytes(value).slice(kept)));
}

// For an address: a key of any bytes as one hash parameter.
export function packKey(value) {
  return isBytes(value) ? `64:${value.base64}` : `t:${value}`;
}

export function unpackKey(text) {
  if (text.startsWith("64:")) return { base64: text.slice(3) };
  return text.startsWith("t:") ? text.slice(2) : text;
}
