// Builds elements. What comes from the server becomes text, never markup.

// el("td", {class: "number", title: "…", onclick: f}, "text", node, …). A property that is null,
// undefined or false is left out; true is an empty attribute.
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Sets a text that has changed: a live region that is written is read out.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A panel with a heading and content, which may say that it loads or failed.
export function panel(title, { id, wide, note } = {}) {
  const heading = el("h3", { id: id && `${id}-title` }, title);
  const span = el("p", { class: "span" });
  const body = el("div", { class: "body" });
  const node = el("section", { class: wide ? "panel wide" : "panel", id, "aria-labelledby": id && `${id}-title` },
    el("div", { class: "head" }, heading, span), note ? el("p", { class: "muted" }, note) : null, body);
  return {
    node, body, heading,
    // Which span of time the panel's figures belong to.
    span: (text) => setText(span, text),
    show: (...content) => { body.removeAttribute("aria-busy"); body.replaceChildren(...content.filter((part) => part !== null)); },
    loading: () => {
      body.setAttribute("aria-busy", "true");
      if (!body.hasChildNodes()) body.replaceChildren(el("p", { class: "muted" }, "Loading…"));
    },
    failed: (error) => {
      body.removeAttribute("aria-busy");
      body.replaceChildren(el("p", { class: "error", role: "alert" }, error.message));
    },
    empty: (text) => { body.removeAttribute("aria-busy"); body.replaceChildren(el("p", { class: "muted" }, text)); },
  };
}

// Roles are given, since a narrow window lays rows out as lists. columns: [{name, number: right aligned}];
// rows: nodes or texts. The caption is always read out, and seen where no heading says the same.
export function table(caption, columns, rows, { captioned = false } = {}) {
  const cells = (row) => row.map((cell, i) => {
    const first = i === 0;
    return el(first ? "th" : "td", { class: columns[i].number ? "number" : null, role: first ? "rowheader" : "cell",
      scope: first ? "row" : null, "data-label": columns[i].name }, cell);
  });
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    el("table", { role: "table" }, el("caption", { class: captioned ? null : "unseen" }, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, columns.map((column) =>
        el("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null }, column.name)))),
      el("tbody", { role: "rowgroup" }, rows.map((row) => el("tr", { role: "row" }, cells(row))))));
}

// pairs: [[name, node or text], …].
export function facts(pairs) {
  return el("dl", { class: "facts" },
    pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

// A bar for a share of 0 to 1, beside the number.
export function bar(share, kind = "") {
  const fill = el("span", { class: `fill ${kind}` });
  fill.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

export function field(label, input, hint) {
  return el("label", {}, label, input, hint ? el("small", {}, hint) : null);
}
