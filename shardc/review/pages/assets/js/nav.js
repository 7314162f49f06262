// Links inside the page scroll, and leave the address to what is chosen. `/` goes to the search.
function goTo() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const target = byId(link.getAttribute("href").slice(1));
    if (!target) return;
    target.scrollIntoView();
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === "/" && !typing && byId("q")) {
      event.preventDefault();
      byId("q").focus();
      byId("q").select();
    }
    if (event.key === "Escape" && event.target === byId("q")) {
      event.target.value = "";
      event.target.dispatchEvent(new Event("input"));
    }
  });
}
