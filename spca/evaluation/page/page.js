"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const choice = document.getElementById("theme");
const show = () => {
  document.documentElement.dataset.theme = choice.value === "auto" ? (dark.matches ? "dark" : "light") : choice.value;
};
choice.addEventListener("change", show);
dark.addEventListener("change", show);
show();
