// One tree as a drawing (kept branches red, pruned ones grey) and as nested text.

const childrenOf = S.tree.parent.map(() => []);
S.tree.parent.forEach((parent, h) => parent >= 0 && childrenOf[parent].push(h));

function staysSplit(point, h) {
  if (!childrenOf[h].length) return false;
  if (point.kind === "unpruned") return true;
  if (point.kind === "delivered") return S.tree.is_delivered[h];
  return S.tree.critical_lambda[h] === null || S.tree.critical_lambda[h] > point.lam;
}

// Horizontal position by leaf, vertical by depth. Nodes are in pre-order, so children have larger numbers.
function treePlaces() {
  const depth = [];
  S.tree.parent.forEach((parent, h) => depth.push(parent < 0 ? 0 : depth[parent] + 1));
  const across = new Array(depth.length);
  let nLeaves = 0;
  for (let h = 0; h < depth.length; h++) if (!childrenOf[h].length) across[h] = nLeaves++;
  for (let h = depth.length - 1; h >= 0; h--) {
    const [first, second] = childrenOf[h];
    if (first !== undefined) across[h] = (across[first] + across[second]) / 2;
  }
  return { depth, across, nLeaves };
}

const places = treePlaces();

function drawTree(state) {
  const point = S.points[state.point];
  const width = Math.max($("tree").clientWidth, 280);
  const [side, top, step] = [12, 12, 46];
  const bottom = top + (Math.max(...places.depth) + 0.9) * step;
  const x = (h) => side + ((places.across[h] + 0.5) * (width - 2 * side)) / places.nLeaves;
  const y = (h) => top + places.depth[h] * step;
  const [gone, stays, dots, texts] = [[], [], [], []];
  const isReached = [];
  S.tree.parent.forEach((parent, h) => {
    isReached[h] = parent < 0 || (isReached[parent] && staysSplit(point, parent));
    if (parent >= 0) {
      // Draw horizontally first and then down, so that there is space for the condition below a split.
      const round = Math.sign(x(h) - x(parent)) * Math.min(7, Math.abs(x(h) - x(parent)));
      const line = `M${x(parent)} ${y(parent)}H${x(h) - round}Q${x(h)} ${y(parent)} ${x(h)} ${y(parent) + Math.abs(round)}V${y(h)}`;
      (isReached[h] ? stays : gone).push(line);
    }
    if (isReached[h] && !staysSplit(point, h)) dots.push(svg("circle", { class: "leaf", cx: x(h), cy: y(h), r: 4 }));
    else if (!isReached[h] && !childrenOf[h].length) dots.push(svg("circle", { class: "twig", cx: x(h), cy: y(h), r: 1.6 }));
    if (isReached[h]) texts.push(h);
  });
  const drawing = svg(
    "svg", { class: "tree", viewBox: `0 0 ${width} ${bottom}`, "aria-hidden": "true" },
    svg("path", { class: "gone", d: gone.join("") }), svg("path", { class: "stays", d: stays.join("") }), ...dots,
  );
  $("tree").replaceChildren(drawing);
  labelTree(drawing, texts, point, x, y, width);
  $("tree-words").textContent = point.tree;
  $("outline").replaceChildren(outline(0, point));
}

const answerOf = (h, point) => (point.kind === "delivered" && S.tree.refitted[h]) || S.tree.answer[h];

// Splits a long label into two lines: feature and condition, or class and share.
function inTwo(words, isSplit) {
  const at = isSplit ? Math.max(words.lastIndexOf(" ≤ "), words.indexOf(" is ")) : words.lastIndexOf(" ");
  return at < 0 ? [words] : [words.slice(0, at), words.slice(at + 1)];
}

// Writes words into the given width, with an ellipsis in the middle if needed; false if they do not fit.
function fitted(text, words, room) {
  text.textContent = words;
  let left = words.length;
  for (let length = text.getComputedTextLength(); length > room; length = text.getComputedTextLength()) {
    left = Math.min(left - 1, Math.floor((left * room) / length));
    if (left < 7) return false;
    text.textContent = `${words.slice(0, Math.ceil(left / 2) - 1)}…${words.slice(words.length - Math.floor(left / 2))}`;
  }
  return true;
}

// Horizontal space for the label of a node, between the branches to the nodes of the next level.
function roomBelow(h, x, width) {
  const beside = places.depth.flatMap((depth, k) => (depth === places.depth[h] + 1 ? [x(k)] : []));
  return [Math.max(0, ...beside.filter((at) => at < x(h))) + 5, Math.min(width, ...beside.filter((at) => at > x(h))) - 5];
}

// Labels are placed between branches. Labels that would overlap are omitted; the text below has all of them.
function labelTree(drawing, nodes, point, x, y, width) {
  const taken = [];
  const byDepth = [...nodes].sort((a, b) => places.depth[a] - places.depth[b]);
  for (const h of byDepth) {
    const isSplit = staysSplit(point, h);
    const words = isSplit ? S.tree.question[h] : answerOf(h, point);
    const [from, to] = roomBelow(h, x, width);
    const text = svg("text", { class: isSplit ? "question" : "answer", "text-anchor": "middle" });
    drawing.append(text);
    text.textContent = words;
    const parts = text.getComputedTextLength() <= to - from ? [words] : inTwo(words, isSplit);
    text.textContent = "";
    const lines = parts.map(() => text.appendChild(svg("tspan")));
    const isWhole = lines.map((line, i) => fitted(line, parts[i], to - from)).every(Boolean);
    const half = Math.max(...lines.map((line) => line.getComputedTextLength())) / 2;
    const middle = Math.min(Math.max(x(h), from + half), to - half);
    const first = y(h) + (isSplit ? 16 : 18);
    lines.forEach((line, i) => [["x", middle], ["y", first + 13 * i]].forEach(([name, at]) => line.setAttribute(name, at)));
    text.append(svg("title", {}, words));
    const box = [middle - half - 4, middle + half + 4, first - 12, first + 13 * (lines.length - 1) + 4];
    if (isWhole && taken.every(([l, r, t, b]) => box[1] < l || box[0] > r || box[3] < t || box[2] > b)) taken.push(box);
    else text.remove();
  }
}

function outline(h, point) {
  const list = element("ul", h === 0 ? { class: "outline" } : {});
  if (!staysSplit(point, h)) {
    list.append(element("li", {}, answerOf(h, point)));
    return list;
  }
  const branch = (words, child) => {
    const isLeaf = !staysSplit(point, child);
    return element("li", {}, `${words}: `, isLeaf ? answerOf(child, point) : outline(child, point));
  };
  const [yes, no] = childrenOf[h];
  list.append(element("li", {}, `${S.tree.question[h]}?`), branch("yes", yes), branch("no", no));
  return list;
}
