// Panels of all pages: figures and the confusion matrix.

function figure(id, number, before) {
  $(id).textContent = number;
  $(`${id}-before`).textContent = before;
}

function drawFigures(state) {
  const mine = S.points[state.point][state.counting];
  const all = comparedIn(state.counting);
  const name = whole.name.toLowerCase();
  figure("cost", amount(mine.cost), `${name}: ${amount(all.cost)}`);
  figure("score", score(mine.score), `${name}: ${score(all.score)}`);
  figure("bought", oneDecimal.format(mine.n_bought), `${name}: ${oneDecimal.format(all.n_bought)}`);
  if (isAccuracy) {
    const nRows = mine.confusion.flat().reduce((sum, count) => sum + count, 0);
    const before = nRows === S.n_rows ? all.n_wrong.toLocaleString("en") : percent(1 - all.score);
    figure("wrong", mine.n_wrong.toLocaleString("en"), `of ${nRows.toLocaleString("en")}; ${name}: ${before}`);
  } else {
    figure("wrong", significant(mine.mean_off), `${name}: ${significant(all.mean_off)}`);
  }
  if (S.error_costs !== null) {
    const total = (outcome) => amount(outcome.cost + outcome.error_cost);
    figure("loss", amount(mine.error_cost), `${name}: ${amount(all.error_cost)}`);
    figure("total", total(mine), `${name}: ${total(all)}`);
  }
}

function drawMatrix(state) {
  const counts = S.points[state.point][state.counting].confusion;
  const cell = (count, total, isRight) => {
    const share = total ? count / total : 0;
    const shade = isRight || !count ? {} : { background: `rgb(var(--shade) / ${Math.min(0.15 + share, 0.6)})` };
    return element("td", { class: isRight ? "right" : null, style: shade }, count.toLocaleString("en"));
  };
  const rows = counts.map((row, i) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return element(
      "tr", {},
      element("th", { scope: "row" }, S.classes[i]),
      ...row.map((count, j) => cell(count, total, i === j)),
      element("td", { class: "share" }, total ? percent(row[i] / total) : "–"), // recall
    );
  });
  const precisions = counts.map((_, j) => {
    const total = counts.reduce((sum, row) => sum + row[j], 0);
    return element("td", { class: "share" }, total ? percent(counts[j][j] / total) : "–");
  });
  const last = element("tr", {}, element("th", { scope: "row", class: "share" }, "precision"), ...precisions, element("td", { class: "share" }));
  $("matrix").replaceChildren(...rows, last);
}
