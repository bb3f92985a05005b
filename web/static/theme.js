// Light, dark, or as the system: set before anything is painted. This is the one script that is no module.
{
  let theme = null;
  try {
    theme = localStorage.getItem("warledger.theme");
  } catch {
    // as the system
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
