// The page of a diff: a mesh at a time, each tensor that changed before beside after, on one scale, in one set of colours.
const DATA = JSON.parse(byId("data").textContent);
const ranksOf = (mesh) => product(mesh.mesh.map(([, size]) => size));

function worldName(mesh, world) {
  const several = mesh.mesh.filter(([, size]) => size > 1);
  const at = several.map(([dim, size]) => {
    const here = world % size;
    world = Math.floor(world / size);
    return `${dim} rank ${here}`;
  });
  return at.join(", ") || "the one rank";
}

function compared(place) {
  const spec = DATA.specs[Number(place.dataset.spec)];
  const meshes = spec.flatMap((one) => one.meshes.map((mesh) => ({ one, mesh })));
  const select = el("select", null, meshes.map(({ one, mesh }, i) => el("option", { value: i }, `${one.checkpoint}, ${mesh.name}`)));
  const note = el("span", { class: "note" });
  const body = el("div");
  const show = () => {
    const { one, mesh } = meshes[Number(select.value)];
    note.textContent = mesh.outcome;
    body.replaceChildren(...meshPictures(one, mesh));
  };
  select.addEventListener("change", show);
  // A mesh of eight is large enough to see a pattern, and small enough to name its ranks.
  select.value = Math.max(0, meshes.findIndex(({ mesh }) => mesh.name === "tp=8"));
  const key = byId("key").content.cloneNode(true);
  place.append(el("header", null, el("h3", null, "Before and after"), el("label", null, "On ", select), note), key, body);
  show();
}

function meshPictures(one, mesh) {
  for (const side of ["before", "after"]) if (mesh[side]) mesh[side].declared = one[side].axes;
  return [
    el("div", { class: "sides" }, ["before", "after"].map((side) => el("div", null, el("h4", null, `Bytes by rank, ${side}`), sideBytes(mesh, side)))),
    mesh.pairs.map(([a, b]) => pairPictures(one, mesh, a, b)),
    builtOtherwise(one, mesh),
    one.more > 0 && el("p", { class: "note" }, `and ${plural(one.more, "more row")} of tensors, which are not drawn`),
  ].flat().filter(Boolean);
}

function sideBytes(mesh, side) {
  const own = mesh[side];
  if (!own) return missing(mesh);
  const most = Math.max(...["before", "after"].flatMap((each) => (mesh[each] ? mesh[each].bytes.map(([local]) => local) : [])));
  const [dim, size, step] = firstDim(own);
  const tint = (world) => colour([dim], [size], Math.floor(world / step) % size);
  return [barChart(own.bytes, { rankOf: (i) => worldName(own, i), tint, most }), barLegend(own.bytes)];
}

// The mesh dim that tells bars apart, its size, and how many ranks one step of it is.
function firstDim(own) {
  let step = 1;
  for (const [dim, size] of own.mesh) {
    if (size > 1) return [dim, size, step];
    step *= size;
  }
  return [own.mesh[0][0], 1, 1];
}

// Local tensors that are built otherwise: the file has none of that name, so there is no picture of them.
function builtOtherwise(one, mesh) {
  const drawn = mesh.pairs.map(([a, b]) => (b >= 0 ? one.after.rows[b] : one.before.rows[a]).t);
  return mesh.words.filter(([pattern]) => !drawn.includes(pattern)).map(([pattern, count, was, is]) =>
    el("article", { class: "pair", "aria-label": pattern }, pairHead(pattern, count),
      el("div", { class: "sides" }, [["before", was], ["after", is]].map(([side, words]) =>
        el("div", null, el("p", { class: "side-name" }, side), el("p", { class: "said" }, words))))));
}

function pairHead(name, count) {
  const [before, last] = nameParts(name);
  return el("h4", null, el("span", { class: "path" }, breakable(before)), last, count > 1 && el("span", { class: "count" }, `×${whole(count)}`));
}

const missing = (mesh) => el("p", { class: "missing" }, mesh.why.length ? `does not load: ${mesh.why.join("; ")}` : "there is no such spec");

function pairPictures(one, mesh, a, b) {
  const row = b >= 0 ? one.after.rows[b] : one.before.rows[a];
  const sides = [["before", a, b], ["after", b, a]].filter(([side]) => mesh[side]);
  return el("article", { class: "pair", "aria-label": row.t }, pairHead(row.t, row.n),
    el("div", { class: "sides" }, sides.map(([side, i, other]) => tensorSide(one, mesh, side, i, other))));
}

// The picture on the other side, for its scale.
function facing(one, mesh, side, i) {
  return mesh[side] && i >= 0 ? pictureOf(one[side].rows[i], cutsOf(mesh[side], i), ranksOf(mesh[side])) : null;
}

function tensorSide(one, mesh, side, i, other) {
  const own = mesh[side];
  const head = el("p", { class: "side-name" }, side);
  if (i < 0) return el("div", null, head, el("p", { class: "missing" }, side === "before" ? "not in the spec before" : "not in the spec any more"));
  const row = one[side].rows[i];
  const cuts = cutsOf(own, i);
  const kept = keptOf(own, i);
  const beside = facing(one, mesh, side === "before" ? "after" : "before", other);
  const picture = pictureOf(row, cuts, ranksOf(own), beside);
  const room = (of) => `${Math.max(picture[of], beside ? beside[of] : 0)}px`;
  const place = el("div", { class: "picture-place", style: { minHeight: room("height"), minWidth: `min(100%, ${room("width")})` } });
  whenNear(place, () => place.append(draw(picture, null, `${side}: `)));
  const said = mesh.words.filter(([pattern]) => pattern === row.t).map(([, , was, is]) => el("p", { class: "said" }, side === "before" ? was : is));
  const selected = (row.sel || []).filter((axis) => DATA.cuts[own.axes[axis]].r.length > 1);
  return el("div", null, head, el("div", { class: "side-body" }, place, tensorFigures(row, own, cuts, kept, null)),
    el("p", { class: "formula" }, row.f), said,
    row.pic[2].map((dim) => dimStrip(row, dim, cuts[dim], null)), selected.map((axis) => axisStrip(own, axis, null)),
    el("ul", { class: "chips" }, tensorChips(row, own)), regionsDetails(row, cuts, kept, side));
}

readHash();
applyTheme();
themeButton(writeHash);
goTo();
for (const place of document.querySelectorAll(".compared")) compared(place);
