// A cut: n elements; o the mesh dims that cut it, s their sizes; r the regions by coordinate, the last of o fastest.
const MOST_REGIONS = 60000;
const THINNEST = 1;
const SAMPLES = 512;

function expand(runs) {
  const out = [];
  for (const [start, stop, pad, step, count] of runs) {
    if (!count) out.push([start, stop, pad || 0]);
    else for (let i = 0; i < count; i += 1) out.push([start + i * step, stop + i * step, 0]);
  }
  return out;
}

const realOf = (runs) => runs.reduce((sum, [start, stop, , , count]) => sum + (stop - start) * (count || 1), 0);
const localOf = (runs) => realOf(runs) + padOf(runs);

// Coordinates on some mesh dims, of which all cuts in `cuts` are a part: for each, its number in every cut.
function joint(cuts) {
  const over = [];
  const sizes = [];
  for (const cut of cuts) {
    cut.o.forEach((dim, i) => {
      if (!over.includes(dim)) {
        over.push(dim);
        sizes.push(cut.s[i]);
      }
    });
  }
  const ranks = Array.from({ length: product(sizes) }, (_, k) => coordinates(over, sizes, k));
  return { over, sizes, ranks, at: cuts.map((cut) => ranks.map((rank) => numberOf(cut, rank))) };
}

function coordinates(over, sizes, k) {
  const rank = {};
  for (let i = over.length - 1; i >= 0; i -= 1) {
    rank[over[i]] = k % sizes[i];
    k = Math.floor(k / sizes[i]);
  }
  return rank;
}

const numberOf = (cut, rank) => cut.o.reduce((at, dim, i) => at * cut.s[i] + (rank[dim] || 0), 0);

// The dim in runs that the same coordinates hold: {a, b, who}. A dim of very many regions is sampled.
function bands(cut) {
  if (cut.bands) return cut.bands;
  const all = cut.r.map(expand);
  const regions = all.reduce((sum, one) => sum + one.length, 0);
  cut.bands = regions > MOST_REGIONS ? sampled(cut, all) : swept(cut, all);
  return cut.bands;
}

// The bands as they can be drawn on `px` pixels: where ranks come again and again in bands thinner than a pixel, those
// are one, with its ranks in `who` and how many bands it stands for in `turns`. None reaches over one of `borders`.
function drawn(cut, px, borders = []) {
  const out = [];
  let group = [];
  const close = () => {
    const who = [...new Set(group.flatMap((band) => band.who))].sort((x, y) => x - y);
    if (group.length > who.length) out.push({ a: group[0].a, b: group[group.length - 1].b, who, turns: group.length });
    else out.push(...group);
    group = [];
  };
  for (const band of bands(cut)) {
    const isThin = (band.b - band.a) * px < THINNEST * cut.n;
    if (!isThin || borders.includes(band.a)) close();
    if (isThin) group.push(band);
    else out.push(band);
  }
  close();
  return out;
}

function swept(cut, all) {
  const steps = [[0, -1, 0], [cut.n, -1, 0]];
  all.forEach((one, k) => {
    for (const [start, stop] of one) if (stop > start) steps.push([start, k, 1], [stop, k, -1]);
  });
  steps.sort((x, y) => x[0] - y[0] || x[2] - y[2]);
  const out = [];
  const held = new Map();
  for (let i = 0; i + 1 < steps.length; i += 1) {
    const [at, k, change] = steps[i];
    if (change > 0) held.set(k, (held.get(k) || 0) + 1);
    if (change < 0) held.get(k) > 1 ? held.set(k, held.get(k) - 1) : held.delete(k);
    if (steps[i + 1][0] > at) addBand(out, at, steps[i + 1][0], [...held.keys()].sort((x, y) => x - y));
  }
  return out;
}

function sampled(cut, all) {
  const out = [];
  const sorted = all.map((one) => one.filter(([a, b]) => b > a).sort((x, y) => x[0] - y[0]));
  for (let i = 0; i < SAMPLES; i += 1) {
    const at = Math.floor(((i + 0.5) * cut.n) / SAMPLES);
    const who = sorted.flatMap((one, k) => (holds(one, at) ? [k] : []));
    addBand(out, (i * cut.n) / SAMPLES, ((i + 1) * cut.n) / SAMPLES, who);
  }
  return out;
}

function holds(regions, at) {
  let low = 0;
  let high = regions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (regions[middle][1] <= at) low = middle + 1;
    else high = middle;
  }
  return low < regions.length && regions[low][0] <= at;
}

function addBand(out, a, b, who) {
  const last = out[out.length - 1];
  if (last && last.b === a && last.who.length === who.length && last.who.every((k, i) => k === who[i])) last.b = b;
  else out.push({ a, b, who });
}
