// Sort the table by a column: numbers as numbers, ∞ as the largest, what has no number last either way.
(() => {
  const table = document.getElementById("rows"), given = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells];
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
  document.documentElement.classList.add("sortable");
})();
