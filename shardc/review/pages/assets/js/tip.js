// One tooltip for pointer and keyboard. What it says is also spoken.
let tipFor = null;
let tipAgain = null;

// `again` shows it at its place after the page moved; without it the tooltip goes when the page moves.
function showTip(owner, lines, x, y, again = null) {
  tipAgain = again;
  const tip = byId("tip");
  tip.replaceChildren(...lines.filter(Boolean).map((line, i) => el("div", { class: i ? "" : "tip-head" }, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, x + 14), window.innerWidth - box.width - 8);
  const top = y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
  tipFor = owner;
}

function hideTip(owner) {
  if (owner && tipFor !== owner) return;
  byId("tip").hidden = true;
  byId("said").textContent = "";
  tipFor = null;
}

const say = (lines) => { byId("said").textContent = lines.filter(Boolean).join("; "); };

// Makes a picture answer: `under(x, y)` gives the lines at a place of its box, `step(i)` those of its i-th part and
// where to show them. Arrow keys go through the `count` parts.
function answers(node, { under, step, count, leave }) {
  let at = -1;
  const off = () => { hideTip(node); if (leave) leave(); };
  node.addEventListener("pointermove", (event) => {
    const box = node.getBoundingClientRect();
    const lines = under(event.clientX - box.left, event.clientY - box.top, box);
    if (lines) showTip(node, lines, event.clientX, event.clientY);
    else off();
  });
  node.addEventListener("pointerleave", off);
  node.addEventListener("blur", () => { at = -1; off(); });
  node.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { at = -1; off(); return; }
    if (event.key === "Home") at = 0;
    else if (event.key === "End") at = count - 1;
    else if (move) at = at < 0 ? (move > 0 ? 0 : count - 1) : (at + move + count) % count;
    else return;
    event.preventDefault();
    const { lines, x, y } = step(at);
    const show = () => {
      const box = node.getBoundingClientRect();
      showTip(node, lines, box.left + x, box.top + y, show);
    };
    show();
    say(lines);
  });
}

window.addEventListener("scroll", () => (tipAgain && tipFor ? tipAgain() : hideTip(null)), { passive: true });
