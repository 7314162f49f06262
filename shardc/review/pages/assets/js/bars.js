// Bytes of every rank as columns: its own, what other ranks hold too, and zeros.
const PARTS = [["own", "on this rank alone"], ["replicated", "on other ranks too"], ["padding-part", "padding (zeros)"]];
const partsOf = ([local, replicated, padding]) => [local - replicated - padding, replicated, padding];

// `bytes` by world rank; `rankOf` gives a rank's name, `tint` its colour; `most` is the height of the scale.
function barChart(bytes, { rankOf, tint, most, follow = null }) {
  const top = most || Math.max(...bytes.map(([local]) => local), 1);
  const columns = bytes.map((one, i) =>
    el("div", { class: follow !== null && follow !== i ? "bar faded" : "bar" },
      partsOf(one).map((part, p) => part > 0 && el("div", { class: `part ${PARTS[p][0]}`, style: { height: `${(100 * part) / top}%`, background: p ? null : tint(i) } })).reverse()));
  for (const [i, column] of columns.entries()) column.style.setProperty("--tint", tint(i));
  const chart = el("div", {
    class: "bars", role: "img", tabindex: 0,
    "aria-label": `Bytes of ${plural(bytes.length, "rank")}. Arrow keys go through them.`,
  }, columns);
  const linesOf = (i) => [
    rankOf(i), bytesText(bytes[i][0]) + (bytes[i][0] >= 1024 ? ` (${whole(bytes[i][0])} bytes)` : ""),
    ...partsOf(bytes[i]).map((part, p) => part > 0 && `${bytesText(part)} ${PARTS[p][1]}`),
  ];
  answers(chart, {
    count: bytes.length,
    under: (x, _y, box) => linesOf(clamp(0, Math.floor((x * bytes.length) / box.width), bytes.length - 1)),
    step: (i) => ({ lines: linesOf(i), x: ((i + 0.5) * chart.clientWidth) / bytes.length, y: 20 }),
  });
  const every = Math.ceil(bytes.length / 16);
  return el("div", { class: "chart" },
    el("div", { class: "chart-scale", "aria-hidden": "true" }, [1, 0.5, 0].map((part) => el("span", null, bytesText(Math.round(top * part))))),
    el("div", { class: "chart-body" }, chart,
      el("div", { class: "chart-ranks", "aria-hidden": "true" }, bytes.map((_, i) => el("span", null, i % every ? "" : i)))));
}

function barLegend(bytes) {
  const used = [0, 1, 2].filter((p) => bytes.some((one) => partsOf(one)[p] > 0));
  return el("ul", { class: "legend" }, used.map((p) => el("li", null, el("i", { class: `swatch ${PARTS[p][0]}` }), PARTS[p][1])));
}
