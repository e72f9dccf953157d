// Sort the table by a column: numbers as numbers, ∞ as the largest, what has no number last either way.
(() => {
  const table = document.getElementById("rows"), given = [...table.tBodies[0].rows];
  const heads = [...table.querySelectorAll("thead .heads th")];
  const key = (row, place) => row.cells[place].dataset.key ?? row.cells[place].textContent.trim();
  const sort = (head, place) => {
    const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const value = row => "number" in head.dataset ? Number(key(row, place)) : key(row, place);
    const known = given.filter(row => key(row, place) !== ""), unknown = given.filter(row => key(row, place) === "");
    known.sort((one, other) => way * ((value(one) > value(other)) - (value(one) < value(other))));
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    table.tBodies[0].append(...known, ...unknown);
  };
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, place));
    head.append(button);
  });
  document.documentElement.classList.add("scripts");
})();
// Show the rows of one verdict and one family, in the table and in the sections.
(() => {
  const chosen = {verdict: document.getElementById("by-verdict"), family: document.getElementById("by-family")};
  const rows = [...document.querySelectorAll("#rows tbody tr")], articles = [...document.querySelectorAll("article")];
  const output = document.getElementById("shown"), all = output.textContent;
  const filter = () => {
    const fits = one => Object.entries(chosen).every(([name, {value}]) => !value || one.dataset[name] === value);
    for (const one of [...rows, ...articles]) one.hidden = !fits(one);
    for (const one of document.querySelectorAll(".attacked")) one.hidden = !one.querySelector("article:not([hidden])");
    const left = rows.filter(fits).length;
    output.textContent = left === rows.length ? all : `${left} of ${all}`;
  };
  // A link to what is hidden shows everything again.
  const follow = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at?.closest("[hidden]")) return;
    for (const select of Object.values(chosen)) select.value = "";
    filter();
    at.closest("details")?.setAttribute("open", "");
    at.scrollIntoView();
  };
  for (const select of Object.values(chosen)) select.addEventListener("change", filter);
  addEventListener("hashchange", follow);
  filter();  // a browser may keep what was chosen before the page was loaded again
})();
