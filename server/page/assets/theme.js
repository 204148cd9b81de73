// The choice of light or dark. Runs before the page is drawn, so that it never flashes.
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
