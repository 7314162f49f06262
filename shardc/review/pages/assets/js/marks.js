// Lines and words along a picture's sides: segments (q | k | v), what interleaves inside them, and elements of an axis.
function drawMarks(pieces, row, picture, x, y) {
  const { w, h, padColumns } = picture;
  const [r, c] = row.pic;
  const side = w + (padColumns ? PAD_GAP + padColumns : 0);
  lines(row.m[r], y, (at, name) => svg("line", { class: name, x1: 0, x2: name === "segment" ? side + 5 : w, y1: at, y2: at }), pieces);
  lines(row.m[c], x, (at, name) => svg("line", { class: name, y1: 0, y2: name === "segment" ? h + 5 : h, x1: at, x2: at }), pieces);
  const named = words(row.m[r], y);
  const places = spread(named.map(({ middle }) => middle + 3), 10, Math.max(h, 10) + 6);
  for (const [i, { word }] of named.entries()) {
    if (places[i] < 4) continue;
    pieces.append(svg("text", { class: "word", x: side + 8, y: places[i] }, svg("title", null, word), cutShort(word, LABELS - 12)));
  }
  for (const { middle, long, word } of words(row.m[c], x)) {
    const text = cutShort(word, long - 4);
    if (text) pieces.append(svg("text", { class: "word", x: middle, y: h + 11, "text-anchor": "middle" }, svg("title", null, word), text));
  }
}

function lines(marks, scale, line, pieces) {
  if (!marks) return;
  let from = 0;
  for (const [size, , step, inner] of marks) {
    if (step && scale(step) >= 4) {
      for (let at = from + step; at < from + size; at += step) pieces.append(line(scale(at), "element"));
    }
    const period = inner.reduce((sum, [n]) => sum + n, 0);
    if (period && scale(period) >= 9) {
      for (let start = from; start < from + size; start += period) {
        let at = start;
        for (const [n] of inner.slice(0, -1)) pieces.append(line(scale((at += n)), "inner"));
      }
    }
    if (from) pieces.append(line(scale(from), "segment"));
    from += size;
  }
}

function words(marks, scale) {
  if (!marks || marks.length < 2) return [];
  let from = 0;
  return marks.map(([size, word]) => {
    const middle = scale(from + size / 2);
    from += size;
    return { middle, long: scale(size), word };
  });
}

// The places, as near as they can be at least `step` apart and none beyond `end`.
function spread(places, step, end) {
  const out = [];
  for (const at of places) out.push(out.length ? Math.max(at, out[out.length - 1] + step) : at);
  for (let i = out.length - 1, most = end; i >= 0; i -= 1, most -= step) out[i] = Math.min(out[i], most);
  return out;
}

function cutShort(word, px) {
  const most = Math.floor(px / 6.1);
  return word.length <= most ? word : most < 3 ? "" : `${word.slice(0, most - 1)}…`;
}
