// The recommended point, and the commands that give the point shown.

function drawChoice(state) {
  const point = S.points[state.point];
  const { words } = point[state.counting];
  $("use-words").textContent = words.use;
  for (const [name, text] of [["command", words.command], ["refit-command", words.refit_command]]) {
    // Lines break between options only.
    const parts = text.split(/ (?=--)/).flatMap((part, i) => [i ? " " : "", element("span", {}, part)]);
    $(name).replaceChildren(...parts);
    $(name).parentElement.hidden = text === "";
  }
  $("refit-words").hidden = words.refit_command === "";
  const link = $("download");
  link.parentElement.hidden = point.download === "";
  if (point.download) link.href = point.download;
  for (const button of document.querySelectorAll(".copy")) button.textContent = "Copy";
}

async function copy(button) {
  const code = $(button.dataset.of);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Some browsers forbid it on local pages: select the text instead.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
}

for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copy(button));
