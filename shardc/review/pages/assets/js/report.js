// The page: what is chosen decides what is drawn.
const DATA = JSON.parse(byId("data").textContent);
const articles = [];
for (const mesh of DATA.meshes) mesh.declared = DATA.axes;

const meshNow = () => DATA.meshes.find((mesh) => mesh.name === STATE.mesh) || DATA.meshes[DATA.shown];
const ranksOf = (mesh) => product(mesh.mesh.map(([, size]) => size));

// A world rank's coordinates: mesh dims stand fastest first.
function coordinatesOf(mesh, world) {
  const rank = {};
  for (const [dim, size] of mesh.mesh) {
    rank[dim] = world % size;
    world = Math.floor(world / size);
  }
  return rank;
}

function worldName(mesh, world) {
  const several = mesh.mesh.filter(([, size]) => size > 1);
  const rank = coordinatesOf(mesh, world);
  return several.length > 1 ? `rank ${world}: ${several.map(([dim]) => `${dim} ${rank[dim]}`).join(", ")}` : `rank ${world}`;
}

function tintOf(mesh) {
  const [dim, size] = mesh.mesh.find(([, n]) => n > 1) || mesh.mesh[0];
  return (world) => colour([dim], [size], coordinatesOf(mesh, world)[dim]);
}

const followed = (mesh) => (/^\d{1,4}$/.test(STATE.rank) && Number(STATE.rank) < ranksOf(mesh) ? Number(STATE.rank) : null);

function drawMesh() {
  const mesh = meshNow();
  const world = followed(mesh);
  const follow = world === null ? null : coordinatesOf(mesh, world);
  fillSelects(mesh);
  byId("summary").replaceChildren(...summary(mesh, world));
  byId("bars").replaceChildren(barChart(mesh.bytes, { rankOf: (i) => worldName(mesh, i), tint: tintOf(mesh), follow: world }), barLegend(mesh.bytes));
  byId("axes-list").replaceChildren(...axisSection(mesh, follow));
  byId("collectives-list").replaceChildren(collectiveSection(mesh));
  byId("contracts-list").replaceChildren(contractSection(mesh));
  byId("outputs").hidden = !mesh.outputs.length;
  byId("nav-outputs").hidden = !mesh.outputs.length;
  byId("outputs-list").replaceChildren(mesh.outputs.length ? outputSection(mesh) : "");
  drawTensors(mesh, follow);
}

function summary(mesh, world) {
  const chosen = world === null ? mesh.bytes : [mesh.bytes[world]];
  const of = (i) => chosen.map((one) => one[i]);
  const locals = of(0);
  const all = mesh.bytes.reduce((sum, one) => sum + one[0], 0);
  const figure = (value, name, note) => el("div", { class: "figure" }, el("dt", null, name), el("dd", null, value), note && el("dd", { class: "note" }, note));
  return [
    figure(bytesText(DATA.bytes), "in the file", DATA.all && DATA.all !== DATA.tensors ? `${whole(DATA.tensors)} of ${plural(DATA.all, "tensor")}` : plural(DATA.tensors, "tensor")),
    figure(spanText(locals, bytesText), world === null ? "a rank" : `rank ${world}`, `${share(Math.max(...locals), DATA.bytes)} of the file`),
    figure(spanText(of(1), bytesText), "of it replicated", spanText(locals.map((n, i) => [n, of(1)[i]]).map(([n, part]) => (n ? (100 * part) / n : 0)), (n) => `${n.toFixed(2)}%`) + " of a rank"),
    figure(spanText(of(2), bytesText), "of it padding", "zeros, not in the file"),
    figure(bytesText(all), `on ${plural(ranksOf(mesh), "rank")}`, `${(all / (DATA.bytes || 1)).toFixed(2)} × the file`),
  ];
}

function drawTensors(mesh, follow) {
  articles.length = 0;
  waiting.clear();
  const groups = DATA.groups.map((group, g) => {
    const own = DATA.rows.map((row, i) => [row, i]).filter(([row]) => row.g === g);
    const when = sameWhen(own);
    const made = own.map(([row, i]) => {
      const article = tensorRow(row, i, mesh, follow, !when);
      articles.push({ row, article, g });
      return article;
    });
    const tensors = own.reduce((sum, [row]) => sum + row.n, 0);
    const bytes = own.reduce((sum, [row]) => sum + product(row.s) * row.fb * row.n, 0);
    return el("section", { class: "group", id: `group-${g}`, "aria-label": `Group ${group.name}` },
      el("header", null, el("h3", null, group.name), el("span", { class: "mono at" }, group.at),
        el("span", { class: "for" }, [...group.for, when && `when ${when}`].filter(Boolean).join(", ")), el("span", { class: "group-size" }, `${plural(tensors, "tensor")}, ${bytesText(bytes)}`)), made);
  });
  byId("groups").replaceChildren(...groups);
  filter();
}

// The condition that all rows of a group have, said once above them.
function sameWhen(own) {
  const told = new Set(own.map(([row]) => (row.w || []).join("; ")));
  return told.size === 1 ? [...told][0] : "";
}

const isSplit = (row, mesh, i) => cutsOf(mesh, i).some((cut) => cut.r.length > 1) || keptOf(mesh, i).c.length > 1;

function filter() {
  const matches = matcher(STATE.q);
  const mesh = meshNow();
  let shown = 0;
  for (const { row, article } of articles) {
    const on = (matches(row.t) || matches(row.p)) && (!STATE.group || DATA.groups[row.g].name === STATE.group) && (!STATE.kind || row.k === STATE.kind)
      && (!STATE.format || STATE.format === row.d || STATE.format === row.fm) && (!STATE.split || isSplit(row, mesh, Number(article.dataset.row)));
    article.hidden = !on;
    shown += on ? 1 : 0;
  }
  for (const group of byId("groups").children) group.hidden = !group.querySelector("article:not([hidden])");
  byId("found").textContent = shown === articles.length ? `${plural(shown, "row")}` : `${shown} of ${plural(articles.length, "row")}`;
  byId("nothing").hidden = shown > 0;
}

function options(select, entries, value) {
  select.replaceChildren(...entries.map(([key, text]) => el("option", { value: key }, text)));
  select.value = value;
}

// Meshes by the dims that have more than one rank: all of tp, then all of ep, …
function meshOptions(shown) {
  const groups = new Map();
  for (const mesh of DATA.meshes) {
    const dims = mesh.mesh.filter(([, size]) => size > 1).map(([dim]) => dim).join(" and ") || mesh.mesh[0][0];
    groups.set(dims, [...(groups.get(dims) || []), el("option", { value: mesh.name }, `${mesh.name} (${plural(ranksOf(mesh), "rank")})`)]);
  }
  const inOrder = [...groups].sort(([a], [b]) => (a !== "tp") - (b !== "tp"));
  byId("mesh").replaceChildren(...inOrder.map(([dims, own]) => el("optgroup", { label: `over ${dims}` }, own)));
  byId("mesh").value = shown.name;
}

function fillSelects(mesh) {
  meshOptions(mesh);
  const world = followed(mesh);
  options(byId("rank"), [["", "all ranks"], ...Array.from({ length: ranksOf(mesh) }, (_, i) => [String(i), worldName(mesh, i)])], world === null ? "" : String(world));
}

function fillFilters() {
  const listed = (values, all) => [["", all], ...[...new Set(values)].map((value) => [value, value])];
  options(byId("group"), listed(DATA.groups.map((group) => group.name), "all groups"), STATE.group);
  options(byId("kind"), listed(DATA.rows.map((row) => row.k), "all kinds"), STATE.kind);
  options(byId("format"), listed(DATA.rows.flatMap((row) => [row.fm, row.d]), "all formats"), STATE.format);
  byId("q").value = STATE.q;
  byId("split").checked = STATE.split === "1";
}

function choose(name, value, redraw) {
  STATE[name] = value;
  writeHash();
  if (redraw) drawMesh();
  else filter();
}

function start() {
  readHash();
  applyTheme();
  fillFilters();
  drawMesh();
}

for (const name of ["mesh", "rank"]) byId(name).addEventListener("change", (event) => choose(name, event.target.value, true));
for (const name of ["group", "kind", "format"]) byId(name).addEventListener("change", (event) => choose(name, event.target.value, false));
byId("q").addEventListener("input", (event) => choose("q", event.target.value, false));
byId("split").addEventListener("change", (event) => choose("split", event.target.checked ? "1" : "", false));
themeButton(writeHash);
goTo();
byId("nav-groups").append(...DATA.groups.map((group, g) => el("li", null, el("a", { href: `#group-${g}` }, group.name))));
byId("sizes-list").append(...sizeSection());
window.addEventListener("hashchange", start);
start();
