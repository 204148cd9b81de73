// A form that asks something of a key; the answer is read out.

import { el } from "./dom.js";

// inputs: fields; answer: gives nodes, or throws an Error with what is wrong.
export function question(inputs, button, answer) {
  const place = el("div", { "aria-live": "polite" });
  const form = el("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    try {
      place.replaceChildren(...[await answer()].flat());
    } catch (error) {
      place.replaceChildren(el("p", { class: "error" }, error.message));
    }
  } }, inputs, el("button", {}, button));
  return el("div", {}, form, place);
}

export function input(name, more = {}) {
  return el("input", { name, required: true, autocomplete: "off", spellcheck: "false", autocapitalize: "off", ...more });
}
