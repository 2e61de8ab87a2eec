"use strict";
// Filters for the tables of exercises: notebook, kind, core, minutes. Without this all is shown.
const sections = [...document.querySelectorAll("article section section")].filter((one) => one.querySelector(".kinds"));
const rows = sections.flatMap((section, index) =>
  [...section.querySelectorAll("tbody tr")].filter((row) => row.querySelector(".kinds")).map((row) => ({
    row,
    notebook: `${index}`,
    kinds: row.querySelector(".kinds").textContent.split(", "),
    role: row.cells[0].textContent.trim(),
    minutes: parseFloat(row.cells[2].textContent) || Infinity,
  })));
const distinct = (values) => [...new Set(values)].sort();

const bar = document.createElement("p");
bar.className = "filters";
function choice(label, options) {
  const select = document.createElement("select");
  for (const [value, text] of [["", "all"], ...options]) select.add(new Option(text, value));
  select.addEventListener("input", show);
  const labelled = document.createElement("label");
  labelled.append(`${label} `, select);
  bar.append(labelled, " ");
  return select;
}
const title = (section) => section.querySelector("h2").firstChild.textContent;
const notebook = choice("notebook", sections.map((section, index) => [`${index}`, `${index + 1} ${title(section)}`]));
const kind = choice("written", distinct(rows.flatMap((one) => one.kinds)).map((one) => [one, one]));
const role = choice("what", distinct(rows.map((one) => one.role)).map((one) => [one, one]));
const minutes = choice("minutes", [15, 30, 60].map((most) => [`${most}`, `${most} or less`]));
const count = document.createElement("output");
bar.append(count);
sections[0].before(bar);

function show() {
  const holds = (one) =>
    (!notebook.value || one.notebook === notebook.value)
    && (!kind.value || one.kinds.includes(kind.value))
    && (!role.value || one.role === role.value)
    && (!minutes.value || one.minutes <= minutes.value);
  for (const one of rows) one.row.hidden = !holds(one);
  sections.forEach((section, index) => {
    section.hidden = !rows.some((one) => one.notebook === `${index}` && !one.row.hidden);
  });
  count.value = `${rows.filter((one) => !one.row.hidden).length} of ${rows.length}`;
}
// A phone begins with one notebook, unless a link leads to another one.
if (!location.hash && matchMedia("(max-width: 46em)").matches) notebook.value = "0";
addEventListener("hashchange", () => {
  notebook.value = kind.value = role.value = minutes.value = "";
  show();
  document.querySelector(location.hash || "html").scrollIntoView();
});
show();
