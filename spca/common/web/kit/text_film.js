// An episode in a world without a grid: rows of text and, where the world draws them, pictures.

const SMALL_PICTURE = 256; // pixels; a smaller picture is enlarged without smoothing

/** What the world shows at a step; rows that were not there a step before are marked. */
function TextFrame({film, step}) {
  const rows = film.rows[step];
  const before = new Set(film.rows[Math.max(0, step - 1)]);
  const lines = rows.map((row, i) =>
    h("span", {key: i, class: classes("line", !before.has(row) && "marked")}, film.lines[row], "\n"));
  return h("div", {class: "text-frame"},
    h(WorldPicture, {film, step}),
    h("div", {class: "code rows", tabIndex: 0, role: "group", "aria-label": `What the world shows at step ${step}`},
      rows.length ? h("pre", null, h("code", null, lines)) : h("p", {class: "muted"}, "The world shows nothing.")));
}

/** The latest picture that was kept; of long episodes a page does not hold the pictures of all steps. */
function WorldPicture({film, step}) {
  const at = film.picture.findLastIndex((picture, i) => i <= step && picture >= 0);
  if (at < 0) return null;
  const sharpen = ({target}) => target.classList.toggle("small", target.naturalHeight < SMALL_PICTURE);
  return h("figure", null,
    h("img", {src: `data:image/png;base64,${film.pictures[film.picture[at]]}`, alt: `The world at step ${at}`,
      onLoad: sharpen}),
    at < step && h("figcaption", {class: "muted small"}, `Picture of step ${at}: not every step has one.`));
}
