// State of the page, the function that draws it, and the controls that change it. Each kind of page defines
// `wordsShown`, `drawOwn` and `onPaper` for its own panels.

const state = { point: S.delivered, counting: S.counting };
const slider = $("slider");
let isDrawing = false;
let announcement = 0;

function draw() {
  const point = S.points[state.point];
  const outcome = point[state.counting];
  const { words } = outcome;
  $("name").textContent = point.name;
  $("value").textContent = `${withUnit(amount(outcome.cost))} · ${S.score_name} ${score(outcome.score)}`;
  $("back").disabled = state.point === S.delivered;
  if ($("recommended") !== null) $("recommended").disabled = state.point === S.recommended;
  for (const name of wordsShown) $(`${name}-words`).textContent = tied(words[name]);
  $("curve").setAttribute("aria-label", `${capitalised(S.score_name)} against cost of all points. Shown: ${words.value}. ${words.verdict}`);
  drawFigures(state);
  drawCurve(state);
  if (isAccuracy) {
    drawMatrix(state);
    drawProbabilities(state);
  } else {
    $("residuals").setAttribute("aria-label", `Distribution of prediction minus truth. ${words.wrong}`);
    drawResiduals(state);
  }
  drawChoice(state);
  drawCompare(state);
  drawOwn(state, go);
}

function redraw() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    draw();
  });
}

// Screen readers announce the slider's position immediately, and the description once it stops.
function say() {
  clearTimeout(announcement);
  announcement = setTimeout(() => {
    $("live").textContent = S.points[state.point][state.counting].words.verdict;
  }, 600);
}

function moved() {
  slider.value = state.point;
  slider.setAttribute("aria-valuetext", S.points[state.point][state.counting].words.value);
  redraw();
}

function go(point) {
  state.point = point;
  moved();
  say();
}

function showTheme() {
  applyTheme();
  $("theme").setAttribute("aria-pressed", document.documentElement.dataset.theme === "dark");
  redraw();
}

slider.max = S.points.length - 1;
slider.addEventListener("input", () => go(Number(slider.value)));
$("back").addEventListener("click", () => go(S.delivered));
for (const choice of document.querySelectorAll("input[name=counting]")) {
  choice.checked = choice.value === S.counting;
  choice.addEventListener("change", () => {
    state.counting = choice.value;
    go(state.point);
  });
}
$("theme").addEventListener("click", () => {
  chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  showTheme();
});
systemIsDark.addEventListener("change", showTheme);
let lastWidth = window.innerWidth;
addEventListener("resize", () => {
  if (window.innerWidth !== lastWidth) redraw(); // on phones the height changes with every scroll
  lastWidth = window.innerWidth;
});

// Positions of the delivered and of the recommended model on the rail. The centre of the thumb never reaches the ends.
const onRail = (point) => `calc(8px + (100% - 16px) * ${point / (S.points.length - 1)})`;
$("mark").style.left = onRail(S.delivered);
for (const button of document.querySelectorAll("#recommended, #recommended-go")) button.addEventListener("click", () => go(S.recommended));
if ($("recommended-mark") !== null) $("recommended-mark").style.left = onRail(S.recommended);

// For printing, charts are redrawn in the light theme and at a fixed width.
function resizeCharts(sizeOf) {
  for (const name of Object.keys(onPaper).filter((each) => $(each) !== null)) {
    [$(name).style.width, $(name).style.height] = sizeOf(name);
  }
  draw();
}

addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
  resizeCharts((name) => onPaper[name]);
});
addEventListener("afterprint", () => {
  applyTheme();
  resizeCharts(() => ["", ""]);
});

moved();
showTheme();
draw();
document.getElementById("curve").on("plotly_click", ({ points }) => {
  const clicked = points.find((point) => point.customdata !== undefined);
  if (clicked) go(clicked.customdata);
});
document.documentElement.dataset.ready = "yes";
