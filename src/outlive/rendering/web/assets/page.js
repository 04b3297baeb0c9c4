// The page comes alive: colours, copying, saving, choices, contents, charts, tables, print.
(() => {
  "use strict";
  const root = document.documentElement;
  const given = root.dataset.theme || "auto"; // by a page that shows this one in a frame
  const THEMES = { auto: "as the system", light: "light", dark: "dark" };

  function remember(theme) {
    try {
      if (theme === undefined) return localStorage.getItem("outlive-theme") || given;
      localStorage.setItem("outlive-theme", theme);
    } catch {
      // A browser that keeps nothing for files shows the system's colours.
    }
    return theme || given;
  }

  function paint(theme) {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.dataset.theme = theme;
    const button = document.getElementById("theme");
    button.textContent = theme[0].toUpperCase() + theme.slice(1);
    button.setAttribute("aria-label", `Colours: ${THEMES[theme]}`);
  }

  function startThemes() {
    let theme = remember();
    if (!(theme in THEMES)) theme = "auto";
    paint(theme);
    const button = document.getElementById("theme");
    button.hidden = false;
    button.addEventListener("click", () => {
      const names = Object.keys(THEMES);
      theme = names[(names.indexOf(theme) + 1) % names.length];
      remember(theme);
      paint(theme);
      outlive.charts.redraw();
      outlive.speak(`colours: ${THEMES[theme]}`);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => outlive.charts.redraw());
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const box = outlive.element("textarea", "hidden");
      box.value = text;
      document.body.append(box);
      box.select();
      const done = document.execCommand("copy");
      box.remove();
      return done;
    }
  }

  function startCopying() {
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.setAttribute("aria-label", `Copy: ${button.dataset.copy}`);
      button.addEventListener("click", async () => {
        const done = await copy(button.dataset.copy);
        button.textContent = done ? "Copied" : "Select it by hand";
        outlive.speak(button.textContent);
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
    }
  }

  function startSaving() {
    const button = document.getElementById("save-json");
    button.hidden = false;
    button.addEventListener("click", () => {
      const text = JSON.stringify(outlive.embedded("outlive-document"), null, 1);
      const link = outlive.element("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = `outlive-${document.body.dataset.kind}.json`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  }

  function startChoices() {
    for (const choice of document.querySelectorAll("[data-choice]")) {
      const buttons = [...choice.querySelectorAll("[data-shows]")];
      const figures = buttons.map((button) => document.getElementById(button.dataset.shows));
      const pick = (chosen) => buttons.forEach((button, at) => {
        button.setAttribute("aria-pressed", String(at === chosen));
        figures[at].hidden = at !== chosen;
      });
      buttons.forEach((button, at) => button.addEventListener("click", () => pick(at)));
      choice.querySelector(".tabs").hidden = false;
      pick(0);
    }
  }

  function startContents() {
    const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
    if (!links.size) return;
    const seen = new Set();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target.id);
      const current = [...links.keys()].find((id) => seen.has(id));
      for (const [id, link] of links) {
        if (id === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }, { rootMargin: "-10% 0px -55% 0px" });
    for (const id of links.keys()) observer.observe(document.getElementById(id));
  }

  function startPrinting() {
    let before = null, covered = [];
    addEventListener("beforeprint", () => {
      before = root.dataset.theme || null;
      root.dataset.theme = "light";
      // The page becomes as wide as paper first: charts are drawn as wide as they find it.
      root.dataset.printing = "true";
      covered = [...document.querySelectorAll("[data-choice] figure[hidden]")];
      for (const figure of covered) figure.hidden = false;
      outlive.charts.drawAll();
      outlive.charts.redraw();
      outlive.tables.print(true);
    });
    addEventListener("afterprint", () => {
      if (before) root.dataset.theme = before;
      else root.removeAttribute("data-theme");
      root.removeAttribute("data-printing");
      outlive.charts.redraw();
      for (const figure of covered) figure.hidden = true;
      outlive.tables.print(false);
    });
  }

  const drawn = outlive.embedded("outlive-drawn");
  startThemes();
  startCopying();
  startSaving();
  startChoices();
  startContents();
  outlive.tables.start(drawn.tables);
  outlive.charts.start(drawn.charts);
  startPrinting();
  root.dataset.ready = "true";
})();
