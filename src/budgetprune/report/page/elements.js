// Small helpers. Text is always inserted as text, never as markup.

const S = JSON.parse(document.getElementById("summary").textContent);
// Reference point of all comparisons, and its numbers with costs counted in the same way.
const whole = S.points[S.points.length - 1];
const comparedIn = (counting) => whole[counting];
// The recommended point, unless it is the delivered model.
const recommendedPoint = S.recommended === null || S.recommended === S.delivered ? null : S.points[S.recommended];
const ownName = S.recommended === S.delivered ? "your model, recommended" : "your model";
const isAccuracy = S.task === "classification";

const $ = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") Object.assign(made.style, value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const threeDigits = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
// Three significant digits, or cents if they are finer.
const cents = { maximumSignificantDigits: 3, maximumFractionDigits: 2, roundingPriority: "morePrecision" };
const withCents = new Intl.NumberFormat("en", { ...cents, minimumSignificantDigits: 3, minimumFractionDigits: 2 });
const atMostCents = new Intl.NumberFormat("en", cents);
const fewDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const oneDecimal = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

const isExtreme = (x) => x !== 0 && (Math.abs(x) < 1e-6 || Math.abs(x) >= 1e15);
const significant = (x) => (x === 0 ? "0" : isExtreme(x) ? x.toExponential(2) : Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : threeDigits.format(x));
// Costs from 100,000 on are shown without cents.
const hasCents = (x) => x !== 0 && !isExtreme(x) && Math.abs(x) < 1e5;
const amount = (x) => (hasCents(x) ? withCents.format(x) : significant(x));
// A price or the cost of one row, without trailing zeros.
const trimmed = (x) => (hasCents(x) ? atMostCents.format(x) : plain(x));
const plain = (x) => (isExtreme(x) ? Number(x.toPrecision(3)).toExponential() : fewDigits.format(x));
const inCents = (x) => (x > 0 && x < 0.005 ? "< 0.01" : x.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }));
const percent = (x) => (x > 0 && x < 0.005 ? "<\u00a01\u00a0%" : x > 0.995 && x < 1 ? ">\u00a099\u00a0%" : `${Math.round(100 * x)}\u00a0%`);
const score = (x) => (isAccuracy ? `${(100 * x).toFixed(1)}\u00a0%` : x.toFixed(3));
// No line break between numbers and their signs and units.
const tied = (text) => text.replace(/ %/g, "\u00a0%").replace(/± /g, "±\u00a0");
const withUnit = (text) => (S.unit ? `${text} ${S.unit}` : text);
const capitalised = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Plotly interprets some markup in text; escape text from data.
const literal = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const narrow = () => window.innerWidth < 600;
