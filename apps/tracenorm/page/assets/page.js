"use strict";
// Makes the page of the JSON inside it: headings, text, tables, charts (with Chart.js), pictures. Lets a reader change
// axes, zoom and theme. Asks no server for anything.
(() => {
  const root = document.documentElement;

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  // `Words between backticks` are code.
  const marked = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));
  const captioned = (block, name, ...children) =>
    make("figure", { id: block.id, class: name }, make("figcaption", {}, ...marked(block.caption)), ...children);
  const canvas = (label) => make("canvas", { role: "img", "aria-label": label });

  // A cell is a text, or a text and how it is meant: good, bad, faint.
  const table = (block) => {
    const kind = (column) => (column < block.words ? "words" : "number");
    const cell = (value, i) => {
      const [text, mood] = Array.isArray(value) ? value : [value, ""];
      return make("td", { class: `${kind(i)} ${mood}` }, ...marked(text));
    };
    const titles = block.columns.map((text, i) => make("th", { scope: "col", class: kind(i) }, ...marked(text)));
    const rows = block.rows.map((row) => make("tr", {}, ...row.map(cell)));
    const body = make("table", { id: block.id }, make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows));
    // The caption stands outside of what scrolls sideways on a small screen.
    const caption = make("p", { class: "caption", id: `${block.id}-caption` }, ...marked(block.caption));
    body.setAttribute("aria-labelledby", caption.id);
    return [caption, make("div", { class: "wide" }, body)];
  };

  const chart = (block) => {
    const drawing = make("div", { class: "drawing" }, canvas(block.caption));
    const element = captioned(block, "chart", make("div", { class: "controls" }), drawing);
    figures.push({
      element, data: block, canvas: drawing.firstChild, controls: element.querySelector(".controls"),
      abscissa: 0, ordinate: 0, logX: Boolean(block.logX), logY: Boolean(block.logY), zoom: null, chart: null,
    });
    return [element];
  };

  // A square of cells from white to black, one hexadecimal digit each.
  const picture = ([caption, shades]) => {
    const place = canvas(caption);
    place.width = place.height = Math.round(Math.sqrt(shades.length));
    const image = new ImageData(place.width, place.height);
    [...shades].forEach((digit, i) => image.data.set([0, 0, 0, 17 * parseInt(digit, 16)], 4 * i));
    place.getContext("2d").putImageData(image, 0, 0);
    return make("figure", {}, place, make("figcaption", {}, ...marked(caption)));
  };

  const elements = {
    heading: (block) => [make(`h${block.level}`, { id: block.id }, ...marked(block.text))],
    text: (block) => [make("p", { class: block.warning ? "warning" : "" }, ...marked(block.text))],
    commands: (block) => [make("details", { id: block.id }, make("summary", {}, block.summary), make("pre", {}, block.text))],
    table,
    lines: chart,
    bars: chart,
    gallery: (block) => [captioned(block, "gallery", make("div", {}, ...block.pictures.map(picture)))],
  };

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const figures = [];

  const points = (series, figure) => {
    const x = series.x[figure.abscissa] || [];
    const y = series.y[figure.ordinate] || [];
    // A logarithmic axis has no place for zero and below.
    const fits = (value, log) => value !== null && value !== undefined && (!log || value > 0);
    return x.map((value, i) => ({ x: value, y: y[i] }))
            .filter((p) => fits(p.x, figure.logX) && fits(p.y, figure.logY));
  };

  const dataset = (series, index, figure) => {
    const line = colour(`--c${index % 8}`);
    if (figure.data.kind === "bars") {
      return { label: series.name, data: series.values, backgroundColor: line, borderColor: line };
    }
    const steps = series.style === "steps";
    return {
      label: series.name, data: points(series, figure), borderColor: line,
      backgroundColor: steps ? line + "44" : line, borderWidth: 2,
      borderDash: series.style === "dashed" ? [6, 4] : [], stepped: steps ? "middle" : false, fill: steps,
      showLine: series.style !== "points", pointRadius: series.style === "points" ? 3 : 0, pointHitRadius: 8,
    };
  };

  const axis = (title, type) => ({
    type, title: { display: true, text: title, color: colour("--ink") },
    grid: { color: colour("--rule") }, border: { color: colour("--rule") },
    ticks: { color: colour("--faint"), maxRotation: 60, autoSkip: true },
  });

  const scales = (figure) => {
    const y = axis(figure.data.ordinates[figure.ordinate], figure.logY ? "logarithmic" : "linear");
    if (figure.data.kind === "bars") return { x: axis("", "category"), y };
    const x = axis(figure.data.abscissae[figure.abscissa], figure.logX ? "logarithmic" : "linear");
    if (figure.zoom) Object.assign(x, figure.zoom);
    return { x, y };
  };

  // Plain boxes, also for dashed lines.
  const legend = (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart)
    .map((label) => ({ ...label, fillStyle: label.strokeStyle, lineWidth: 0, lineDash: [] }));

  const configuration = (figure) => ({
    type: figure.data.kind === "bars" ? "bar" : "scatter",
    data: {
      labels: figure.data.categories,
      datasets: figure.data.series.map((series, i) => dataset(series, i, figure)),
    },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false,
      interaction: { mode: figure.data.kind === "bars" ? "index" : "nearest", intersect: false },
      plugins: { legend: { position: "bottom", labels: { color: colour("--ink"), boxWidth: 18, generateLabels: legend } } },
      scales: scales(figure),
    },
  });

  const draw = (figure) => {
    // Which series the reader has switched off survives a change of axes.
    const hidden = figure.chart ? figure.chart.data.datasets.map((_, i) => !figure.chart.isDatasetVisible(i)) : [];
    if (figure.chart) figure.chart.destroy();
    figure.chart = new Chart(figure.canvas, configuration(figure));
    hidden.forEach((off, i) => figure.chart.setDatasetVisibility(i, !off));
    if (hidden.includes(true)) figure.chart.update();
    figure.element.dataset.axes = JSON.stringify([figure.abscissa, figure.ordinate, figure.logX, figure.logY]);
  };

  // A group of buttons of which one is pressed.
  const choice = (figure, label, names, get, set) => {
    const group = document.createElement("span");
    group.append(label);
    const buttons = names.map((name, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => {
        set(i);
        figure.zoom = null;
        press();
        draw(figure);
      });
      group.append(button);
      return button;
    });
    const press = () => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === get())));
    press();
    figure.controls.append(group);
  };

  const addControls = (figure) => {
    const { data } = figure;
    const logOrNot = ["linear", "log"];
    if (data.kind === "lines") {
      if (data.abscissae.length > 1) choice(figure, "x:", data.abscissae, () => figure.abscissa, (i) => { figure.abscissa = i; });
      choice(figure, "x axis:", logOrNot, () => Number(figure.logX), (i) => { figure.logX = i === 1; });
      if (data.ordinates.length > 1) choice(figure, "y:", data.ordinates, () => figure.ordinate, (i) => { figure.ordinate = i; });
    }
    choice(figure, "y axis:", logOrNot, () => Number(figure.logY), (i) => { figure.logY = i === 1; });
    const large = document.createElement("button");
    large.type = "button";
    large.textContent = "larger";
    large.addEventListener("click", () => {
      large.textContent = figure.element.classList.toggle("large") ? "smaller" : "larger";
      figure.chart.resize();
    });
    figure.controls.append(large);
  };

  // Drag over a part of the x axis to zoom into it; a double click shows everything again.
  const addZoom = (figure) => {
    const place = figure.canvas.parentElement;
    let from = null;
    let band = null;
    const offset = (event) => event.clientX - figure.canvas.getBoundingClientRect().left;
    const stop = () => { from = null; if (band) band.remove(); band = null; };
    figure.canvas.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") from = offset(event); });
    figure.canvas.addEventListener("pointermove", (event) => {
      if (from === null) return;
      if (!band) { band = document.createElement("div"); band.className = "band"; place.append(band); }
      band.style.left = `${Math.min(from, offset(event))}px`;
      band.style.width = `${Math.abs(offset(event) - from)}px`;
    });
    figure.canvas.addEventListener("pointerup", (event) => {
      if (from !== null && Math.abs(offset(event) - from) > 8) {
        const ends = [from, offset(event)].map((at) => figure.chart.scales.x.getValueForPixel(at)).sort((a, b) => a - b);
        figure.zoom = { min: ends[0], max: ends[1] };
        draw(figure);
      }
      stop();
    });
    figure.canvas.addEventListener("pointerleave", stop);
    figure.canvas.addEventListener("dblclick", () => { figure.zoom = null; draw(figure); });
  };

  const setTheme = (theme) => {
    root.dataset.theme = theme;
    figures.forEach(draw);
  };

  const page = JSON.parse(document.getElementById("page").textContent);
  document.title = page.title;
  document.querySelector("h1").append(page.title);
  document.querySelector("header p").append(...marked(page.subtitle));
  const sections = page.blocks.filter((block) => block.kind === "heading" && block.level === 2);
  document.querySelector("nav").prepend(...sections.map((block) => make("a", { href: `#${block.id}` }, ...marked(block.text))));
  document.querySelector("main").append(...page.blocks.flatMap((block) => elements[block.kind](block)));
  for (const figure of figures) {
    addControls(figure);
    if (figure.data.kind === "lines") addZoom(figure);
  }
  setTheme(dark.matches ? "dark" : "light");
  document.getElementById("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  // Paper is white.
  let screenTheme = null;
  window.addEventListener("beforeprint", () => { screenTheme = root.dataset.theme; setTheme("light"); });
  window.addEventListener("afterprint", () => { if (screenTheme) setTheme(screenTheme); });
})();
