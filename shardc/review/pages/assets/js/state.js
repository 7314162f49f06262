// What is chosen, kept in the address behind `#`, so that a link shows the same.
const STATE = { mesh: "", rank: "", q: "", group: "", kind: "", format: "", split: "", theme: "" };

function readHash() {
  const given = new URLSearchParams(window.location.hash.slice(1));
  for (const name of Object.keys(STATE)) STATE[name] = given.get(name) || "";
}

function writeHash() {
  const kept = new URLSearchParams(Object.entries(STATE).filter(([, value]) => value));
  const text = kept.toString();
  history.replaceState(null, "", text ? `#${text}` : window.location.pathname + window.location.search);
}

// auto, light or dark.
function applyTheme() {
  const theme = ["light", "dark"].includes(STATE.theme) ? STATE.theme : "";
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  byId("theme").textContent = `Theme: ${theme || "auto"}`;
}

function themeButton(after) {
  byId("theme").addEventListener("click", () => {
    STATE.theme = { "": "dark", dark: "light", light: "" }[STATE.theme] ?? "";
    applyTheme();
    after();
  });
}

// A name's pattern and what is asked for: a glob, or a part of the name; a number stands for any index.
function matcher(query) {
  const asked = query.trim();
  if (!asked) return () => true;
  const indices = (text) => text.replace(/(^|\.)\d+(?=\.|$)/g, "$1*");
  if (!/[*?]/.test(asked)) {
    const part = indices(asked).toLowerCase();
    return (name) => name.toLowerCase().includes(part) || name.toLowerCase().includes(asked.toLowerCase());
  }
  const source = asked.replace(/(^|\.)\d+(?=\.|$)|[*?]|[.+^${}()|[\]\\]/g, (found, dot) => {
    if (dot !== undefined) return `${dot ? "\\." : ""}\\*`;
    return { "*": ".*", "?": "." }[found] || `\\${found}`;
  });
  const glob = new RegExp(`^${source}$`, "i");
  return (name) => glob.test(name);
}
