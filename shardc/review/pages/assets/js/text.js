// Numbers for people. Ranges are half-open: 384..512 has 128 rows.
const whole = (n) => n.toLocaleString("en-US");
const plural = (n, word) => `${whole(n)} ${word}${n === 1 ? "" : "s"}`;
const shapeText = (dims) => (dims.length ? dims.join(" × ") : "scalar");
const product = (numbers) => numbers.reduce((a, b) => a * b, 1);

function bytesText(n) {
  if (n >= 2 ** 40) return `${(n / 2 ** 40).toFixed(2)} TiB`;
  if (n >= 2 ** 30) return `${(n / 2 ** 30).toFixed(2)} GiB`;
  if (n >= 2 ** 20) return `${(n / 2 ** 20).toFixed(1)} MiB`;
  return n >= 2 ** 10 ? `${(n / 2 ** 10).toFixed(1)} KiB` : `${n} B`;
}

function share(part, all) {
  return all ? `${((100 * part) / all).toFixed(part * 100 < all && part ? 2 : 1)}%` : "0%";
}

// The smallest and the largest, once where they are equal.
function spanText(numbers, text) {
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  return low === high ? text(low) : `${text(low)} – ${text(high)}`;
}

// Regions as a spec's reader counts them; runs of alike ones in one go.
function rangesText(runs, most = 64) {
  const out = [];
  for (const [start, stop, , step, count] of runs.slice(0, most)) {
    if (stop > start) out.push(count ? `${start}..${stop} and every ${step} on, ${count} times` : `${start}..${stop}`);
  }
  if (runs.length > most) out.push(`and ${runs.length - most} more`);
  return out.join(", ") || "nothing";
}

const padOf = (runs) => runs.reduce((sum, run) => sum + (run[2] || 0), 0);

// Ranks in a list, runs of them short: 0–3, 8.
function ranksText(ranks) {
  const out = [];
  for (let i = 0; i < ranks.length; ) {
    let j = i;
    while (j + 1 < ranks.length && ranks[j + 1] === ranks[j] + 1) j += 1;
    out.push(j > i + 1 ? `${ranks[i]}–${ranks[j]}` : ranks.slice(i, j + 1).join(", "));
    i = j + 1;
  }
  return out.join(", ");
}
