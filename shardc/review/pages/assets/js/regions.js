// The exact regions of a row, rank by rank, as a table that is made when it is opened.
function regionsDetails(row, cuts, kept, side = "") {
  const body = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Regions of ${row.t} ${side}`.trim() });
  const details = el("details", { class: "regions" }, el("summary", null, "Regions by rank"), body);
  details.addEventListener("toggle", () => {
    if (details.open && !body.firstChild) body.append(regionsTable(row, cuts, kept));
  });
  return details;
}

function regionsTable(row, cuts, kept) {
  const who = joint([...cuts, { ...kept, r: [] }]);
  const heads = ["rank", ...row.s.map((n, i) => `${dimName(row, i)} of ${n}`), "local shape", "bytes each", "tensors"];
  const lines = who.ranks.map((rank, k) => {
    const runs = cuts.map((cut, i) => cut.r[who.at[i][k]]);
    const shape = runs.map(localOf);
    const count = kept.c[numberOf({ o: kept.o, s: kept.s }, rank)];
    return el("tr", null, el("th", { scope: "row" }, rankText(rank)),
      runs.map((one) => el("td", { class: "mono" }, regionText(one))),
      el("td", { class: "mono" }, shapeText(shape)), el("td", { class: "number" }, whole(product(shape) * row.b)), el("td", { class: "number" }, whole(count)));
  });
  return el("table", null, el("thead", null, el("tr", null, heads.map((head, i) =>
    el("th", { scope: "col", class: i > heads.length - 3 ? "number" : null }, head)))), el("tbody", null, lines));
}

function dimName(row, i) {
  if (i === row.pic[0]) return "rows";
  return i === row.pic[1] ? "columns" : `dim ${i}`;
}

function regionText(runs) {
  const pad = padOf(runs);
  return rangesText(runs) + (pad ? ` + ${whole(pad)} of zeros` : "");
}
