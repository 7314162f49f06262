// Which sizes of a mesh dim work: a cell a size, the reason in words.
function sizeSection() {
  return DATA.strips.map(({ dim, sizes, why }) => {
    const reason = (one) => one[3].map((i) => why[i]).join("; ");
    const cells = sizes.map((one) => el("span", { class: `size-cell ${stateOf(one)}` }, one[0]));
    const node = el("div", { class: "size-cells", role: "img", tabindex: 0, "aria-label": `Sizes of ${dim}. Arrow keys go through them.` }, cells);
    const linesOf = (i) => {
      const [size, bytes, claimed] = sizes[i];
      return [`${dim}=${size}`, bytes === null ? "does not work" : `${bytesText(bytes)} on rank 0`, claimed ? "claimed" : null, ...sizes[i][3].slice(0, 4).map((n) => why[n])];
    };
    const placeOf = (i) => ({ x: cells[i].offsetLeft + cells[i].offsetWidth / 2, y: cells[i].offsetTop + 10 });
    answers(node, {
      count: cells.length,
      under: (x, y) => {
        const i = cells.findIndex((c) => x >= c.offsetLeft && x < c.offsetLeft + c.offsetWidth && y >= c.offsetTop && y < c.offsetTop + c.offsetHeight);
        return i < 0 ? null : linesOf(i);
      },
      step: (i) => ({ lines: linesOf(i), ...placeOf(i) }),
    });
    const valid = sizes.filter((one) => one[1] !== null).map((one) => one[0]);
    const told = sizes.filter((one) => one[2] || (one[0] & (one[0] - 1)) === 0);
    return el("div", { class: "size-dim" },
      el("h3", null, dim), el("p", { class: "axis-facts" }, `valid: ${ranksText(valid) || "none"}`), node,
      el("div", { class: "tables", tabindex: 0, role: "region", "aria-label": `Sizes of ${dim}` }, sizeTable(dim, told, reason)),
      el("details", { class: "regions" }, el("summary", null, `Every size of ${dim}, and why not`),
        el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Every size of ${dim}` }, sizeTable(dim, sizes, reason))));
  });
}

const stateOf = ([, bytes, claimed]) => (bytes === null ? (claimed ? "broken" : "invalid") : claimed ? "claimed" : "valid");

function sizeTable(dim, sizes, reason) {
  return el("table", { class: "sizes" },
    el("thead", null, el("tr", null, [dim, "claimed", "rank 0", "why not"].map((head, i) => el("th", { scope: "col", class: i === 0 || i === 2 ? "number" : null }, head)))),
    el("tbody", null, sizes.map((one) => el("tr", { class: stateOf(one) },
      el("th", { scope: "row", class: "number" }, one[0]), el("td", null, one[2] ? "claimed" : ""),
      el("td", { class: "number" }, one[1] === null ? "–" : bytesText(one[1])), el("td", null, reason(one))))));
}
