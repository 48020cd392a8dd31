// Charts of a pruned model: the curve with both ways to count costs, and the distribution of costs.

function drawCurve(state) {
  const path = S.points.filter((point) => point.kind === "path");
  const own = S.points[S.delivered];
  const now = S.points[state.point];
  const best = recommendedPoint;
  const other = state.counting === "full" ? "decided" : "full";
  const counted = state.counting;
  const farthest = Math.max(...costsOf(S.points, "full"), S.budget ?? 0, S.rival === null ? 0 : rivalPlace(counted)[0]);
  const expectedCost = S.expected?.[counted === "full" ? "full_cost" : "cost"] ?? [];
  const expectedScore = expectedCost.length ? S.expected.score.map(height) : [];
  const rivalScores = S.rival === null ? [] : rivalTraces(counted).flatMap(({ y }) => y);
  const scores = [...rivalScores, ...S.points.flatMap((point) => ends(point[counted])), ...expectedScore, height(S.guess_score)];
  const [lowest, highest] = [Math.min(...scores), Math.max(...scores)];
  const room = Math.max(highest - lowest, 1e-6);
  const [bottom, top] = ends(now[counted]);
  const middle = height(now[counted].score);

  const line = (counting, { line: style, marker }) => {
    const points = byCost(path, counting);
    return {
      type: "scatter", mode: "lines+markers", x: costsOf(points, counting), y: scoresOf(points, counting),
      text: points.map((point) => literal(point[counting].words.value)), customdata: points.map((p) => S.points.indexOf(p)),
      hovertemplate: "%{text}<extra></extra>", line: { shape: "hv", ...style }, marker,
    };
  };
  const mark = (point, counting, marker) => ({
    type: "scatter", mode: "markers", x: [point[counting].cost], y: [height(point[counting].score)],
    text: [literal(point[counting].words.value)], customdata: [S.points.indexOf(point)],
    hovertemplate: "%{text}<extra></extra>", marker,
  });

  const data = [
    line(other, { line: { color: colour("grey"), width: 1.5 }, marker: { color: colour("grey"), size: 3 } }),
    line(counted, { line: { color: colour("red"), width: 2.5 }, marker: { color: colour("red"), size: 5 } }),
    mark(whole, "full", { symbol: "diamond", size: 12, color: colour("ink") }),
    mark(whole, "decided", { symbol: "diamond-open", size: 11, color: colour("ink"), line: { width: 2 } }),
    ...rivalTraces(counted),
    ...(best === null ? [] : [mark(best, counted, { symbol: "hexagon", size: 13, color: colour("blue"), line: { color: colour("paper"), width: 1.5 } })]),
    mark(own, counted, { symbol: "star", size: 19, color: colour("red"), line: { color: colour("paper"), width: 1.5 } }),
    {
      ...mark(now, counted, { symbol: "circle-open", size: 26, color: colour("ink"), line: { width: 2 } }),
      error_y: { type: "data", symmetric: false, array: [top - middle], arrayminus: [middle - bottom], color: colour("ink"), thickness: 1, width: 5 },
    },
  ];
  if (expectedCost.length) {
    data.unshift({
      type: "scatter", mode: "lines", x: expectedCost, y: expectedScore, hoverinfo: "skip",
      line: { shape: "vh", color: colour("blue"), width: 1.5, dash: "dot" }, // from expensive to cheap
    });
  }

  const ranges = [[-0.02 * farthest, 1.04 * farthest], [lowest - 0.08 * room, highest + 0.12 * room]];
  const across = (y) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, layer: "below", line: { color: colour("grey"), width: 1, dash: "dot" },
  });
  const shapes = [across(height(S.guess_score)), across(height(whole.full.score))];
  if (S.budget !== null && S.counting === counted) {
    shapes.push({
      type: "line", yref: "paper", x0: S.budget, x1: S.budget, y0: 0, y1: 1, line: { color: colour("ink"), width: 1, dash: "dash" },
    });
  }
  Plotly.react(
    "curve", data,
    curveLayout(ranges, shapes, nameCurve(ranges, path, own, now, counted, expectedCost)),
    chartConfig,
  );
}

function nameCurve(ranges, path, own, now, counted, expectedCost) {
  const labels = new Labels($("curve"), ...ranges);
  const place = (point, counting) => [point[counting].cost, height(point[counting].score)];
  const isBudgetShown = S.budget !== null && S.counting === counted;
  labels.avoidSteps(expectedCost.map((x, i) => [x, height(S.expected.score[i])]).reverse());
  for (const counting of ["full", "decided"]) {
    labels.avoidSteps(byCost(path, counting).map((point) => place(point, counting)));
    labels.avoidMark(...place(whole, counting), 8);
  }
  labels.avoidMark(...place(own, counted), 10);
  if (recommendedPoint !== null) labels.avoidMark(...place(recommendedPoint, counted), 8);
  labels.avoidMark(...place(now, counted), 15);
  if (S.rival !== null) labels.avoidMark(...rivalPlace(counted), 8);
  labels.avoidLine([now[counted].cost, now[counted].cost], ends(now[counted]));
  for (const level of [S.guess_score, whole.full.score]) labels.avoidLine(ranges[0], [height(level), height(level)]);
  if (isBudgetShown) labels.avoidLine([S.budget, S.budget], ranges[1]);

  const guessed = `always ${isAccuracy ? S.guess : "the average"}: ${score(S.guess_score)}`;
  const [low, high] = ranges[1];
  const alongGuess = [1, 0.8, 0.6, 0.4].map((part) => [part * ranges[0][1], height(S.guess_score)]);
  const heights = [0.3, 0.4, 0.5, 0.2, 0.6, 0.1, 0.7].map((part) => [S.budget, low + part * (high - low)]);
  const name = whole.name.toLowerCase();
  const beyond = own === now ? ends(own[counted]).map((y) => [own[counted].cost, y]) : [];
  const named = [
    ...labels.place(ownName, [place(own, counted), ...beyond], "red-text", { must: true }),
    ...labels.place(name, [place(whole, "full")], "ink", { must: true }),
    ...(recommendedPoint === null ? [] : labels.place("recommended", [place(recommendedPoint, counted)], "blue-text")),
    ...(S.rival === null ? [] : labels.place(S.rival.name, [rivalPlace(counted)], "violet")),
  ];
  const inFull = labels.place(`${guessed}, at no cost`, alongGuess, "soft");
  named.push(...(inFull.length ? inFull : labels.place(guessed, alongGuess, "soft")));
  if (isBudgetShown) named.push(...labels.place(`budget ${withUnit(trimmed(S.budget))}`, heights, "soft"));
  // Label the two lines where they are far apart.
  const apart = path.filter((point) => point.full.cost - point.decided.cost > 0.04 * whole.full.cost);
  const line = (counting, text) => {
    const corners = stepsOf(byCost(apart, counting).map((point) => place(point, counting)));
    const points = corners.flatMap(([x, y], i) => {
      const [nextX, nextY] = corners[i + 1] ?? [x, y];
      return [0, 0.25, 0.5, 0.75].map((part) => [x + part * (nextX - x), y + part * (nextY - y)]);
    });
    return labels.place(text, points, counting === counted ? "red-text" : "grey-text");
  };
  if (apart.length) {
    named.push(...line("full", "in full"), ...line("decided", "until decided"));
    if (!narrow()) named.push(...labels.place(`${name}, until decided`, [place(whole, "decided")], "ink"));
  }
  return named;
}

function drawSpread(state) {
  const { bars, cost } = S.points[state.point][state.counting];
  const middles = bars.left.map((left) => left + bars.width / 2);
  const isLattice = bars.left[0] < 0; // one bar per cost, centred on it
  const last = bars.left.length - 1;
  const farthest = bars.left[last] + bars.width;
  const average = Math.min(cost, farthest);
  const isLeft = average < 0.65 * farthest;
  const every = Math.ceil(middles.length / (narrow() ? 6 : 12));
  const ticks = isLattice ? { tickvals: middles.filter((_, i) => i % every === 0), tickformat: "~g" } : {};
  Plotly.react(
    "spread",
    [
      {
        type: "bar", x: middles, y: bars.share.map((share) => 100 * share), width: bars.left.map(() => (isLattice ? 0.7 : 0.94) * bars.width),
        marker: { color: colour("red"), opacity: 0.75 },
        text: bars.share.map((share, i) => `${percent(share)} of the rows cost ${costRange(bars, i)}`),
        textposition: "none", hovertemplate: "%{text}<extra></extra>",
      },
    ],
    chartLayout("spread", {
      shapes: [{ type: "line", yref: "paper", x0: average, x1: average, y0: 0, y1: 1, line: { color: colour("ink"), width: 1.5 } }],
      annotations: [
        label(`average ${amount(cost)}`, average, 1, {
          yref: "paper", yanchor: "top", yshift: 0, xanchor: isLeft ? "left" : "right", xshift: isLeft ? 6 : -6,
        }),
        ...(bars.is_open ? [label("more →", farthest, 100 * bars.share[last], { xanchor: "right", xshift: 0, color: colour("soft") })] : []),
      ],
      xaxis: { title: { text: literal(`cost of one prediction${S.unit ? ` (${S.unit})` : ""}`) }, range: [bars.left[0], farthest], showgrid: false, ...ticks },
      yaxis: { title: { text: narrow() ? "" : "share of the rows" }, ticksuffix: " %", range: [0, Math.max(...bars.share) * 118], nticks: 5 },
    }),
    chartConfig,
  );
}

function costRange(bars, i) {
  if (bars.is_open && i === bars.left.length - 1) return `${trimmed(bars.left[0] < 0 ? bars.left[i] + bars.width / 2 : bars.left[i])} or more`;
  if (bars.left[0] < 0) return trimmed(bars.left[i] + bars.width / 2);
  return `${trimmed(bars.left[i])} to ${trimmed(bars.left[i] + bars.width)}`;
}
