// The curve of a staged model: on the given rows, cross-fitted, and with all rows stopping at the same stage.

const fixedStages = S.chains[S.points[S.delivered].chain].filter((stage) => stage.paid <= (S.max_cost ?? Infinity));

function drawCurve(state) {
  const curve = byCost(S.points.filter((point) => point.kind !== "everything"), "decided");
  const [own, now] = [S.points[S.delivered], S.points[state.point]];
  const expected = S.points.filter((point) => point.expected_score !== null);
  const fixed = fixedStages.map((stage) => [stage.paid, height(stage.score)]);
  const ranges = rangesOf(curve, expected, fixed, now);
  const [bottom, top] = ends(now.decided);
  const middle = height(now.decided.score);
  const mark = (point, marker) => ({
    type: "scatter", mode: "markers", x: [point.decided.cost], y: [height(point.decided.score)],
    text: [literal(point.decided.words.value)], customdata: [S.points.indexOf(point)], hovertemplate: "%{text}<extra></extra>", marker,
  });
  const blue = (y, style) => ({ type: "scatter", mode: "lines", x: expected.map((p) => p.expected_cost), y: expected.map(y).map(height), hoverinfo: "skip", ...style });
  const data = [
    blue((p) => p.expected_score - p.expected_score_std, { line: { shape: "hv", width: 0 } }),
    blue((p) => p.expected_score + p.expected_score_std, { line: { shape: "hv", width: 0 }, fill: "tonexty", fillcolor: faded(colour("blue")) }),
    blue((p) => p.expected_score, { line: { shape: "hv", color: colour("blue"), width: 1.5, dash: "dot" } }),
    {
      type: "scatter", mode: "lines+markers", x: fixed.map(([x]) => x), y: fixed.map(([, y]) => y),
      text: fixedStages.map((stage, k) => literal(`All rows stop at stage ${k}: cost ${withUnit(trimmed(stage.paid))}, ${S.score_name} ${score(stage.score)}`)),
      hovertemplate: "%{text}<extra></extra>", line: { shape: "hv", color: colour("grey"), width: 1.5 }, marker: { color: colour("grey"), size: 5 },
    },
    {
      type: "scatter", mode: "lines+markers", x: curve.map((p) => p.decided.cost), y: curve.map((p) => height(p.decided.score)),
      text: curve.map((p) => literal(p.decided.words.value)), customdata: curve.map((p) => S.points.indexOf(p)),
      hovertemplate: "%{text}<extra></extra>", line: { shape: "hv", color: colour("red"), width: 2.5 }, marker: { color: colour("red"), size: 5 },
    },
    mark(whole, { symbol: "diamond", size: 12, color: colour("ink") }),
    ...rivalTraces("decided"),
    ...(recommendedPoint === null ? [] : [mark(recommendedPoint, { symbol: "hexagon", size: 13, color: colour("blue"), line: { color: colour("paper"), width: 1.5 } })]),
    mark(own, { symbol: "star", size: 19, color: colour("red"), line: { color: colour("paper"), width: 1.5 } }),
    {
      ...mark(now, { symbol: "circle-open", size: 26, color: colour("ink"), line: { width: 2 } }),
      error_y: { type: "data", symmetric: false, array: [top - middle], arrayminus: [middle - bottom], color: colour("ink"), thickness: 1, width: 5 },
    },
  ];
  const shapes = [
    { type: "line", xref: "paper", x0: 0, x1: 1, y0: height(S.guess_score), y1: height(S.guess_score), layer: "below", line: { color: colour("grey"), width: 1, dash: "dot" } },
  ];
  if (S.budget !== null) {
    shapes.push({ type: "line", yref: "paper", x0: S.budget, x1: S.budget, y0: 0, y1: 1, line: { color: colour("ink"), width: 1, dash: "dash" } });
  }
  Plotly.react(
    "curve", data,
    curveLayout(ranges, shapes, nameCurve(ranges, curve, expected, fixed, own, now)),
    chartConfig,
  );
}

// The axes leave out points that are far from all selectable ones: acquiring everything, and acquiring nothing.
function rangesOf(curve, expected, fixed, now) {
  const near = Math.max(S.rival === null ? 0 : S.rival.decided.cost, ...curve.map((p) => p.decided.cost), ...expected.map((p) => p.expected_cost), now.decided.cost, S.budget ?? 0) || 1;
  const farthest = whole.decided.cost > 2.5 * near ? 1.5 * near : Math.max(near, whole.decided.cost);
  const bought = [...curve.filter((p) => p.decided.cost > 0), now, ...(whole.decided.cost <= farthest ? [whole] : [])];
  const spread = expected.filter((p) => p.expected_cost > 0).flatMap((p) => [p.expected_score - p.expected_score_std, p.expected_score + p.expected_score_std]);
  const high = [...(S.rival === null ? [] : [rivalPlace("decided")[1]]), ...bought.flatMap((p) => ends(p.decided)), ...spread.map(height), ...fixed.filter(([x]) => x > 0 && x <= farthest).map(([, y]) => y)];
  const low = [...S.points.flatMap((p) => ends(p.decided)), ...fixed.map(([, y]) => y), height(S.guess_score)];
  const [least, most] = [Math.min(...high), Math.max(...high)];
  const isFar = least - Math.min(...low) > most - least;
  const bottom = isFar ? least : Math.min(least, ...low);
  const room = Math.max(most - bottom, 1e-6);
  return [[-0.02 * farthest, 1.04 * farthest], [bottom - 0.08 * room, most + 0.12 * room]];
}

function nameCurve(ranges, curve, expected, fixed, own, now) {
  const labels = new Labels($("curve"), ...ranges);
  const place = (point) => [point.decided.cost, height(point.decided.score)];
  const guess = height(S.guess_score);
  const [low, high] = ranges[1];
  labels.avoidSteps(curve.map(place));
  labels.avoidSteps(fixed);
  labels.avoidSteps(expected.map((p) => [p.expected_cost, height(p.expected_score)]));
  labels.avoidMark(...place(whole), 8);
  labels.avoidMark(...place(own), 10);
  if (recommendedPoint !== null) labels.avoidMark(...place(recommendedPoint), 8);
  labels.avoidMark(...place(now), 15);
  if (S.rival !== null) labels.avoidMark(...rivalPlace("decided"), 8);
  labels.avoidLine([now.decided.cost, now.decided.cost], ends(now.decided));
  labels.avoidLine(ranges[0], [guess, guess]);
  if (S.budget !== null) labels.avoidLine([S.budget, S.budget], ranges[1]);
  const beyond = own === now ? ends(own.decided).map((y) => [own.decided.cost, y]) : [];
  const guessed = `always ${isAccuracy ? S.guess : "the average"}: ${score(S.guess_score)}`;
  const named = [
    ...labels.place(ownName, [place(own), ...beyond], "red-text", { must: true }),
  ];
  if (recommendedPoint !== null) named.push(...labels.place("recommended", [place(recommendedPoint)], "blue-text"));
  if (S.rival !== null) named.push(...labels.place(S.rival.name, [rivalPlace("decided")], "violet"));
  const [right, everything] = [ranges[0][1], whole.name.toLowerCase()];
  if (whole.decided.cost <= right) named.push(...labels.place(everything, [place(whole)], "ink", { must: true }));
  else {
    const corner = [0.96, 0.9, 0.84, 0.78, 0.5].map((part) => [right, low + part * (high - low)]);
    const inFull = labels.place(`${everything}: ${withUnit(trimmed(whole.decided.cost))}, ${score(whole.decided.score)} →`, corner, "ink");
    named.push(...(inFull.length ? inFull : labels.place(`${everything} →`, corner, "ink", { must: true })));
  }
  const along = [1, 0.8, 0.6, 0.4].map((part) => part * right);
  if (guess > low) named.push(...labels.place(guessed, along.map((x) => [x, guess]), "soft"));
  else named.push(...labels.place(`${guessed} ↓`, along.map((x) => [x, low]), "soft"));
  if (S.budget !== null) {
    const heights = [0.3, 0.4, 0.5, 0.2, 0.6, 0.1, 0.7].map((part) => [S.budget, low + part * (high - low)]);
    named.push(...labels.place(`budget ${withUnit(trimmed(S.budget))}`, heights, "soft"));
  }
  named.push(...labels.place("all stop at one stage", fixed.slice(1).filter(([x]) => x < right), "grey-text"));
  if (expected.length) named.push(...labels.place("cross-fitted", expected.map((p) => [p.expected_cost, height(p.expected_score)]), "blue-text"));
  return named;
}

// Converts a colour #rrggbb of the style sheet to a transparent one, for areas.
const faded = (hex) => `rgba(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(",")},0.12)`;
