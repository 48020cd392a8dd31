// Panels of a pruned model: sources, example rows, effect of a larger budget, feature usage.

const wordsShown = ["verdict", "spread", "bought", "wrong"];
const onPaper = { curve: ["670px", "340px"], spread: ["670px", "190px"], residuals: ["670px", "190px"], calibration: ["670px", "230px"], tree: ["670px", ""] };

function drawOwn(state, go) {
  $("spread").setAttribute("aria-label", `Distribution of the cost of a prediction. ${S.points[state.point][state.counting].words.spread}`);
  drawSpread(state);
  drawSources(state);
  drawChoices(state, go);
  if (S.stories.length) drawStories(state);
  drawUsage(state);
  drawTree(state);
}

function pair(before, after, largest, format) {
  const rod = (value, kind) => element("span", { class: `rod ${kind}`, style: { width: `${largest > 0 ? Math.min((100 * value) / largest, 100) : 0}%`, minWidth: value > 0 ? "2px" : 0 } });
  return element(
    "span", { class: "pair" },
    rod(before, "before"), element("span", { class: "number before" }, element("span", { class: "hidden" }, "before "), format(before)),
    rod(after, "after"), element("span", { class: "number after" }, element("span", { class: "hidden" }, "after "), format(after)),
  );
}

function drawSources(state) {
  const { bought } = S.points[state.point][state.counting];
  const { others } = bought;
  const largest = Math.max(...bought.cost, ...bought.reference_cost);
  const rows = bought.sources.map((s, i) =>
    element(
      "tr", {},
      element("th", { scope: "row" }, S.sources[s].name, element("span", { class: "price" }, `, ${trimmed(S.sources[s].price)}`)),
      element("td", {}, pair(bought.reference_of_rows[i], bought.of_rows[i], 1, percent)),
      element("td", {}, pair(bought.reference_cost[i], bought.cost[i], largest, inCents)),
    ),
  );
  if (others.cost > 0 || others.reference_cost > 0) {
    rows.push(
      element(
        "tr", {},
        element("th", { scope: "row" }, `all others (${others.number})`),
        element("td", { class: "small soft" }, `each at most ${percent(others.of_rows)}`),
        element("td", {}, pair(others.reference_cost, others.cost, largest, inCents)),
      ),
    );
  }
  $("sources").replaceChildren(...rows);
}

function drawChoices(state, go) {
  const { more, less, words } = S.points[state.point][state.counting];
  for (const [name, change] of [["more", more], ["less", less]]) {
    $(`${name}-words`).textContent = tied(words[name]);
    const button = $(`${name}-go`);
    button.hidden = change.point === null;
    button.onclick = () => go(change.point);
  }
}

function drawStories(state) {
  const { tellings } = S.points[state.point];
  $("stories").replaceChildren(...S.stories.map((story, i) => storyCard(story, tellings[i], state.counting)));
}

function storyCard(story, telling, counting) {
  const low = isAccuracy ? 0 : Math.min(...telling.lower);
  const high = isAccuracy ? 1 : Math.max(...telling.upper);
  const place = (x) => `${high > low ? (100 * (x - low)) / (high - low) : 50}%`;
  const wide = (from, to) => `${high > low ? (100 * (to - from)) / (high - low) : 0}%`;
  const shown = (x) => (isAccuracy ? percent(x) : plain(x));
  const band = (n) => {
    const [from, to, guess] = [telling.lower[n], telling.upper[n], telling.guess[n]];
    return element(
      "span", { class: "band", role: "img", "aria-label": `between ${shown(from)} and ${shown(to)}, best guess ${shown(guess)}` },
      element("span", { class: "range", style: { left: place(from), width: wide(from, to) } }),
      telling.cut === null ? null : element("span", { class: "cut", style: { left: place(telling.cut) } }),
      element("span", { class: "guess", style: { left: place(guess) } }),
    );
  };
  // A value is shown at the step after which it is known.
  const valuesOf = (n) => {
    const { features, n_more: nMore } = telling.known[n];
    return features.map((k) => story.values[k]).join(", ") + (nMore ? ` and ${nMore} more` : "");
  };
  let paid = 0;
  const steps = telling.sources.map((s, n) => {
    const { name, price } = S.sources[s];
    paid += price;
    return element(
      "li", {},
      element("span", {}, name, element("span", { class: "soft" }, ` +${trimmed(price)}${n ? `, now ${trimmed(paid)}` : ""}`)),
      element("span", { class: "values" }, valuesOf(n + 1)),
      band(n + 1),
    );
  });
  const left = telling.n_bought - telling.sources.length;
  const verdict = telling.is_right === null ? `${telling.answer}; the truth is ${story.truth}` : telling.is_right ? `${telling.answer}, which is right` : `${telling.answer}, but it is ${story.truth}`;
  return element(
    "article", { class: "story" },
    element("header", {}, element("h3", {}, story.title), element("span", { class: "soft small" }, `row ${story.row}`)),
    element("p", { class: "small" }, element("span", { class: telling.is_right === false ? "tag wrong" : "tag" }, verdict), `. Cost ${withUnit(trimmed(telling.cost))}${counting === "full" ? " until decided" : ""}.`),
    element("div", { class: "scale" }, element("span", {}), element("span", {}, element("span", {}, shown(low)), element("span", { class: "middle" }, isAccuracy ? telling.answer : ""), element("span", {}, shown(high)))),
    element("ol", {}, element("li", {}, element("span", { class: "soft" }, "nothing bought"), element("span", { class: "values" }, valuesOf(0)), band(0)), ...steps),
    left > 0 ? element("p", { class: "small soft" }, `… and ${left} more.`) : null,
    element("p", { class: "small", style: { marginBottom: 0 } }, telling.ending),
  );
}

function drawUsage(state) {
  const room = $("usage").clientWidth * (narrow() ? 1 : 0.85);
  const names = ["never", "few", "many"];
  const words = ["never tested", "1 to 7 times", "more often"];
  const stack = (shares) => {
    const parts = shares.map((share, i) =>
      element("span", { class: names[i], style: { width: `${100 * share}%` }, title: `${words[i]}: ${percent(share)}` }, share * room > 40 ? percent(share) : ""),
    );
    const spoken = shares.map((share, i) => `${words[i]} ${percent(share)}`).join(", ");
    return element("div", { class: "stack", role: "img", "aria-label": spoken }, ...parts);
  };
  const name = S.points[state.point].name;
  $("usage").replaceChildren(
    element("span", { class: "soft" }, whole.name), stack(whole.usage),
    element("span", {}, name), stack(S.points[state.point].usage),
    element("p", { class: "legend small soft", "aria-hidden": "true" }, ...words.map((word, i) => element("span", {}, element("span", { class: `swatch ${names[i]}` }), word))),
  );
}
