// A rank's colour: its hue goes once around an even scale; neighbours differ in lightness too where there are many.
const LIGHT = [0.8, 0.72, 0.86];
const DARK = [0.68, 0.58, 0.76];
let patterns = 0;

function colour(over, sizes, k) {
  const count = product(sizes);
  const other = over.length === 1 && over[0] !== "tp";
  const hue = (250 + (other ? 25 : 0) + (360 * k) / count) % 360;
  const step = count > 24 ? k % 3 : count > 8 ? k % 2 : 0;
  const chroma = other ? 0.085 : 0.115;
  const of = (l) => `oklch(${l} ${chroma} ${hue.toFixed(1)})`;
  return `light-dark(${of(LIGHT[step])}, ${of(DARK[step])})`;
}

// What fills a region: one colour; stripes of all that hold it; or the neutral hatching where every rank does.
// `turns` is the angle of straight stripes, for ranks that take turns in it.
function paint(defs, over, sizes, who, shared = false, turns = null) {
  const count = product(sizes);
  if (!who.length) return { class: "nobody" };
  if (turns !== null) return { style: { fill: `url(#${stripes(defs, over, sizes, who, turns)})` } };
  if (who.length === 1 && !shared) return { style: { fill: colour(over, sizes, who[0]) } };
  if (who.length === count) return { style: { fill: `url(#${everyPattern(defs)})` } };
  return { style: { fill: `url(#${stripes(defs, over, sizes, who)})` } };
}

function everyPattern(defs) {
  const found = defs.querySelector(".every");
  if (found) return found.id;
  return addPattern(defs, "every", 6, [
    svg("rect", { width: 6, height: 6, class: "every-ground" }),
    svg("rect", { width: 1.6, height: 6, class: "every-line" }),
  ]);
}

function stripes(defs, over, sizes, who, turns = null) {
  const most = 8;
  const shown = who.length <= most ? who : Array.from({ length: most }, (_, i) => who[Math.floor((i * who.length) / most)]);
  const width = turns === null ? 5 : 3;
  return addPattern(defs, turns === null ? "shared" : "turns", width * shown.length, shown.map((k, i) =>
    svg("rect", { x: i * width, width, height: width * shown.length, style: { fill: colour(over, sizes, k) } })), turns ?? 45);
}

function addPattern(defs, name, size, children, angle = 45) {
  patterns += 1;
  const id = `p${patterns}`;
  defs.append(svg("pattern", {
    id, class: name, width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})`,
  }, children));
  return id;
}
