// Of the narrowest strip: what is thinner than a pixel there is not drawn piece by piece.
const STRIP_PIXELS = 320;

// An axis, or a dim, as one line: which elements are on which rank; padding behind the file's end.
// Of `ranks` in all; where one rank of its mesh dim has it whole, all of them have.
function strip(cut, { label, tick = 0, parent = 0, follow = null, height = 18, unit = "elements", ranks = 1 }) {
  const defs = svg("defs");
  const pads = cut.r.map(padOf);
  const pad = pads.reduce((a, b) => a + b, 0);
  const room = pad ? clamp(3, (100 * pad) / (cut.n + pad), 14) : 0;
  const end = 100 - (pad ? room + 0.6 : 0);
  const x = (n) => (n * end) / cut.n;
  const parts = drawn(cut, STRIP_PIXELS);
  const shared = cut.r.length === 1 && ranks > 1;
  const longest = Math.max(...parts.map(({ who }) => ranksText(who).length));
  const shapes = [];
  const texts = [];
  for (const { a, b, who, turns } of parts) {
    const faded = follow && who.length && !who.some((k) => isOn(coordinates(cut.o, cut.s, k), follow));
    shapes.push(svg("rect", {
      x: `${x(a)}%`, width: `${x(b - a)}%`, y: 0, height, ...paint(defs, cut.o, cut.s, who, shared, turns ? 0 : null), opacity: faded ? 0.16 : null,
    }));
    if (a && x(cut.n) / parts.length > 0.6) shapes.push(svg("line", { class: "edge", x1: `${x(a)}%`, x2: `${x(a)}%`, y1: 0, y2: height }));
    const isEverywhere = who.length === cut.r.length && (cut.r.length > 1 || shared);
    const text = turns ? "" : isEverywhere ? "every rank" : ranksText(who);
    // Where there are many, all have their numbers or none.
    const long = parts.length > NUMBERED ? longest : text.length;
    if (height >= 14 && x(b - a) > long * 1.1 + 0.6) {
      texts.push(svg("text", { class: isEverywhere ? "on-ground" : "on-rank", x: `${x((a + b) / 2)}%`, y: height / 2 + 3.5 }, text));
    }
  }
  if (tick && cut.n / tick <= 130 && cut.n > tick) {
    for (let at = tick; at < cut.n; at += tick) shapes.push(svg("line", { class: "element", x1: `${x(at)}%`, x2: `${x(at)}%`, y1: 0, y2: height }));
  }
  let at = 0;
  pads.forEach((n, k) => {
    if (!n) return;
    const long = (room * n) / pad;
    shapes.push(svg("rect", { class: "padding", x: `${end + 0.6 + at}%`, width: `${long}%`, y: 1, height: height - 2, style: { fill: colour(cut.o, cut.s, k) } }));
    at += long;
  });
  const marks = [];
  if (parent && cut.n / parent <= 130) {
    for (let n = 0; n <= cut.n; n += parent) marks.push(svg("line", { class: "parent", x1: `${x(n)}%`, x2: `${x(n)}%`, y1: height + 1, y2: height + 6 }));
  }
  const node = svg("svg", {
    class: "strip", width: "100%", height: height + (marks.length ? 7 : 0), role: "img", tabindex: 0,
    "aria-label": `${label}: ${plural(cut.n, "element")} over ${plural(cut.r.length, "rank")}. Arrow keys go through them.`,
  }, defs, shapes, texts, marks, svg("rect", { class: "frame", x: 0, y: 0, width: `${end}%`, height }));
  attachStrip(node, cut, x, end, unit, parts, shared);
  return node;
}

function attachStrip(node, cut, x, end, unit, parts, shared) {
  const linesOf = (k) => {
    const runs = cut.r[k];
    const pad = padOf(runs);
    return [
      shared ? "every rank" : rankText(coordinates(cut.o, cut.s, k)),
      `${unit} ${rangesText(runs, 6)} of ${cut.n}: ${whole(realOf(runs))}`,
      pad ? `and ${whole(pad)} of zeros` : null,
    ];
  };
  answers(node, {
    count: cut.r.length,
    under(px, _py, box) {
      const percent = (100 * px) / box.width;
      if (percent > end) return [`${whole(cut.r.reduce((sum, runs) => sum + padOf(runs), 0))} of zeros, not in the file`];
      const n = (percent * cut.n) / end;
      const band = bands(cut).find(({ a, b }) => n >= a && n < b);
      if (!band || !band.who.length) return null;
      const lines = linesOf(band.who[0]);
      if (band.who.length > 1) {
        lines[0] = band.who.length === cut.r.length ? "every rank" : `${cut.o[0]} ranks ${ranksText(band.who)}`;
        lines.push(`${plural(band.who.length, "rank")} hold the same`);
      }
      const { turns, who } = parts.find(({ a, b }) => n >= a && n < b) || band;
      if (turns) lines.push(turnsText(who.length, turns));
      return lines;
    },
    step(k) {
      const runs = cut.r[k];
      const first = runs.length ? runs[0] : [0, 0];
      return { lines: linesOf(k), x: (x((first[0] + first[1]) / 2) * node.getBoundingClientRect().width) / 100, y: 4 };
    },
  });
}
