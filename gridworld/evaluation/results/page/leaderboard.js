(() => {
"use strict";

/** Sort the rows of a table by a column; the same column again turns the order around. */
function sortBy(table, index) {
  const heads = [...table.tHead.rows[0].cells];
  const head = heads[index];
  const first = head.classList.contains("number") && index > 0 ? "descending" : "ascending";
  const turned = head.ariaSort === "ascending" ? "descending" : "ascending";
  const order = head.ariaSort ? turned : first;
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  rows.sort((one, other) => sign * compare(one.cells[index], other.cells[index]));
  body.append(...rows);
}

function compare(one, other) {
  const [a, b] = [one.dataset.value, other.dataset.value];
  if (a !== undefined && b !== undefined) return Number(a) - Number(b);
  return one.textContent.localeCompare(other.textContent, "en", { numeric: true });
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sortBy(table, index));
    head.replaceChildren(button);
  });
}
})();
