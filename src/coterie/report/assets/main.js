// Opens the payload, draws the sections, and minds the search and the colours.

const NAMES = 400; // ids offered while typing

async function start() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old for the page; one of 2023 or later opens it");
  const page = await opened(), main = document.getElementById("main");
  document.getElementById("wait").remove();
  document.body.append(tip);
  if (page.run && !page.model) { runSections(page, main); runSearch(page, main); }
  if (page.model) {
    page.runPlace = new Map();
    const users = modelSections(page, main);
    if (page.run) runSections(page, main);
    searchable(users.ids, (i) => users.choose(i), users.place);
  }
  document.getElementById("foot").append(`Made by coterie ${page.version}. This page holds all that it shows and asks no network for anything.`);
  document.body.dataset.ready = "yes";
}

function searchable(ids, choose, place) {
  const form = document.getElementById("find"), query = document.getElementById("query"), list = document.getElementById("ids");
  form.hidden = false;
  const offer = () => {
    const typed = query.value.trim().toLowerCase(), found = [];
    for (let i = 0; i < ids.length && found.length < NAMES; i++) if (String(ids[i]).toLowerCase().startsWith(typed)) found.push(make("option", { value: ids[i] }));
    list.replaceChildren(...found);
  };
  query.addEventListener("input", () => { query.setCustomValidity(""); offer(); });
  query.addEventListener("focus", offer, { once: true });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const i = place.get(query.value.trim());
    if (i !== undefined) { choose(i); return; }
    query.setCustomValidity(`There is no user ${query.value.trim() || "without a name"} here.`);
    query.reportValidity();
  });
}

function runSearch(page, main) {
  if (!page.run.users) return;
  const ids = page.run.users.ids, holder = make("section", { class: "cards", id: "person" });
  holder.hidden = true;
  main.prepend(holder);
  searchable(ids, (i) => {
    const body = make("figure", { class: "card wide", id: "user-card" }, make("h3", {}, `User ${ids[i]}`));
    heldOut(page, ids[i], body);
    holder.replaceChildren(body);
    holder.hidden = false;
    holder.scrollIntoView({ block: "nearest" });
  }, page.runPlace);
}

function themed() {
  const button = document.getElementById("theme"), root = document.documentElement;
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  let kept = null;
  try { kept = localStorage.getItem("coterie-theme"); } catch { /* a page from disk may have no storage */ }
  if (kept) root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("coterie-theme", root.dataset.theme); } catch { /* likewise */ }
    label(); redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { label(); redraw(); });
  label();
}

themed();
start().catch((failure) => {
  const main = document.getElementById("main");
  main.replaceChildren(make("p", { class: "note", role: "alert" }, `The report cannot be shown: ${failure.message}`));
  console.error(failure);
});
