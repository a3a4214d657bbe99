// Runs the page's script, which lies in the page like its data: packed, a third of its size.

/** @param {string} name of a piece @returns {Promise<string>} its JSON */
async function unzip(name) {
  const found = document.querySelector(`script[data-piece="${CSS.escape(name)}"]`);
  if (!found) throw new Error(`the page has no piece ${name}`);
  const packed = Uint8Array.from(atob(found.textContent.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

unzip("script").then((json) => {
  const script = document.createElement("script");
  script.textContent = JSON.parse(json).value;
  document.body.append(script);
  script.remove();
});
