// Runs before the first paint, to avoid a flash of the other theme.
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;

function applyTheme() {
  document.documentElement.dataset.theme = chosenTheme ?? (systemIsDark.matches ? "dark" : "light");
}

applyTheme();
