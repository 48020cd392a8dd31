// Reliability diagram: probabilities compared with observed shares, and the number of rows of each group.

function drawProbabilities(state) {
  const { probabilities: measures, probability_words: words } = S.points[state.point][state.counting];
  $("probability-words").textContent = tied(words);
  $("calibration").closest("section").hidden = measures === null;
  if (measures === null) return;
  const { predicted, observed, n_rows: nRows, label: name } = measures.calibration;
  const title = name === null ? "probability of the predicted class" : `probability of ${name}`;
  const spoken = predicted.map((x, i) => `probability ${percent(x)}: ${percent(observed[i])} of ${nRows[i].toLocaleString("en")}`);
  $("calibration").setAttribute("aria-label", `Reliability diagram. ${words} ${capitalised(spoken.join("; "))}.`);
  const most = Math.max(...nRows);
  const texts = predicted.map((x, i) => `${nRows[i].toLocaleString("en")} rows with a probability of ${percent(x)} on average; observed: ${percent(observed[i])}`);
  Plotly.react(
    "calibration",
    [
      {
        type: "bar", x: predicted.map((x) => 100 * x), y: nRows.map((n) => (25 * n) / most), width: predicted.map(() => 6),
        marker: { color: colour("grey"), opacity: 0.35 }, hoverinfo: "skip",
      },
      {
        type: "scatter", mode: "lines+markers", x: predicted.map((x) => 100 * x), y: observed.map((x) => 100 * x),
        line: { color: colour("red"), width: 1.5 }, marker: { color: colour("red"), size: 9 },
        text: texts, hovertemplate: "%{text}<extra></extra>",
      },
    ],
    chartLayout("calibration", {
      shapes: [{ type: "line", x0: 0, x1: 100, y0: 0, y1: 100, layer: "below", line: { color: colour("grey"), width: 1, dash: "dot" } }],
      xaxis: { title: { text: literal(title) }, ticksuffix: " %", range: [-3, 103] },
      yaxis: { title: { text: narrow() ? "" : "observed share" }, ticksuffix: " %", range: [-3, 103], nticks: 6 },
    }),
    chartConfig,
  );
}
