"use strict";
// Search, filter and sort the table of scores. Without this the page only lacks these.
const table = document.querySelector("#score-table");
const body = table.tBodies[0];
const rows = [...body.rows];

const search = document.createElement("input");
search.type = "search";
search.placeholder = "id or name";
search.setAttribute("aria-label", "Search students");
const only = document.createElement("select");
only.setAttribute("aria-label", "Which students are shown");
for (const [label, value] of [["all", ""], ["with points to come", "open"], ["withheld", "withheld"], ["late", "late"], ["not handed in", "missing"]])
  if (rows.some((row) => !value || row.dataset.is.split(" ").includes(value)))
    only.add(new Option(label, value));
const count = document.createElement("output");
const tools = document.createElement("p");
tools.className = "tools";
tools.append(search, only, count);
table.closest(".scroll").before(tools);

function show() {
  const wanted = search.value.trim().toLowerCase();
  for (const row of rows)
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted)
      || (only.value && !row.dataset.is.split(" ").includes(only.value));
  count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
}
search.addEventListener("input", show);
only.addEventListener("input", show);
show();

function compare(one, two) {
  const numbers = [one, two].map((cell) => parseFloat(cell.dataset.points));
  if ("points" in one.dataset) return (isNaN(numbers[0]) ? -1 : numbers[0]) - (isNaN(numbers[1]) ? -1 : numbers[1]);
  return one.textContent.localeCompare(two.textContent, undefined, { numeric: true });
}
const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.textContent = "↕";
  const exercise = head.querySelector("[title]"); // of which the head shows the number alone
  button.setAttribute("aria-label", `Sort by ${(exercise?.title || head.textContent).trim()}`);
  button.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of heads) {
      other.removeAttribute("aria-sort");
      other.querySelector("button").textContent = "↕";
    }
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    button.textContent = up ? "↑" : "↓";
    const order = (one, two) => compare(one.cells[column], two.cells[column]) * (up ? 1 : -1);
    body.append(...rows.sort(order));
  });
  head.append(button);
});
