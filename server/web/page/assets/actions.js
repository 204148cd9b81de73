// Buttons that change a key, after a question that shows the command.

import { el } from "./dom.js";
import { quoteLine } from "./words.js";

const dialog = document.getElementById("confirm-dialog");

// Whether the reader chose to run it. note: what else they should know before.
export function confirmRun(words, database = "0", note = "") {
  const said = document.getElementById("confirm-note");
  said.textContent = note;
  said.hidden = note === "";
  dialog.querySelector("pre").textContent = (database === "0" ? "" : `in database ${database}: `) + quoteLine(words);
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "run"), { once: true });
  });
}

// Buttons for [[name, words], …] that change the key, each after a question. Who may not change it sees
// them disabled, and why.
export function actions(subject, list) {
  const refused = subject.refused;
  const said = el("p", { class: "error", role: "alert", hidden: true });
  const buttons = list.map(([name, words]) => el("button", { type: "button", disabled: refused !== null, title: refused,
    onclick: async () => {
      if (!(await confirmRun(words, subject.database))) return;
      try {
        await subject.one(...words);
        subject.again();
      } catch (error) {
        said.textContent = error.message;
        said.hidden = false;
      }
    } }, name));
  return el("div", { class: "actions" }, buttons,
    refused !== null ? el("p", { class: "muted" }, `Read-only: ${refused}`) : null, said);
}
