// Charts that Plotly draws: the curve, and two histograms. Colours are those of the style sheet.

const chartConfig = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };

function chartLayout(more) {
  const axis = {
    gridcolor: colour("rule"), linecolor: colour("rule"), zeroline: false, fixedrange: true, automargin: true,
    tickfont: { color: colour("soft"), size: 12 }, title: { font: { color: colour("soft"), size: 13 } },
  };
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, dragmode: false,
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("ink") },
    margin: { l: 8, r: 12, t: 12, b: 8 }, hovermode: "closest", bargap: 0.08,
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("grey"), font: { color: colour("ink"), size: 13 } },
    ...more,
  };
  for (const name of ["xaxis", "yaxis"]) {
    const given = more[name] ?? {};
    layout[name] = { ...axis, ...given, title: { ...axis.title, ...(given.title ?? {}) } };
  }
  return layout;
}

function label(text, x, y, more = {}) {
  const { color = colour("ink"), ...rest } = more;
  return {
    x, y, text, showarrow: false, xanchor: "left", yanchor: "bottom", xshift: 6, yshift: 2,
    font: { size: narrow() ? 11 : 13, color }, ...rest,
  };
}

// What chance does in 19 of 20 samples of rows.
const twoSigma = 1.96;
const gap = (point) => point.full.cost - point.decided.cost;
const costsOf = (points, counting) => points.map((point) => point[counting].cost);
const scoresOf = (points, counting) => points.map((point) => point[counting].score);

function drawCurve(state) {
  const path = S.points.filter((point) => point.kind === "path");
  const own = S.points[S.delivered];
  const now = S.points[state.point];
  const other = state.counting === "full" ? "decided" : "full";
  const counted = state.counting;
  const farthest = Math.max(...costsOf(S.points, "full"), S.budget ?? 0);
  const scores = [...scoresOf(S.points, counted), S.guess_score];
  const [lowest, highest] = [Math.min(...scores), Math.max(...scores)];
  const room = Math.max(highest - lowest, 1e-6);

  const line = (counting, style) => ({
    type: "scatter", mode: "lines+markers", x: costsOf(path, counting), y: scoresOf(path, counting),
    text: path.map((point) => literal(point[counting].words.value)), customdata: path.map((p) => S.points.indexOf(p)),
    hovertemplate: "%{text}<extra></extra>", ...style,
  });
  const mark = (point, counting, marker) => ({
    type: "scatter", mode: "markers", x: [point[counting].cost], y: [point[counting].score],
    text: [literal(point[counting].words.value)], customdata: [S.points.indexOf(point)],
    hovertemplate: "%{text}<extra></extra>", marker,
  });

  const data = [
    line(other, { line: { color: colour("grey"), width: 1.5 }, marker: { color: colour("grey"), size: 3 } }),
    line(counted, { line: { color: colour("red"), width: 2.5 }, marker: { color: colour("red"), size: 5 } }),
    mark(whole, "full", { symbol: "diamond", size: 12, color: colour("ink") }),
    mark(whole, "decided", { symbol: "diamond-open", size: 11, color: colour("ink"), line: { width: 2 } }),
    mark(own, counted, { symbol: "star", size: 19, color: colour("red"), line: { color: colour("paper"), width: 1.5 } }),
    {
      ...mark(now, counted, { symbol: "circle-open", size: 26, color: colour("ink"), line: { width: 2 } }),
      error_y: { type: "constant", value: twoSigma * now[counted].score_error, color: colour("ink"), thickness: 1, width: 5 },
    },
  ];
  const expectedCost = S.expected?.[counted === "full" ? "full_cost" : "cost"] ?? [];
  if (expectedCost.length) {
    data.unshift({
      type: "scatter", mode: "lines", x: expectedCost, y: S.expected.score, hoverinfo: "skip",
      line: { color: colour("blue"), width: 1.5, dash: "dot" },
    });
  }

  const guessed = isAccuracy ? `always ${S.guess}: ${score(S.guess_score)}, for nothing` : `always the average: ${score(0)}, for nothing`;
  const apart = path.reduce((best, point) => (gap(point) > gap(best) ? point : best));
  const annotations = [
    label("until decided", apart.decided.cost, apart.decided.score, {
      xanchor: "right", xshift: -8, yshift: 4, color: colour(counted === "decided" ? "red-text" : "soft"),
    }),
    label("in full", apart.full.cost, apart.full.score, {
      yanchor: "top", xshift: 8, yshift: -6, color: colour(counted === "full" ? "red-text" : "soft"),
    }),
    label(literal(guessed), farthest, S.guess_score, { xanchor: "right", xshift: 0, color: colour("soft") }),
    label(literal(whole.name), whole.full.cost, whole.full.score, { xanchor: "right", xshift: 4, yshift: 9 }),
  ];
  const across = (y) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, layer: "below", line: { color: colour("grey"), width: 1, dash: "dot" },
  });
  const shapes = [across(S.guess_score), across(whole.full.score)];
  if (S.budget !== null && S.counting === counted) {
    shapes.push({
      type: "line", yref: "paper", x0: S.budget, x1: S.budget, y0: 0, y1: 1,
      line: { color: colour("ink"), width: 1, dash: "dash" },
    });
    annotations.push(
      label(literal(`budget ${withUnit(plain(S.budget))}`), S.budget, 0, { yref: "paper", yshift: 4, color: colour("soft") }),
    );
  }
  annotations.push(
    label("your model", own[counted].cost, own[counted].score, {
      yanchor: "top", xshift: 10, yshift: -8, color: colour("red-text"),
    }),
  );
  Plotly.react(
    "curve", data,
    chartLayout({
      annotations, shapes,
      xaxis: { title: { text: literal(`average cost of a prediction${S.unit ? ` (${S.unit})` : ""}`) }, range: [-0.02 * farthest, 1.04 * farthest] },
      yaxis: {
        title: { text: narrow() ? "" : S.score_name }, tickformat: isAccuracy ? ".0%" : ".2f",
        range: [lowest - 0.08 * room, highest + 0.12 * room],
      },
    }),
    chartConfig,
  );
}

// The largest cost shown changes in steps, so that the axis mostly stays where it is.
function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((limit) => limit >= x * (1 - 1e-9));
}

function drawSpread(state) {
  const { bars, cost } = S.points[state.point][state.counting];
  const middles = bars.left.map((left) => left + bars.width / 2);
  const farthest = roundUp(Math.max(bars.left.at(-1) + bars.width, cost, 1e-9));
  const isLeft = cost < 0.65 * farthest;
  Plotly.react(
    "spread",
    [
      {
        type: "bar", x: middles, y: bars.share, width: bars.left.map(() => 0.92 * bars.width),
        marker: { color: colour("red"), opacity: 0.75 },
        text: bars.share.map((share, i) => `${percent(share)} of the rows cost ${costRange(bars, i)}`),
        textposition: "none", hovertemplate: "%{text}<extra></extra>",
      },
    ],
    chartLayout({
      shapes: [{ type: "line", yref: "paper", x0: cost, x1: cost, y0: 0, y1: 1, line: { color: colour("ink"), width: 1.5 } }],
      annotations: [
        label(`average ${amount(cost)}`, cost, 1, {
          yref: "paper", yanchor: "top", yshift: 0, xanchor: isLeft ? "left" : "right", xshift: isLeft ? 6 : -6,
        }),
      ],
      xaxis: { title: { text: literal(`cost of one prediction${S.unit ? ` (${S.unit})` : ""}`) }, range: [Math.min(bars.left[0], 0) - 0.01 * farthest, farthest], showgrid: false },
      yaxis: { title: { text: narrow() ? "" : "share of the rows" }, tickformat: ".0%", range: [0, Math.max(...bars.share) * 1.18], nticks: 5 },
    }),
    chartConfig,
  );
}

function costRange(bars, i) {
  if (bars.left[0] < 0) return plain(bars.left[i] + bars.width / 2);
  return `${plain(bars.left[i])} to ${plain(bars.left[i] + bars.width)}`;
}

function drawResiduals(state) {
  const edges = S.residual_edges;
  const width = edges[1] - edges[0];
  const middles = edges.slice(1).map((edge) => edge - width / 2);
  const shares = (point, counting) => {
    const counts = point[counting].residuals;
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count) => count / total);
  };
  const mine = shares(S.points[state.point], state.counting);
  const before = shares(whole, "full");
  Plotly.react(
    "residuals",
    [
      {
        type: "bar", x: middles, y: mine, width: middles.map(() => 0.92 * width), marker: { color: colour("red"), opacity: 0.75 },
        text: mine.map((share, i) => `${percent(share)} of the rows: ${plain(edges[i])} to ${plain(edges[i + 1])}`),
        textposition: "none", hovertemplate: "%{text}<extra></extra>",
      },
      {
        type: "scatter", mode: "lines", x: middles, y: before, line: { color: colour("ink"), width: 1.5, shape: "hvh" }, hoverinfo: "skip",
      },
    ],
    chartLayout({
      annotations: [
        label(`line: ${literal(whole.name.toLowerCase())}`, 1, 1, { xref: "paper", yref: "paper", xanchor: "right", yanchor: "top", xshift: 0, color: colour("soft") }),
      ],
      shapes: [{ type: "line", yref: "paper", x0: 0, x1: 0, y0: 0, y1: 1, line: { color: colour("grey"), width: 1, dash: "dot" } }],
      xaxis: { title: { text: "prediction minus truth" }, showgrid: false },
      yaxis: { title: { text: narrow() ? "" : "share of the rows" }, tickformat: ".0%", nticks: 5, rangemode: "tozero" },
    }),
    chartConfig,
  );
}
