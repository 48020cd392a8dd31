// Two models or budgets side by side. The other one is a point, or the model that was given to compare with.

const mostDifferences = 8;
const others = [
  ...(S.rival === null ? [] : [{ id: "rival", name: S.rival.name }]),
  ...S.points.map((point, i) => ({ id: String(i), name: point.name })).reverse(),
];

function firstOther() {
  if (S.rival !== null) return "rival";
  return String(recommendedPoint === null ? S.points.length - 1 : S.recommended);
}

function otherOf(id, counting) {
  if (id === "rival") return { name: S.rival.name, outcome: S.rival[counting], sources: S.rival.sources };
  return { name: S.points[id].name, outcome: S.points[id][counting], sources: S.sources };
}

function boughtBy({ bought }, sources) {
  return new Map(bought.sources.map((s, i) => [sources[s].name, bought.of_rows[i]]));
}

function differenceInWords(own, other, name) {
  const cost = own.cost - other.cost;
  const gained = own.score - other.score;
  // Both were measured on the same rows, so the error of the difference is at most this.
  const margin = twoSigma * Math.hypot(own.score_error, other.score_error);
  const shown = (x) => (isAccuracy ? `${(100 * x).toFixed(1)} points` : x.toFixed(3));
  const change = other.cost > 0 ? ` (${percent(Math.abs(cost) / other.cost)})` : "";
  const costs = cost === 0 ? `costs as much as ${name}` : `costs ${withUnit(amount(Math.abs(cost)))} ${cost < 0 ? "less" : "more"} than ${name}${change}`;
  const scores = gained === 0 ? "is as good" : `is ${shown(Math.abs(gained))} ${gained > 0 ? "better" : "worse"} (random error at most ± ${shown(margin)})`;
  return `${costs}, and ${scores}.`;
}

function drawCompare(state) {
  const point = S.points[state.point];
  const isRival = $("other").value === "rival";
  const isMixed = isRival && state.counting === "full" && S.rival.full === null;
  const counting = isMixed ? "decided" : state.counting;
  const own = point[counting];
  const { name, outcome, sources } = otherOf($("other").value, counting);
  const isPaired = isRival && state.point === S.delivered;
  const words = isPaired ? outcome.words.verdict : `${point.name} ${differenceInWords(own, outcome, isRival ? name : name.toLowerCase())}`;
  $("compare-words").textContent = tied(words + (isMixed ? " Costs of both are counted until a row stops." : ""));
  for (const [id, text] of [["side-own", point.name], ["side-other", name]]) {
    $(id).textContent = text;
    $(`${id}-sources`).textContent = text;
  }
  $("side").replaceChildren(
    ...S.fact_names.map((fact, i) =>
      element("tr", {}, element("th", { scope: "row" }, fact), element("td", { class: "n" }, tied(own.facts[i])), element("td", { class: "n" }, tied(outcome.facts[i]))),
    ),
  );
  const [mine, theirs] = [boughtBy(own, S.sources), boughtBy(outcome, sources)];
  const gap = (source) => Math.abs((mine.get(source) ?? 0) - (theirs.get(source) ?? 0));
  const top = [...new Set([...mine.keys(), ...theirs.keys()])].filter((source) => gap(source) >= 0.005).sort((a, b) => gap(b) - gap(a));
  const share = (map, source) => (map.has(source) ? percent(map.get(source)) : "–");
  const rows = top.slice(0, mostDifferences).map((source) =>
    element("tr", {}, element("th", { scope: "row" }, source), element("td", { class: "n" }, share(mine, source)), element("td", { class: "n" }, share(theirs, source))),
  );
  const none = element("tr", {}, element("td", { colspan: 3, class: "soft" }, `Both buy the same ${S.noun}.`));
  $("side-sources").replaceChildren(...(rows.length ? rows : [none]));
}

$("other").replaceChildren(...others.map(({ id, name }) => element("option", { value: id }, id === "rival" ? name : literalCost(id, name))));

// Points of a select need their costs, because their names are numbers.
function literalCost(id, name) {
  return `${name}, ${withUnit(amount(S.points[id][S.counting].cost))}`;
}

$("other").value = firstOther();
$("other").addEventListener("change", () => redraw());
