// Panels of a staged model: stages, value of the next stage, sources, example rows.

const wordsShown = ["verdict", "stages", "next", "bought", "wrong"];
const onPaper = { curve: ["670px", "340px"], residuals: ["670px", "190px"], calibration: ["670px", "230px"] };
const mostNamed = 4;

function drawOwn(state) {
  const point = S.points[state.point];
  drawStages(point);
  if (isAccuracy) drawWho(point);
  drawNext(point);
  drawSources(point);
}

// Losses are shares of wrong rows, or amounts.
const loss = (x) => (S.loss_kind === "errors" ? `${(100 * x).toFixed(1)}\u00a0%` : S.loss_kind === "cost" ? amount(x) : significant(x));
const perUnit = (x) => significant(S.loss_kind === "errors" ? 100 * x : x).replace("-", "−");

function namesOf({ sources }) {
  if (!sources.length) return "nothing bought";
  const names = sources.slice(0, mostNamed).map((s) => S.sources[s].name).join(", ");
  return sources.length > mostNamed ? `${names} and ${sources.length - mostNamed} more` : names;
}

// A stacked bar: rows that stopped before (blank), rows that stop here, rows that go on.
function flow({ reached, stops }) {
  const part = (kind, width) => element("span", { class: kind, style: { width: `${100 * width}%` } });
  const spoken = `${percent(1 - reached)} have stopped before, ${percent(stops)} stop here, ${percent(reached - stops)} go on`;
  return element("div", { class: "flow", role: "img", "aria-label": spoken }, part("gone", 1 - reached), part("stop", stops), part("on", reached - stops));
}

function drawStages(point) {
  const heads = [...document.querySelectorAll(".stages thead tr")[0].cells].map((cell) => cell.textContent);
  const rows = point.stages.map((outcome, k) => {
    const stage = S.chains[point.chain][k];
    const cells = [percent(outcome.reached), percent(outcome.stops), outcome.score_stops === null ? "–" : score(outcome.score_stops), score(outcome.score_all), tied(outcome.rule)];
    return element(
      "tr", { class: k === point.stages.length - 1 ? "end" : null },
      element("th", { scope: "row" }, `${k}. ${namesOf(stage)}`, element("span", { class: "price" }, k ? ` +${trimmed(stage.price)}, now ${trimmed(stage.paid)}` : "")),
      element("td", { class: "rows" }, flow(outcome)),
      ...cells.map((text, i) => element("td", { class: "n", "data-label": heads[i + 2] }, text)),
    );
  });
  $("stages").replaceChildren(...rows);
}

function drawWho(point) {
  const shade = (share) => (share ? { background: `rgb(var(--shade) / ${Math.min(0.08 + 0.5 * share, 0.6)})` } : {});
  const rows = point.stages.flatMap(({ stops, stops_by_class: shares }, k) =>
    stops > 0
      ? [
          element(
            "tr", {},
            element("th", { scope: "row" }, `${k}. ${namesOf(S.chains[point.chain][k])}`),
            ...shares.map((share) => element("td", { style: shade(share) }, share === null ? "–" : percent(share))),
          ),
        ]
      : [],
  );
  $("who").replaceChildren(...rows);
}

function drawNext(point) {
  const heads = ["Next", "All rows that reach the stage, with the stopping rule", "Rows that go on", "Rows that stop, if they went on"];
  const cell = (trade, label) => {
    if (trade === null || (trade.saved === null && trade.cost === 0)) return element("td", { "data-label": label }, "–");
    const saved = trade.saved === null ? "" : `; ${perUnit(trade.saved)} per unit`;
    return element(
      "td", { "data-label": label },
      element("span", { class: "losses" }, `${loss(trade.stopping)} → ${loss(trade.going_on)}`),
      element("span", { class: "small soft" }, `${trade.n_rows.toLocaleString("en")} ${trade.n_rows === 1 ? "row" : "rows"}, for ${withUnit(trimmed(trade.cost))}${saved}`),
    );
  };
  const rows = point.stages.flatMap(({ next }, k) => {
    if (next === null) return [];
    const stage = S.chains[point.chain][next.stage];
    return [
      element(
        "tr", {},
        element("th", { scope: "row" }, `${k}. ${namesOf(S.chains[point.chain][k])}`),
        element("td", { "data-label": heads[0] }, namesOf(stage), element("span", { class: "price" }, ` +${trimmed(stage.price)}`)),
        cell(next.there, heads[1]), cell(next.on, heads[2]), cell(next.stay, heads[3]),
      ),
    ];
  });
  $("next").replaceChildren(...rows);
}

function drawSources(point) {
  const { bought, cost } = point.decided;
  const bar = (share, largest) =>
    element(
      "span", { class: "single" },
      element("span", { class: "rod", style: { width: `${largest > 0 ? (100 * share) / largest : 0}%`, minWidth: share > 0 ? "2px" : 0 } }),
      element("span", { class: "number" }, percent(share)),
    );
  const shareOf = (part) => (cost > 0 ? Math.min(part / cost, 1) : 0);
  const largest = Math.max(...bought.cost.map(shareOf), shareOf(bought.others.cost));
  const line = (name, price, rows, share, part) =>
    element(
      "tr", {},
      element("th", { scope: "row" }, name, element("span", { class: "price" }, price)),
      element("td", { class: typeof rows === "string" ? "small soft" : null }, rows), element("td", {}, bar(share, largest)), element("td", { class: "n" }, inCents(part)),
    );
  const rows = bought.sources.flatMap((s, i) =>
    bought.of_rows[i] > 0
      ? [line(S.sources[s].name, `, ${trimmed(S.sources[s].price)}`, bar(bought.of_rows[i], 1), shareOf(bought.cost[i]), bought.cost[i])]
      : [],
  );
  const rest = S.sources.length - rows.length;
  const most = bought.others.of_rows;
  if (rest > 0) rows.push(line(`all others (${rest})`, "", most > 0 ? `each at most ${percent(most)}` : "never", shareOf(bought.others.cost), bought.others.cost));
  $("sources").replaceChildren(...rows);
}

// --- Example rows, always of the delivered model ------------------------------------------------------------

// For squared errors, the root is shown.
const shownUncertainty = (x) => (S.loss_kind === "squared error" ? Math.sqrt(x) : x);

function stepOf(step, k, largest) {
  const width = (x) => `${largest > 0 ? (100 * shownUncertainty(x)) / shownUncertainty(largest) : 0}%`;
  const bought = k ? `${namesOf(step)}` : "nothing bought";
  const answer = step.probability === null ? `${step.answer} ± ${plain(step.expected_error)}` : `${step.answer}, ${percent(step.probability)}`;
  const spoken = `${S.uncertainty_name} ${loss(shownUncertainty(step.uncertainty))}${step.threshold === null ? "" : `, threshold ${loss(shownUncertainty(step.threshold))}`}`;
  return element(
    "li", { class: "step" },
    element("span", {}, bought, element("span", { class: "soft" }, k ? `, now ${trimmed(step.cost)}` : "")),
    element(
      "span", { class: "band", role: "img", "aria-label": spoken },
      element("span", { class: "filled", style: { width: width(step.uncertainty) } }),
      step.threshold === null ? null : element("span", { class: "cut", style: { left: width(step.threshold) } }),
    ),
    step.values ? element("span", { class: "values" }, step.values) : null,
    element("span", { class: "then" }, "→ ", element("span", { class: "tag" }, answer)),
    element("span", { class: "why" }, tied(step.why)),
  );
}

function storyCard(story) {
  const largest = Math.max(...story.steps.flatMap((step) => [step.uncertainty, step.threshold ?? 0]));
  const verdict = story.is_right === null ? `${story.answer}; the truth is ${story.truth}` : story.is_right ? `${story.answer}, which is right` : `${story.answer}, but it is ${story.truth}`;
  return element(
    "article", { class: "story" },
    element("header", {}, element("h3", {}, story.title), element("span", { class: "soft small" }, `row ${story.row}`)),
    element("p", { class: "small" }, element("span", { class: story.is_right === false ? "tag wrong" : "tag" }, verdict), `. Cost ${withUnit(trimmed(story.cost))}.`),
    element("ol", {}, ...story.steps.map((step, k) => stepOf(step, k, largest))),
    story.ending ? element("p", { class: "small soft", style: { marginBottom: 0 } }, story.ending) : null,
  );
}

if (S.stories.length) $("stories").replaceChildren(...S.stories.map(storyCard));
