// Light or dark. Runs before the page is drawn, which would flash otherwise.
(() => {
  const root = document.documentElement;
  let chosen = "auto";
  try {
    chosen = localStorage.getItem("tallyd.theme") || "auto";
  } catch {
    // Without storage the system's choice stands.
  }
  if (chosen !== "auto") root.dataset.theme = chosen;
})();
