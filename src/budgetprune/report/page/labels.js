// Direct labels instead of a legend, placed where they overlap least.

// Positions of a label relative to its point: shares of its width and height, plus a distance in pixels.
const sides = [
  { xanchor: "left", yanchor: "top", x: 0, y: 0, dx: 8, dy: 6 },
  { xanchor: "left", yanchor: "bottom", x: 0, y: -1, dx: 8, dy: -6 },
  { xanchor: "right", yanchor: "bottom", x: -1, y: -1, dx: -8, dy: -6 },
  { xanchor: "center", yanchor: "bottom", x: -0.5, y: -1, dx: 0, dy: -11 },
  { xanchor: "center", yanchor: "top", x: -0.5, y: 0, dx: 0, dy: 11 },
  { xanchor: "right", yanchor: "top", x: -1, y: 0, dx: -8, dy: 6 },
  { xanchor: "left", yanchor: "top", x: 0, y: 0, dx: 16, dy: 14 },
  { xanchor: "left", yanchor: "bottom", x: 0, y: -1, dx: 16, dy: -14 },
  { xanchor: "right", yanchor: "bottom", x: -1, y: -1, dx: -16, dy: -14 },
  { xanchor: "right", yanchor: "top", x: -1, y: 0, dx: -16, dy: 14 },
];

const pen = document.createElement("canvas").getContext("2d");

class Labels {
  // Takes the ranges of both axes; their sizes in pixels are approximate.
  constructor(chart, [left, right], [low, high]) {
    this.width = chart.clientWidth - (narrow() ? 60 : 80);
    this.height = chart.clientHeight - 60;
    this.across = (x) => ((x - left) / (right - left)) * this.width;
    this.down = (y) => (1 - (y - low) / (high - low)) * this.height;
    this.fontSize = narrow() ? 11 : 13;
    pen.font = `${this.fontSize}px ${getComputedStyle(document.body).fontFamily}`;
    this.dots = [];
    this.boxes = [];
  }

  avoidLine(xs, ys) {
    for (let i = 1; i < xs.length; i++) {
      const [x0, y0, x1, y1] = [this.across(xs[i - 1]), this.down(ys[i - 1]), this.across(xs[i]), this.down(ys[i])];
      const n = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 5) || 1;
      for (let k = 0; k <= n; k++) this.dots.push([x0 + (k / n) * (x1 - x0), y0 + (k / n) * (y1 - y0)]);
    }
  }

  avoidSteps(points) {
    const corners = stepsOf(points);
    this.avoidLine(corners.map(([x]) => x), corners.map(([, y]) => y));
  }

  avoidMark(x, y, radius) {
    this.boxes.push([this.across(x) - radius, this.across(x) + radius, this.down(y) - radius, this.down(y) + radius]);
  }

  // Returns an annotation at the point and side with the least overlap. If it still overlaps a line or another
  // label, it is omitted, unless `must` is set.
  place(text, points, color, { must = false } = {}) {
    const [width, height] = [pen.measureText(text).width + 4, 1.3 * this.fontSize];
    let best = null;
    for (const [x, y] of points) {
      for (const [rank, side] of sides.entries()) {
        const [left, top] = [this.across(x) + side.x * width + side.dx, this.down(y) + side.y * height + side.dy];
        const box = [left, left + width, top, top + height];
        const overlap = this.overlap(box) + 0.1 * rank;
        if (best === null || overlap < best.overlap) best = { overlap, x, y, side, box };
      }
    }
    if (best === null || (best.overlap >= 1 && !must)) return [];
    const [left, right, top, bottom] = best.box;
    this.boxes.push([left - 8, right + 8, top, bottom]);
    const { xanchor, yanchor, dx, dy } = best.side;
    const font = { size: this.fontSize, color: colour(color) };
    return [{ text: literal(text), x: best.x, y: best.y, xanchor, yanchor, xshift: dx, yshift: -dy, showarrow: false, font, borderpad: 0 }];
  }

  overlap([left, right, top, bottom]) {
    const nDots = this.dots.filter(([x, y]) => x > left && x < right && y > top && y < bottom).length;
    const nBoxes = this.boxes.filter(([l, r, t, b]) => left < r && right > l && top < b && bottom > t).length;
    const outside = left < 0 || right > this.width || top < 0 || bottom > this.height;
    return nDots + 20 * nBoxes + 200 * outside;
  }
}
