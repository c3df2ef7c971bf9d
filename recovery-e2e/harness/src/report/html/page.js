// Nothing here is needed to read the page: it finds cases by text, opens many at once, and leads
// to a case that a filter hides.
"use strict";

const cases = Array.from(document.querySelectorAll("details.case"));
const field = document.getElementById("find");
const shown = document.getElementById("shown");
const form = document.querySelector("form.filter");
const texts = new Map(
  cases.map((one) => [one, one.querySelector("summary").textContent.toLowerCase()]),
);

const isShown = (one) => one.offsetParent !== null;

function narrow() {
  const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  for (const one of cases) {
    one.hidden = words.some((word) => !texts.get(one).includes(word));
  }
  const count = cases.filter(isShown).length;
  shown.textContent = count === cases.length ? "" : `${count} of ${cases.length} shown`;
}

function widen() {
  form.reset();
  narrow();
}

function goToCase() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const one = target === null ? null : target.closest("details.case");
  if (one === null) return;
  if (!isShown(one)) widen();
  one.open = true;
  one.scrollIntoView();
}

form.querySelector(".find").hidden = false;
form.addEventListener("input", narrow);
form.addEventListener("submit", (event) => event.preventDefault());
for (const [id, open] of [["open-all", true], ["close-all", false]]) {
  document.getElementById(id).addEventListener("click", () => {
    for (const one of cases.filter(isShown)) one.open = open;
  });
}
document.addEventListener("keydown", (event) => {
  const isPlain = !event.ctrlKey ? !event.metaKey : false;
  if (event.key === "/" ? isPlain : false) {
    if (document.activeElement === field) return;
    event.preventDefault();
    field.focus();
  }
  if (event.key === "Escape") widen();
});
window.addEventListener("hashchange", goToCase);
// A browser that comes back restores what was chosen.
narrow();
goToCase();
