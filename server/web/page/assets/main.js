// Starts the page: views, the stream of events, login, light and dark.

import { ApiError, batch, login, tryLogin } from "./api.js";
import { Banner } from "./banner.js";
import { recolour } from "./charts.js";
import { Console } from "./console.js";
import { setText } from "./dom.js";
import { Events } from "./events.js";
import { clock } from "./format.js";
import { Limits } from "./limits.js";
import { Lookup } from "./lookup.js";
import { Overview } from "./overview.js";
import { Samples } from "./samples.js";
import { unpackKey } from "./words.js";

const byId = (id) => document.getElementById(id);
const samples = new Samples();
const banner = new Banner(byId("banner"));
const views = {
  overview: new Overview(byId("view-overview"), samples),
  limits: new Limits(byId("view-limits")),
  lookup: new Lookup(byId("view-lookup")),
  console: new Console(byId("view-console")),
};

// "#lookup?key=…&policy=…": a view and what it is to show.
function route() {
  const [name, query = ""] = location.hash.slice(1).split("?", 2);
  const chosen = name in views ? name : "overview";
  const words = new URLSearchParams(query);
  for (const view of Object.keys(views)) byId(`view-${view}`).hidden = view !== chosen;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${byId(`${chosen}-title`).textContent} – tallyd`;
  if (chosen === "console") views.console.visible(words.get("run"));
  else views[chosen].visible(words);
  if (chosen === "lookup" && words.has("key")) {
    const policy = words.has("policy") ? unpackKey(words.get("policy")) : undefined;
    views.lookup.show(unpackKey(words.get("key")), { policy, database: words.get("db") ?? "0" });
  }
}

function startTheme() {
  const chooser = byId("theme"), root = document.documentElement;
  chooser.value = root.dataset.theme ?? "auto";
  chooser.addEventListener("change", () => {
    if (chooser.value === "auto") delete root.dataset.theme;
    else root.dataset.theme = chooser.value;
    try {
      localStorage.setItem("tallyd.theme", chooser.value);
    } catch {
      // Without storage the choice lasts until the page is loaded again.
    }
    recolour();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
}

const STATES = {
  connecting: () => "Connecting…",
  live: () => (samples.last?.refusal ? "Live, but commands are refused" : "Live"),
  paused: () => "Paused: nobody looks",
  lost: () => `Connection lost${samples.last ? `; figures are of ${clock(samples.last.now_ms)}` : ""}. Trying again…`,
  login: () => "Log in to see figures",
  forbidden: () => "This user may not see the figures",
};

function startEvents() {
  const events = new Events(), place = byId("connection");
  events.addEventListener("state", ({ detail }) => {
    if (place.dataset.state === "lost" && detail.state === "connecting") return;
    place.dataset.state = detail.state;
    document.body.dataset.state = detail.state;
    setText(place, STATES[detail.state]());
    place.title = detail.detail;
    if (["login", "forbidden", "lost"].includes(detail.state)) {
      banner.clear();
      delete place.dataset.refuses;
    }
  });
  events.addEventListener("past", ({ detail }) => samples.past(detail));
  events.addEventListener("sample", ({ detail }) => {
    samples.take(detail);
    place.dataset.refuses = banner.update(samples);
    setText(place, STATES.live());
    place.title = `Figures of ${clock(detail.now_ms)}`;
    views.overview.update();
  });
  events.start();
}

// Shows who is logged in, and whether that user may change anything.
async function showRights() {
  const badge = byId("rights");
  setText(byId("login"), login.user === null ? "Log in" : `User ${login.user}`);
  try {
    // Words that change nothing, and are refused to those who may change nothing.
    const [reply] = await batch([["LIMIT.GIVE", "", "0"]]);
    const refused = reply instanceof ApiError && reply.code === "NOPERM" && /permissions to run/.test(reply.message);
    badge.hidden = !refused;
    badge.title = refused ? reply.message : "";
    setText(byId("notice"), "");
    byId("notice").hidden = true;
  } catch (error) {
    badge.hidden = true;
    if (error.status !== 401) {
      setText(byId("notice"), error.message);
      byId("notice").hidden = false;
    }
  }
}

function startLogin() {
  const dialog = byId("login-dialog"), form = dialog.querySelector("form"), said = form.querySelector(".error");
  const open = (message) => {
    setText(said, message);
    said.hidden = message === "";
    if (!dialog.open) dialog.showModal();
  };
  const entered = () => {
    login.keep();
    dialog.close();
    form.elements.password.value = "";
    views.console.forget();
    login.changed();
    showRights();
    route();
  };
  byId("login").addEventListener("click", () => open(""));
  login.addEventListener("need", ({ detail }) => open(login.user === null ? "" : detail));
  form.querySelector("[value=cancel]").addEventListener("click", () => dialog.close());
  form.querySelector("[value=forget]").addEventListener("click", () => { login.clear(); entered(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wrong = await tryLogin(form.elements.user.value, form.elements.password.value);
    if (wrong === null) return entered();
    login.clear();
    open(wrong);
  });
}

setText(byId("host"), location.host);
startTheme();
startLogin();
window.addEventListener("hashchange", route);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) views.limits.refresh(); });
route();
showRights();
startEvents();
