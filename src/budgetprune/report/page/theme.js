// Runs before anything is drawn, so that nobody sees the other theme first.
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;

function applyTheme() {
  document.documentElement.dataset.theme = chosenTheme ?? (systemIsDark.matches ? "dark" : "light");
}

applyTheme();
