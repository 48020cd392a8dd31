// Plotly layout and the histogram of residuals. Colours come from the style sheet.

const chartConfig = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: false };

// Sizes are set explicitly, because Plotly would measure them too late for printing.
function chartLayout(name, more) {
  const axis = {
    gridcolor: colour("rule"), linecolor: colour("rule"), zeroline: false, fixedrange: true, automargin: true,
    tickfont: { color: colour("soft"), size: 12 }, title: { font: { color: colour("soft"), size: 13 } },
  };
  const layout = {
    width: $(name).clientWidth, height: $(name).clientHeight,
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

// Layout of the curve of score against cost.
function curveLayout(ranges, shapes, annotations) {
  return chartLayout("curve", {
    shapes, annotations,
    xaxis: { title: { text: literal(`average cost of a prediction${S.unit ? ` (${S.unit})` : ""}`) }, range: ranges[0] },
    yaxis: { title: { text: narrow() ? "" : S.score_name }, ticksuffix: isAccuracy ? " %" : "", range: ranges[1] },
  });
}

// Curve and point of the model to compare with; nothing if there is none.
function rivalTraces(counting) {
  if (S.rival === null) return [];
  const outcome = S.rival[counting] ?? S.rival.decided;
  const text = literal(`${S.rival.name}: cost ${withUnit(amount(outcome.cost))}, ${S.score_name} ${score(outcome.score)}`);
  return [
    {
      type: "scatter", mode: "lines", x: outcome.curve.cost, y: outcome.curve.score.map(height), hoverinfo: "skip",
      line: { shape: "hv", color: colour("violet"), width: 1.5, dash: "dash" },
    },
    {
      type: "scatter", mode: "markers", x: [outcome.cost], y: [height(outcome.score)], text: [text], hovertemplate: "%{text}<extra></extra>",
      marker: { symbol: "square", size: 13, color: colour("violet"), line: { color: colour("paper"), width: 1.5 } },
    },
  ];
}

const rivalPlace = (counting) => {
  const outcome = S.rival[counting] ?? S.rival.decided;
  return [outcome.cost, height(outcome.score)];
};

function label(text, x, y, more = {}) {
  const { color = colour("ink"), ...rest } = more;
  return {
    x, y, text, showarrow: false, xanchor: "left", yanchor: "bottom", xshift: 6, yshift: 2,
    font: { size: narrow() ? 11 : 13, color }, ...rest,
  };
}

// Factor of a 95 % interval.
const twoSigma = 1.96;
// Corners of a step function, from cheap to expensive: a budget between two models gives the cheaper one.
const stepsOf = (points) => points.flatMap(([x, y], i) => (i ? [[x, points[i - 1][1]], [x, y]] : [[x, y]]));
const byCost = (points, counting) => [...points].sort((a, b) => a[counting].cost - b[counting].cost);
const costsOf = (points, counting) => points.map((point) => point[counting].cost);
const scoresOf = (points, counting) => points.map((point) => height(point[counting].score));
// Accuracies are drawn in per cent, as they are written in the text.
const height = (score) => (isAccuracy ? 100 * score : score);

// Ends of a point's error bar; shares are clipped to [0, 1].
function ends({ score, score_error: error }) {
  const [low, high] = [score - twoSigma * error, score + twoSigma * error];
  return (isAccuracy ? [Math.max(low, 0), Math.min(high, 1)] : [low, high]).map(height);
}

function drawResiduals(state) {
  const edges = S.residual_edges;
  const width = edges[1] - edges[0];
  const middles = edges.slice(1).map((edge) => edge - width / 2);
  const shares = (outcome) => {
    const counts = outcome.residuals;
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count) => (100 * count) / total);
  };
  const mine = shares(S.points[state.point][state.counting]);
  const before = shares(comparedIn(state.counting));
  Plotly.react(
    "residuals",
    [
      {
        type: "bar", x: middles, y: mine, width: middles.map(() => 0.92 * width), marker: { color: colour("red"), opacity: 0.75 },
        text: mine.map((share, i) => `${percent(share / 100)} of the rows: ${plain(edges[i])} to ${plain(edges[i + 1])}`),
        textposition: "none", hovertemplate: "%{text}<extra></extra>",
      },
      {
        type: "scatter", mode: "lines", x: middles, y: before, line: { color: colour("ink"), width: 1.5, shape: "hvh" }, hoverinfo: "skip",
      },
    ],
    chartLayout("residuals", {
      annotations: [
        label(`line: ${literal(whole.name.toLowerCase())}`, 1, 1, { xref: "paper", yref: "paper", xanchor: "right", yanchor: "top", xshift: 0, color: colour("soft") }),
      ],
      shapes: [{ type: "line", yref: "paper", x0: 0, x1: 0, y0: 0, y1: 1, line: { color: colour("grey"), width: 1, dash: "dot" } }],
      xaxis: { title: { text: "prediction minus truth" }, showgrid: false },
      yaxis: { title: { text: narrow() ? "" : "share of the rows" }, ticksuffix: " %", nticks: 5, rangemode: "tozero" },
    }),
    chartConfig,
  );
}
