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
}

function drawMatrix(state) {
  const counts = S.points[state.point][state.counting].confusion;
  const cell = (count, total, isRight) => {
    const share = total ? count / total : 0;
    const shade = isRight || !count ? {} : { background: `rgb(var(--shade) / ${Math.min(0.15 + 1.5 * share, 0.85)})` };
    return element("td", { class: isRight ? "right" : null, style: shade }, count.toLocaleString("en"));
  };
  const rows = counts.map((row, i) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return element(
      "tr", {},
      element("th", { scope: "row" }, S.classes[i]),
      ...row.map((count, j) => cell(count, total, i === j)),
      element("td", { class: "share" }, total ? percent(row[i] / total) : "–"),
    );
  });
  $("matrix").replaceChildren(...rows);
}
