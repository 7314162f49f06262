// One row a kind of tensor: its picture, its words, its figures, and its regions on demand.
const cutsOf = (mesh, i) => mesh.rows[i].slice(0, -1).map((number) => DATA.cuts[number]);
const keptOf = (mesh, i) => DATA.kept[mesh.rows[i][mesh.rows[i].length - 1]];

function tensorRow(row, i, mesh, follow, tellsWhen) {
  const cuts = cutsOf(mesh, i);
  const picture = pictureOf(row, cuts, ranksOf(mesh));
  const place = el("div", { class: "picture-place", style: { minHeight: `${picture.height}px` } });
  whenNear(place, () => place.append(draw(picture, follow)));
  return el("article", { class: row.c ? "tensor companion" : "tensor", "data-row": i, "aria-label": row.t },
    el("div", { class: "tensor-picture" }, place, row.pic[2].map((dim) => dimStrip(row, dim, cuts[dim], follow))),
    el("div", { class: "tensor-words" }, tensorWords(row, mesh, follow, tellsWhen)),
    tensorFigures(row, mesh, cuts, keptOf(mesh, i), follow),
    regionsDetails(row, cuts, keptOf(mesh, i)));
}

// A dim that the picture has no room for; none where every rank has all of it.
function dimStrip(row, dim, cut, follow) {
  if (cut.r.length === 1) return null;
  return el("div", { class: "dim-strip" }, el("span", null, `dim ${dim}: ${cut.n} over ${cut.o.join(", ")}`), strip(cut, { label: `Dim ${dim} of ${row.t}`, follow, height: 14 }));
}

// What tells a tensor from its neighbours stands at the end: `q_proj.weight`.
function nameParts(name) {
  const parts = name.split(".");
  const at = Math.max(0, parts.length - (parts[parts.length - 2] === "*" ? 1 : 2));
  return [parts.slice(0, at).join(".") + (at ? "." : ""), parts.slice(at).join(".")];
}

// A line may break behind a dot.
const breakable = (path) => path.split(/(?<=\.)/).map((part) => [part, el("wbr")]);

function tensorWords(row, mesh, follow, tellsWhen) {
  const [before, last] = nameParts(row.t);
  const selected = [...new Set(row.sel || [])].filter((axis) => DATA.cuts[mesh.axes[axis]].r.length > 1);
  return [
    el("h4", null, el("span", { class: "path" }, breakable(before)), el("span", null, last), row.n > 1 && el("span", { class: "count" }, `×${whole(row.n)}`)),
    el("p", { class: "formula" }, row.f),
    row.m.flatMap((marks) => marks.filter(([, , , inner]) => inner.length).map(repeatStrip)),
    el("ul", { class: "chips" }, tensorChips(row, mesh)),
    selected.map((axis) => axisStrip(mesh, axis, follow)),
    tellsWhen && (row.w || []).length > 0 && el("p", { class: "when" }, el("span", null, "when "), row.w.join("; ")),
  ];
}

// Kind, dtypes, format, and what the model has to do after it.
function tensorChips(row, mesh) {
  const todo = mesh.todo.filter(([, , pattern]) => row.e && pattern === row.e);
  return [
    el("li", { class: "kind" }, row.k),
    el("li", null, row.d === row.l ? row.d : `${row.d}, loaded as ${row.l}`),
    row.fm !== "dense" && el("li", null, row.fm),
    todo.map(([what, over]) => el("li", { class: "todo" }, `${what} over ${over}`)),
    (row.on || []).map((on) => el("li", null, `${on} only`)),
    row.v && el("li", null, `holds each rank's own ${row.v.join(", ")}`),
  ];
}

// An axis whose elements are tensors of their own: which of them are on which rank.
function axisStrip(mesh, axis, follow) {
  const { name, over } = mesh.declared[axis];
  return el("div", { class: "dim-strip" }, el("span", null, `${name} by name, over ${over}`),
    strip(DATA.cuts[mesh.axes[axis]], { label: name, follow, height: 14, unit: name }));
}

// What interleaves inside a segment, once: `k_heads * (key_dim | key_dim | value_dim)`.
function repeatStrip([size, , , inner]) {
  const period = inner.reduce((sum, [n]) => sum + n, 0);
  return el("div", { class: "dim-strip" },
    el("span", null, `${plural(period, "row")}, ${plural(size / period, "time")} over:`),
    el("ol", { class: "repeat" }, inner.map(([n, word]) => el("li", { style: { flexGrow: n, flexShrink: word.length ** 2 }, title: word }, word, el("small", null, n)))));
}

function tensorFigures(row, mesh, cuts, kept, follow) {
  const who = joint([...cuts, { ...kept, r: [] }]);
  const chosen = follow ? who.ranks.filter((rank) => isOn(rank, follow)) : who.ranks;
  const shapes = chosen.map((rank) => cuts.map((cut) => localOf(cut.r[numberOf(cut, rank)])));
  const counts = chosen.map((rank) => kept.c[numberOf(kept, rank)]);
  const local = cuts.map((_, dim) => spanText(shapes.map((shape) => shape[dim]), String).replace(" – ", "–"));
  const held = shapes.map((shape, k) => product(shape) * row.b * counts[k]);
  const file = product(row.s) * row.fb * row.n;
  return el("dl", { class: "figures" },
    pair("file", shapeText(row.s), "mono"),
    pair(follow ? "this rank" : "per rank", cuts.length ? local.join(" × ") : "scalar", "mono"),
    row.u && pair(mesh.declared[row.u[0]].name, unitsText(row, mesh, follow), "mono"),
    Math.max(...counts) !== row.n && pair("tensors", `${spanText(counts, whole)} of ${whole(row.n)}`),
    pair(row.n > 1 ? "bytes, all" : "bytes", `${bytesText(file)} → ${spanText(held, bytesText)}`),
    ranksOf(mesh) > 1 && pair("copies", copiesText(mesh, cuts, kept, file, row)));
}

const pair = (name, value, kind) => el("div", null, el("dt", null, name), el("dd", { class: kind || null }, value));

function unitsText(row, mesh, follow) {
  const [axis, stride] = row.u;
  const cut = DATA.cuts[mesh.axes[axis]];
  const chosen = follow ? [cut.r[numberOf(cut, follow)]] : cut.r;
  return `${spanText(chosen.map(localOf), String).replace(" – ", "–")} × ${stride}`;
}

// How often the ranks together hold each byte of the file, padding apart.
function copiesText(mesh, cuts, kept, file, row) {
  const who = joint([...cuts, { ...kept, r: [] }]);
  const others = product(mesh.mesh.filter(([dim]) => !who.over.includes(dim)).map(([, size]) => size));
  const real = who.ranks.reduce((sum, rank) =>
    sum + product(cuts.map((cut) => realOf(cut.r[numberOf(cut, rank)]))) * kept.c[numberOf(kept, rank)], 0);
  const copies = (real * others) / (product(row.s) * row.n || 1);
  return Number.isInteger(copies) ? String(copies) : copies.toFixed(2);
}
