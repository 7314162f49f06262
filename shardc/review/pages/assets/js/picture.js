// A tensor as a rectangle, rows down and columns across, on a log scale: {s shape, m marks, pic [rows, columns, …], b}.
const LEFT = 54;
const LABELS = 136; // Beside the rectangle, where segments have names: no more than this.
const PAD_GAP = 5;
const clamp = (low, n, high) => Math.max(low, Math.min(n, high));
const NO_DIM = { n: 1, o: [], s: [], r: [[[0, 1]]] };
const LONGEST = 210;
const THINNEST_PADDING = 2;
const NUMBERED = 16; // So many pieces are large enough for the number of a rank.

// The plan of a picture: its two cuts, the ranks that tell pieces apart, and its places in pixels.
// `ranks` are all of the mesh: a tensor that is not cut is on every one. A picture `beside` it is as large.
function pictureOf(row, cuts, ranks, beside = null) {
  const [r, c] = row.pic;
  const down = r < 0 ? NO_DIM : cuts[r];
  const across = c < 0 ? NO_DIM : cuts[c];
  const who = joint([down, across]);
  const rows = drawn(down, LONGEST, bordersOf(row.m[r]));
  const columns = drawn(across, LONGEST, bordersOf(row.m[c]));
  let h = clamp(10, Math.max(8 + 5.4 * Math.log2(down.n + 1), roomOf(rows.length)), LONGEST);
  let w = c < 0 ? 26 : clamp(14, Math.max(12 + 11 * Math.log2(across.n + 1), roomOf(columns.length, 13)), LONGEST);
  if (beside && beside.down.n === down.n) h = Math.max(h, beside.h);
  if (beside && beside.across.n === across.n) w = Math.max(w, beside.w);
  const padRows = down.r.some((runs) => padOf(runs)) ? clamp(8, 3 * down.r.length, 30) : 0;
  const padColumns = across.r.some((runs) => padOf(runs)) ? clamp(8, 3 * across.r.length, 30) : 0;
  const named = words(row.m[r], (n) => n).map(({ word }) => word.length);
  const right = named.length ? Math.min(LABELS, Math.ceil(14 + 6.1 * Math.max(...named))) : 26;
  const width = LEFT + w + (padColumns ? PAD_GAP + padColumns : 0) + right;
  const below = (row.m[c] && row.m[c].length > 1) || columns.length > NUMBERED ? 13 : 0;
  const top = c < 0 ? 4 : 15;
  const height = top + h + (padRows ? PAD_GAP + padRows : 0) + below + 3;
  const shared = who.ranks.length === 1 && ranks > 1;
  return { row, cuts, shared, top, down, across, who, rows, columns, w, h, padRows, padColumns, width, height };
}

// Pixels for so many pieces: a number fits into each of a few, a colour into each of many.
const roomOf = (pieces, each = 11.5) => (pieces <= NUMBERED ? each * pieces : clamp(130, 3.5 * pieces, LONGEST));

function bordersOf(marks) {
  let at = 0;
  return (marks || []).map(([size]) => (at += size));
}

function draw(picture, follow, before = "") {
  const { row, top, down, across, who, rows, columns, w, h } = picture;
  const defs = svg("defs");
  const pieces = svg("g", { transform: `translate(${LEFT} ${top})` });
  const y = (n) => (n * h) / (down.n || 1);
  const x = (n) => (n * w) / (across.n || 1);
  const cells = [];
  for (const rowBand of rows) {
    for (const columnBand of columns) {
      const held = holders(picture, rowBand, columnBand);
      const box = { x: x(columnBand.a), y: y(rowBand.a), width: x(columnBand.b - columnBand.a), height: y(rowBand.b - rowBand.a) };
      const faded = follow && held.length && !held.some((k) => isOn(who.ranks[k], follow));
      const turns = rowBand.turns ? 90 : columnBand.turns ? 0 : null;
      pieces.append(svg("rect", { ...box, ...paint(defs, who.over, who.sizes, held, picture.shared, turns), opacity: faded ? 0.16 : null }));
      cells.push({ ...box, held, rowBand, columnBand });
      const isEverywhere = turns === null && held.length > 1 && held.length === who.ranks.length;
      const inTurn = `${whole(rowBand.turns || columnBand.turns || 0)} in turn`;
      if (who.ranks.length > 1 && !isEverywhere) numberIn(pieces, box, ...(turns === null ? [ranksText(held)] : [inTurn, "in turn"]));
    }
  }
  drawLines(pieces, cells, picture);
  drawMarks(pieces, row, picture, x, y);
  numbersBeside(pieces, picture, x, y);
  drawPadding(pieces, defs, picture, follow);
  pieces.append(svg("rect", { class: "frame", width: w, height: h }));
  const outline = svg("g", { class: "outline" });
  pieces.append(outline);
  const [r, c] = row.pic;
  const sizes = [
    r >= 0 ? svg("text", { class: "size", x: LEFT - 6, y: top + h / 2 + 3, "text-anchor": "end" }, down.n) : null,
    c >= 0 ? svg("text", { class: "size", x: LEFT + w / 2, y: top - 5, "text-anchor": "middle" }, across.n) : null,
  ];
  const node = svg("svg", {
    class: "picture", width: picture.width, height: picture.height, viewBox: `0 0 ${picture.width} ${picture.height}`,
    role: "img", tabindex: 0, "aria-label": before + pictureLabel(picture),
  }, defs, sizes, pieces);
  attachAnswers(node, picture, cells, outline);
  return node;
}

// The first of the texts that fits into a box, if any.
function numberIn(pieces, box, ...texts) {
  const text = texts.find((one) => box.height >= 9.5 && String(one).length * 5.6 <= box.width - 1.5);
  if (text === undefined) return;
  pieces.append(svg("text", { class: box.isGround ? "on-ground" : "on-rank", x: box.x + box.width / 2, y: box.y + box.height / 2 + 3.5 }, text));
}

// Numbers of ranks that are too many to be numbered in place: of one every few, along the side.
function numbersBeside(pieces, { row, down, across, w, h, rows, columns }, x, y) {
  const [r, c] = row.pic;
  const along = (cut, parts, marks, scale, step, place) => {
    const isOnceEach = new Set(parts.map(({ who }) => who.join())).size === parts.length;
    if (parts.length <= NUMBERED || !isOnceEach || words(marks, scale).length) return;
    let free = 0;
    for (const { a, b, who } of parts) {
      const middle = scale((a + b) / 2);
      if (who.length !== 1 || middle < free) continue;
      pieces.append(svg("text", { class: "beside", ...place(middle) }, who[0]));
      free = middle + step;
    }
  };
  along(down, rows, row.m[r], y, 13, (at) => ({ x: w + 5, y: at + 3.5 }));
  along(across, columns, row.m[c], x, 20, (at) => ({ x: at, y: h + 11, "text-anchor": "middle" }));
}

const isOn = (rank, world) => Object.entries(rank).every(([dim, at]) => (world[dim] || 0) === at);

function holders({ who }, rowBand, columnBand) {
  const [rowAt, columnAt] = who.at;
  const out = [];
  for (let k = 0; k < who.ranks.length; k += 1) {
    if (rowBand.who.includes(rowAt[k]) && columnBand.who.includes(columnAt[k])) out.push(k);
  }
  return out;
}

// Hairlines between pieces that are wide enough to bear one.
function drawLines(pieces, cells, { w, h, rows, columns }) {
  const line = (room, ends) => room >= 3 && pieces.append(svg("line", { class: room < 6 ? "edge thin" : "edge", ...ends }));
  for (const { y, rowBand, columnBand } of cells) if (rowBand.a && !columnBand.a) line(h / rows.length, { x1: 0, x2: w, y1: y, y2: y });
  for (const { x, rowBand, columnBand } of cells) if (columnBand.a && !rowBand.a) line(w / columns.length, { x1: x, x2: x, y1: 0, y2: h });
}

// Zeros that the file does not have: below the rectangle for rows, beside it for columns; a box a rank, or one for all
// where those would be too thin.
function drawPadding(pieces, defs, picture, follow) {
  const { down, across, w, h, padRows, padColumns } = picture;
  const lay = (cut, room, box) => {
    const pads = cut.r.map(padOf);
    const all = pads.reduce((a, b) => a + b, 0);
    const some = pads.filter(Boolean).length;
    let at = 0;
    if (room < THINNEST_PADDING * some) {
      const whole = box(0, room - 1);
      pieces.append(svg("rect", { ...whole, class: "padding many" }));
      numberIn(pieces, { ...whole, isGround: true }, plural(some, "rank"));
      return;
    }
    pads.forEach((pad, k) => {
      if (!pad) return;
      const long = (room * 0.5) / some + (room * 0.5 * pad) / all;
      const faded = follow && !isOn(coordinates(cut.o, cut.s, k), follow);
      const place = box(at, Math.max(long - 1, 1));
      pieces.append(svg("rect", {
        ...place, class: long < 5 ? "padding thin" : "padding",
        style: { fill: colour(cut.o, cut.s, k) }, opacity: faded ? 0.2 : null,
      }));
      numberIn(pieces, { ...place, isGround: true }, k);
      at += long;
    });
  };
  if (padRows) lay(down, padRows, (at, long) => ({ x: 0, y: h + PAD_GAP + at, width: w, height: long }));
  if (padColumns) lay(across, padColumns, (at, long) => ({ x: w + PAD_GAP + at, y: 0, width: long, height: h }));
}
