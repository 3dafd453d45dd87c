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
  const table = (given) => {
    // A column without a single cell would be noise.
    const filled = given.columns.map((_, i) => given.rows.some((row) => String(row[i]) !== ""));
    const keep = (cells) => cells.filter((_, i) => filled[i]);
    const words = keep(given.columns.map((_, i) => i < given.words));
    const block = { ...given, columns: keep(given.columns), rows: given.rows.map(keep) };
    const kind = (column) => (words[column] ? "words" : "number");
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

  // The kind of axis that suits an ordinate.
  const usualLogY = (block, ordinate) => Boolean(Array.isArray(block.logY) ? block.logY[ordinate] : block.logY);

  const chart = (block) => {
    const drawing = make("div", { class: "drawing" }, canvas(block.caption));
    const element = captioned(block, "chart", make("div", { class: "controls" }), drawing);
    figures.push({
      element, data: block, canvas: drawing.firstChild, controls: element.querySelector(".controls"),
      abscissa: 0, ordinate: block.first || 0, logX: Boolean(block.logX), logY: usualLogY(block, block.first || 0),
      zoom: null, chart: null,
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

  // Colours from the lower to the upper end, as lists of red, green and blue that are blended.
  const palettes = {
    sequential: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],
    diverging: [[33, 102, 172], [146, 197, 222], [247, 247, 247], [244, 165, 130], [178, 24, 43]],
  };
  const blend = (palette, share) => {
    const place = share * (palette.length - 1);
    const below = Math.min(Math.floor(place), palette.length - 2);
    return palette[below].map((value, i) => Math.round(value + (place - below) * (palette[below + 1][i] - value)));
  };
  const image = (picture) => {
    const palette = palettes[picture.colours];
    const place = canvas(picture.caption);
    place.width = picture.width;
    place.height = picture.height;
    const pixels = new ImageData(picture.width, picture.height);
    for (let i = 0; 2 * i < picture.cells.length; ++i) {
      const cell = picture.cells.slice(2 * i, 2 * i + 2);
      // What is missing stays transparent.
      if (cell !== "--") pixels.data.set([...blend(palette, parseInt(cell, 16) / 255), 255], 4 * i);
    }
    place.getContext("2d").putImageData(pixels, 0, 0);
    const stops = palette.map((rgb) => `rgb(${rgb.join(" ")})`).join(", ");
    const scale = make("div", { class: "scale" }, picture.lower, make("i", { style: `background: linear-gradient(90deg, ${stops})` }), picture.upper);
    return make("figure", {}, make("figcaption", {}, picture.caption), place, scale);
  };

  const elements = {
    heading: (block) => [make(`h${block.level}`, { id: block.id }, ...marked(block.text))],
    text: (block) => [make("p", { class: block.warning ? "warning" : "" }, ...marked(block.text))],
    commands: (block) => [make("details", { id: block.id }, make("summary", {}, block.summary), make("pre", {}, block.text))],
    table,
    lines: chart,
    bars: chart,
    images: (block) => [captioned(block, "images", make("div", {}, ...block.pictures.map(image)))],
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
    const data = points(series, figure);
    return {
      label: series.name, data, borderColor: line,
      backgroundColor: steps ? line + "44" : line, borderWidth: 2,
      borderDash: series.style === "dashed" ? [6, 4] : [], stepped: steps ? "middle" : false, fill: steps,
      showLine: !["points", "mark"].includes(series.style),
      // A line of one point would not be seen.
      pointRadius: { points: 3, dotted: 4, mark: 9 }[series.style] || (data.length === 1 ? 5 : 0), pointHitRadius: 8,
      ...(series.style === "mark" ? { backgroundColor: "transparent", borderWidth: 3 } : {}),
    };
  };

  const short = (value) => {
    const size = Math.abs(value);
    return size !== 0 && (size >= 1e6 || size < 1e-3) ? value.toExponential().replace("e+", "e") : String(Number(value.toPrecision(6)));
  };
  // Logarithmic axes have more ticks than room: powers of ten are named, and more where the axis is short.
  const tickLabel = (type) => (value, _, ticks) => {
    if (type !== "logarithmic") return short(value);
    const span = ticks[ticks.length - 1].value / ticks[0].value;
    const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
    const named = span > 1000 ? [1] : span > 5 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
    return named.includes(digit) ? short(Number(value.toPrecision(3))) : "";
  };

  const axis = (title, type) => ({
    type, title: { display: true, text: title, color: colour("--ink") },
    grid: { color: colour("--rule") }, border: { color: colour("--rule") },
    ticks: {
      color: colour("--faint"), maxRotation: 60, autoSkip: true, ...(type === "category" ? {} : { callback: tickLabel(type) }),
    },
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
      // A series without points here belongs to another ordinate: it would only stand in the legend.
      datasets: figure.data.series.map((series, i) => dataset(series, i, figure)).filter((set) => set.data.length > 0),
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
      if (data.ordinates.length > 1) choice(figure, "y:", data.ordinates, () => figure.ordinate, (i) => { figure.ordinate = i; figure.logY = usualLogY(data, i); });
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
