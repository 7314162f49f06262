// The axes, parents above children, and which elements each rank has.
function axisSection(mesh, follow) {
  return DATA.axes.map((axis, i) => {
    const cut = DATA.cuts[mesh.axes[i]];
    const parent = DATA.axes.findIndex((other) => other.name === axis.within);
    const size = parent >= 0 ? DATA.cuts[mesh.axes[parent]].n : 0;
    const held = spanText(cut.r.map(localOf), whole);
    return el("div", { class: axis.within ? "axis child" : "axis" },
      el("div", { class: "axis-words" },
        el("h3", null, axis.name, axis.at && el("span", { class: "count" }, axis.at.length > 3 ? `${plural(axis.at.length, "place")}` : axis.at.join("; "))),
        el("p", { class: "axis-facts" },
          el("b", null, whole(axis.size)), axis.formula !== String(axis.size) && el("span", { class: "mono" }, ` = ${axis.formula}`),
          axis.within ? [" within ", el("b", null, axis.within), size ? `: ${axis.size / size} to each` : ""] : [" over ", el("b", null, axis.over)],
          cut.r.length > 1 && el("span", null, `, ${held} a rank`)),
        el("ul", { class: "chips" },
          axis.role !== "plain" && el("li", null, axis.role),
          axis.granule > 1 && !axis.rule.some((rule) => rule.startsWith("granule")) && el("li", null, `granule ${axis.granule}`),
          axis.rule.map((rule) => el("li", null, rule)),
          axis.idle && el("li", null, "no tensor of this file has it"))),
      el("div", { class: "axis-strip" }, cut.n ? strip(cut, { label: axis.name, tick: Math.max(axis.granule, 1), parent: size ? cut.n / size : 0, follow, unit: axis.name, ranks: ranksOf(mesh) }) : null,
        (axis.why || []).length > 0 && el("p", { class: "note" }, "granule ", axis.why.join("; "))));
  });
}
