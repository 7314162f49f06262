// What the model does between ranks, what kernels ask for, and what ranks build of the file's tensors.
function collectiveSection(mesh) {
  if (!mesh.todo.length) return el("p", { class: "note" }, "No collectives on this mesh.");
  const by = new Map();
  for (const [what, over, pattern] of mesh.todo) {
    const key = `${what} over ${over}`;
    by.set(key, [...(by.get(key) || []), pattern]);
  }
  return el("table", null, el("thead", null, el("tr", null, ["collective", "after"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", null, [...by].map(([key, patterns]) => el("tr", null, el("th", { scope: "row" }, key),
      el("td", { class: "mono" }, patterns.map((pattern) => el("div", null, pattern)))))));
}

function contractSection(mesh) {
  if (!mesh.holds.length) return el("p", { class: "note" }, "No contracts.");
  return el("table", null, el("thead", null, el("tr", null, ["contract", "requires", "here, on the first rank", "why"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", null, mesh.holds.map(([use, require, values, why]) => el("tr", null,
      el("th", { scope: "row" }, use), el("td", { class: "mono" }, require),
      el("td", { class: "mono" }, values.map(([name, value]) => `${name} = ${value}`).join(", ")), el("td", null, why)))));
}

function outputSection(mesh) {
  return el("table", null, el("thead", null, el("tr", null, ["output", "on a rank", "local shape", "dtype", "built of"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", null, mesh.outputs.map(([name, count, shape, dtype, of, rank]) => el("tr", null,
      el("th", { scope: "row", class: "mono" }, name), el("td", { class: "number" }, `×${whole(count)}${rank ? ` (rank ${rank})` : ""}`),
      el("td", { class: "mono" }, shapeText(shape)), el("td", null, dtype), el("td", { class: "mono" }, of)))));
}
