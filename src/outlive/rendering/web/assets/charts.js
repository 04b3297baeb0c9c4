// The frame of a chart: a uPlot with buttons, a tip, keys to walk along it, and colours of the page.
outlive.charts = (() => {
  "use strict";
  const { element, colour, format, speak } = outlive;
  const built = new Map();
  // Steps of an axis: sizes go up by powers of two, operators and rounds are whole.
  const POWERS = Array.from({ length: 50 }, (_, power) => 2 ** power);
  const WHOLE = Array.from({ length: 21 }, (_, at) => [1, 2, 5][at % 3] * 10 ** Math.floor(at / 3));
  let data = {};

  function makeButton(label, title, action) {
    const button = element("button", "", label);
    button.type = "button";
    button.title = title;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", action);
    return button;
  }

  // Where a chart looks: the whole of it, or a part.
  function look(chart, x, y) {
    const [low, high] = chart.whole.x;
    const least = Math.max((high - low) / 1e6, chart.kind.leastSpan || 0);
    const span = Math.min(Math.max(x[1] - x[0], least), high - low);
    const start = Math.min(Math.max((x[0] + x[1] - span) / 2, low), high - span);
    chart.view = { x: [start, start + span], y: y || chart.view.y };
    chart.plot.batch(() => {
      chart.plot.setScale("x", { min: chart.view.x[0], max: chart.view.x[1] });
      chart.plot.setScale("y", { min: chart.view.y[0], max: chart.view.y[1] });
    });
    chart.host.dataset.zoomed = String(span < (high - low) * 0.999);
  }

  function zoom(chart, factor) {
    const [low, high] = chart.view.x;
    const middle = chart.at >= 0 ? chart.kind.place(chart, chart.at)[0] : (low + high) / 2;
    const span = (high - low) * factor;
    look(chart, [middle - span / 2, middle + span / 2]);
  }

  function move(chart, share) {
    const [low, high] = chart.view.x;
    look(chart, [low + (high - low) * share, high + (high - low) * share]);
  }

  function reset(chart) {
    look(chart, chart.whole.x, chart.whole.y);
  }

  function takeSelection(chart) {
    const { left, top, width, height } = chart.plot.select;
    if (width > 4) {
      const x = [chart.plot.posToVal(left, "x"), chart.plot.posToVal(left + width, "x")];
      const inside = chart.kind.zoomsHeight && height > 4 && height < chart.plot.over.clientHeight - 4;
      const y = [chart.plot.posToVal(top + height, "y"), chart.plot.posToVal(top, "y")];
      look(chart, x, inside ? y : undefined);
    }
    if (width || height) chart.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  function hide(chart) {
    chart.tip.hidden = true;
    chart.spot.hidden = true;
  }

  // Shows what is at a place of the chart, in words.
  function show(chart, index, left, top) {
    chart.at = index;
    const lines = chart.kind.tell(chart, index);
    chart.tip.replaceChildren(...lines.map((line, at) => element("p", at ? "" : "first", line)));
    chart.tip.hidden = false;
    const over = chart.plot.over, frame = chart.host.getBoundingClientRect(), inner = over.getBoundingClientRect();
    const wide = chart.tip.offsetWidth, tall = chart.tip.offsetHeight;
    let x = inner.left - frame.left + left + 14;
    if (x + wide > frame.width) x = Math.max(0, inner.left - frame.left + left - wide - 14);
    let y = inner.top - frame.top + top - tall - 10;
    if (y < 0) y = inner.top - frame.top + top + 16;
    chart.tip.style.left = `${x}px`;
    chart.tip.style.top = `${y}px`;
    if (chart.kind.mark) chart.kind.mark(chart, index);
    return lines;
  }

  function hover(chart) {
    const { left, top } = chart.plot.cursor;
    const found = left === null || left < 0 ? -1 : chart.kind.find(chart, left, top);
    if (found < 0) hide(chart);
    else show(chart, found, left, top);
  }

  // Goes to the next thing to be told, and brings it into view.
  function walk(chart, step) {
    const count = chart.kind.count(chart);
    if (!count) return;
    const next = chart.at < 0 ? 0 : Math.min(count - 1, Math.max(0, chart.at + step));
    const [x, y] = chart.kind.place(chart, next);
    const [low, high] = chart.view.x;
    if (x < low || x > high) look(chart, [x - (high - low) / 2, x + (high - low) / 2]);
    const lines = show(chart, next, chart.plot.valToPos(x, "x"), chart.plot.valToPos(y, "y"));
    speak(lines.join("; "));
  }

  function onKey(chart, event) {
    const actions = {
      ArrowRight: () => walk(chart, 1), ArrowLeft: () => walk(chart, -1),
      PageDown: () => walk(chart, 10), PageUp: () => walk(chart, -10),
      Home: () => walk(chart, -1e9), End: () => walk(chart, 1e9),
      "+": () => zoom(chart, 0.5), "=": () => zoom(chart, 0.5), "-": () => zoom(chart, 2),
      0: () => reset(chart), Escape: () => hide(chart),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  function axis(kind, name, side, labels) {
    const ink = colour("soft"), line = colour("line");
    return {
      stroke: ink, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
      grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 5 },
      values: (plot, splits) => splits.map((value) => (labels ? labels[value] || "" : kind === "none" ? "" : format(kind === "op" ? "number" : kind, value))),
      label: name, labelSize: 22, labelGap: 2, size: side ? 74 : 34, space: side ? 38 : 70,
      incrs: kind === "bytes" ? POWERS : ["op", "rounds", "none"].includes(kind) ? WHOLE : undefined,
    };
  }

  function options(chart) {
    const given = chart.data;
    return {
      width: chart.area.clientWidth || 600,
      height: Math.round((given.height || 300) * (window.innerWidth < 640 ? 0.85 : 1)),
      legend: { show: false }, padding: [18, 26, 0, 0],
      cursor: {
        drag: { x: true, y: Boolean(chart.kind.zoomsHeight), uni: 30, setScale: false },
        points: { show: false }, y: false,
        bind: { dblclick: () => () => { reset(chart); return null; } },
      },
      scales: {
        x: { time: false, range: () => chart.view.x },
        y: { range: () => chart.view.y, distr: given.is_log ? 3 : 1 },
      },
      axes: [axis(given.x_kind, given.x_name, false, given.x_labels), axis(given.y_kind, given.y_name, true)],
      series: chart.kind.series(chart),
      hooks: {
        drawClear: [() => chart.kind.under && chart.kind.under(chart)],
        draw: [() => chart.kind.over && chart.kind.over(chart)],
        setCursor: [() => hover(chart)],
        setSelect: [() => takeSelection(chart)],
      },
    };
  }

  function legend(given) {
    const list = element("ul", "legend");
    for (const { name, tone } of given.legend || []) {
      const item = element("li");
      item.append(element("span", `chip c-${tone}`, name));
      list.append(item);
    }
    return list;
  }

  function build(host) {
    const given = data[host.dataset.chart];
    if (built.has(host)) drop(host);
    const chart = { host, data: given, kind: outlive.kinds[given.kind], at: -1 };
    chart.whole = chart.kind.whole(given);
    chart.view = { ...chart.whole };
    chart.area = element("div", "area");
    chart.area.tabIndex = 0;
    chart.area.setAttribute("role", "group");
    chart.area.setAttribute("aria-roledescription", "chart");
    chart.area.setAttribute("aria-label", host.dataset.title);
    chart.area.setAttribute("aria-describedby", `${host.dataset.chart}-summary`);
    chart.tip = element("div", "tip");
    chart.spot = element("div", "spot");
    const bar = element("div", "zoom");
    bar.append(
      makeButton("←", "Earlier part", () => move(chart, -0.3)), makeButton("→", "Later part", () => move(chart, 0.3)),
      makeButton("+", "Zoom in", () => zoom(chart, 0.5)), makeButton("−", "Zoom out", () => zoom(chart, 2)),
      makeButton("All", "Show all of it", () => reset(chart)),
    );
    host.replaceChildren(bar, chart.area, chart.tip, legend(given));
    chart.plot = new uPlot(options(chart), chart.kind.rows(given), chart.area);
    chart.plot.over.append(chart.spot);
    hide(chart);
    look(chart, chart.whole.x, chart.whole.y);
    chart.area.addEventListener("keydown", (event) => onKey(chart, event));
    chart.area.addEventListener("blur", () => hide(chart));
    chart.area.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      chart.at = -1;
      zoom(chart, event.deltaY < 0 ? 0.8 : 1.25);
    }, { passive: false });
    chart.watch = new ResizeObserver(() => requestAnimationFrame(() => {
      const width = chart.area.clientWidth;
      if (width && width !== chart.plot.width) chart.plot.setSize({ width, height: chart.plot.height });
    }));
    chart.watch.observe(chart.area);
    built.set(host, chart);
    host.dataset.drawn = "true";
    return chart;
  }

  function drop(host) {
    const chart = built.get(host);
    chart.watch.disconnect();
    chart.plot.destroy();
    built.delete(host);
  }

  // Charts are drawn when they come near; a page with twenty of them opens as quickly as one with none.
  function start(given) {
    data = given;
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting && !built.has(entry.target)) build(entry.target);
      }
    }, { rootMargin: "600px" });
    for (const host of document.querySelectorAll("[data-chart]")) near.observe(host);
    for (const hint of document.querySelectorAll("[data-hint]")) hint.hidden = false;
  }

  function redraw() {
    for (const host of [...built.keys()]) {
      const { view } = built.get(host);
      const chart = build(host);
      look(chart, view.x, view.y);
    }
  }

  function drawAll() {
    for (const host of document.querySelectorAll("[data-chart]")) {
      if (!built.has(host) && host.offsetParent) build(host);
    }
  }

  return { start, redraw, drawAll, built };
})();
