// Elements. Text goes in as text nodes only: a spec's words are never markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") Object.assign(node.style, value);
    else if (name === "on") for (const [type, run] of Object.entries(value)) node.addEventListener(type, run);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const byId = (id) => document.getElementById(id);

// Runs `draw` once a node comes near the window, or at once for print.
const waiting = new Map();
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) drawNow(entry.target);
}, { rootMargin: "300px" });

function whenNear(node, draw) {
  waiting.set(node, draw);
  near.observe(node);
}

function drawNow(node) {
  const draw = waiting.get(node);
  waiting.delete(node);
  near.unobserve(node);
  if (draw) draw();
}

function drawAll() {
  for (const node of [...waiting.keys()]) drawNow(node);
}

window.addEventListener("beforeprint", drawAll);
