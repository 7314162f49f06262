// What a picture says under the pointer, and rank by rank with the arrow keys.
const rankText = (rank) => Object.entries(rank).map(([dim, at]) => `${dim} rank ${at}`).join(", ") || "every rank";

function pictureLabel({ row, who }) {
  const cut = who.over.length ? `cut over ${who.over.join(" and ")}, ${plural(who.ranks.length, "part")}` : "whole on every rank";
  return `${row.t}, ${shapeText(row.s)}: ${cut}. Arrow keys go through its ranks.`;
}

function attachAnswers(node, picture, cells, outline) {
  const { who, top, down, across, w, h, padRows, padColumns } = picture;
  const mark = (held) => outline.replaceChildren(...cells.filter((cell) => cell.held.some((k) => held.includes(k)) && held.length < who.ranks.length)
    .map(({ x, y, width, height }) => svg("rect", { x, y, width, height })));
  const inPadding = (cut, room, at) => {
    const pads = cut.r.map((runs, k) => [padOf(runs), k]).filter(([pad]) => pad);
    const all = pads.reduce((sum, [pad]) => sum + pad, 0);
    for (const [pad, k] of pads) {
      at -= (room * 0.5) / pads.length + (room * 0.5 * pad) / all;
      if (at < 0) return k;
    }
    return -1;
  };
  answers(node, {
    count: who.ranks.length,
    under(px, py, box) {
      const scale = box.width / picture.width;
      const x = px / scale - LEFT;
      const y = py / scale - top;
      const cell = cells.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
      if (cell) {
        mark(cell.held);
        return cellLines(picture, exactly(picture, cell, x, y));
      }
      mark([]);
      const beside = x >= 0 && x < w && y >= h + PAD_GAP ? inPadding(down, padRows, y - h - PAD_GAP) : -1;
      if (beside >= 0 && padRows) return paddingLines(down, beside, "rows");
      const right = y >= 0 && y < h && x >= w + PAD_GAP ? inPadding(across, padColumns, x - w - PAD_GAP) : -1;
      return right >= 0 && padColumns ? paddingLines(across, right, "columns") : null;
    },
    step(k) {
      mark([k]);
      const cell = cells.find((one) => one.held.includes(k)) || { x: 0, y: h, width: w, height: 0 };
      const scale = node.getBoundingClientRect().width / picture.width;
      return { lines: rankLines(picture, k), x: (LEFT + cell.x + cell.width / 2) * scale, y: (top + cell.y + cell.height) * scale - 8 };
    },
    leave: () => mark([]),
  });
}

// What is under the pointer, also where a cell stands for many pieces that are too thin to be drawn.
function exactly(picture, { held, rowBand, columnBand }, x, y) {
  const { down, across, w, h } = picture;
  const at = (cut, band, n) => (band.turns ? bands(cut).find(({ a, b }) => n >= a && n < b) || band : band);
  const exact = { rowBand: at(down, rowBand, (y * down.n) / h), columnBand: at(across, columnBand, (x * across.n) / w) };
  const turns = Math.max(rowBand.turns || 0, columnBand.turns || 0);
  return { ...exact, held: turns ? holders(picture, exact.rowBand, exact.columnBand) : held, turns, among: held.length };
}

function cellLines(picture, { held, rowBand, columnBand, turns, among }) {
  const { who } = picture;
  if (!held.length) return ["no rank keeps this", here(picture, rowBand, columnBand)];
  const lines = rankLines(picture, held[0], [rowBand, columnBand]);
  if (held.length === who.ranks.length) lines[0] = "every rank";
  else if (held.length > 1) {
    lines[0] = who.over.length === 1 ? `${who.over[0]} ranks ${ranksText(held)}` : plural(held.length, "rank");
    lines.push(`${plural(held.length, "rank")} hold the same`);
  }
  if (turns) lines.push(turnsText(among, turns));
  return lines;
}

const turnsText = (ranks, turns) => `${plural(ranks, "rank")} take turns here, ${plural(turns, "piece")}: too thin to draw`;

const here = ({ down, across }, rowBand, columnBand) =>
  `rows ${rowBand.a}..${rowBand.b} of ${down.n}, columns ${columnBand.a}..${columnBand.b} of ${across.n}`;

// Rank, rows, columns and bytes; where a rank has several regions, also which of them is pointed at.
function rankLines(picture, k, at) {
  const { row, who, down, across } = picture;
  const lines = [rankText(who.ranks[k])];
  const side = (cut, number, name, band) => {
    const runs = cut.r[number];
    const several = expand(runs.slice(0, 9)).length > 1;
    const pad = padOf(runs);
    lines.push(`${name} ${rangesText(runs, 4)} of ${cut.n}`);
    if (several && band) lines.push(`here ${name} ${Math.round(band.a)}..${Math.round(band.b)}`);
    if (pad) lines.push(`and ${whole(pad)} ${name} of zeros`);
  };
  if (row.pic[0] >= 0) side(down, who.at[0][k], "rows", at && at[0]);
  if (row.pic[1] >= 0) side(across, who.at[1][k], "columns", at && at[1]);
  const bytes = bytesOn(picture, who.ranks[k]);
  lines.push(`${shapeText(localShape(picture, who.ranks[k]))} here: ${bytesText(bytes)}${bytes >= 1024 ? ` (${whole(bytes)} bytes)` : ""}`);
  return lines;
}

const paddingLines = (cut, k, name) =>
  [rankText(coordinates(cut.o, cut.s, k)), `${whole(padOf(cut.r[k]))} ${name} of zeros, not in the file`];

// The local shape of all dims; those that no picture shows are taken of rank 0 of what cuts them.
const localShape = (picture, rank) => picture.cuts.map((cut) => localOf(cut.r[numberOf(cut, rank)]));
const bytesOn = (picture, rank) => product(localShape(picture, rank)) * picture.row.b;
