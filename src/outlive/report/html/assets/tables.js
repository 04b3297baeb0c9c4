// Tables that can be sorted and filtered. Short ones are in the page; long ones are drawn as they are scrolled.
outlive.tables = (() => {
  "use strict";
  const { element, format, speak } = outlive;
  const ROW = 32, BEYOND = 8, MOST_PRINTED = 2000;
  const NUMBERS = ["number", "bytes", "bar", "share"];
  const long = [];

  function compare(a, b, sign) {
    if (a === b) return 0;
    if (a === null || a === "") return 1;
    if (b === null || b === "") return -1;
    const less = typeof a === "number" && typeof b === "number" ? a < b : String(a) < String(b);
    return less ? -sign : sign;
  }

  // A title as a button that sorts, and says so.
  function sorter(head, title, onSort) {
    const button = element("button", "sorter", title);
    button.type = "button";
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      onSort(down ? -1 : 1);
      speak(`sorted by ${title}, ${down ? "descending" : "ascending"}`);
    });
    head.replaceChildren(button);
  }

  function barAbove(caption, count, onFilter) {
    const bar = element("div", "bar-above"), box = element("input", "filter"), told = element("span", "count");
    box.type = "search";
    box.placeholder = "Filter";
    box.setAttribute("aria-label", `Filter: ${caption}`);
    const tell = (shown) => { told.textContent = shown === count ? `${count.toLocaleString("en-US")} rows` : `${shown.toLocaleString("en-US")} of ${count.toLocaleString("en-US")} rows`; };
    box.addEventListener("input", () => {
      const shown = onFilter(box.value.trim().toLowerCase().split(/\s+/).filter(Boolean));
      tell(shown);
      speak(told.textContent);
    });
    tell(count);
    bar.append(box, told);
    return bar;
  }

  function short(holder) {
    const table = holder.querySelector("table"), body = table.tBodies[0], rows = [...body.rows];
    for (const fill of holder.querySelectorAll("[data-width]")) fill.style.width = `${fill.dataset.width}%`;
    if (rows.length < 3) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent) return;
      const isNumber = NUMBERS.some((kind) => head.classList.contains(`k-${kind}`));
      const key = (row) => {
        const text = row.cells[column].dataset.sort;
        return text === "" ? null : isNumber ? Number(text) : text;
      };
      sorter(head, head.textContent, (sign) => body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b), sign))));
    });
    if (rows.length < 12) return;
    holder.prepend(barAbove(table.caption.textContent, rows.length, (words) => {
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
        shown += row.hidden ? 0 : 1;
      }
      return shown;
    }));
  }

  function width(column, rows) {
    let most = column.title.length + 2;
    for (let at = 0; at < rows.length; at += Math.max(1, Math.floor(rows.length / 200))) {
      most = Math.max(most, format(column.kind, rows[at][column.at]).length);
    }
    const room = Math.min(most, column.wide ? 60 : 30);
    return column.wide ? `minmax(${Math.min(room, 44)}ch, 1fr)` : `${room + (column.kind === "chip" ? 4 : column.kind === "bar" ? 12 : 1)}ch`;
  }

  class Long {
    constructor(holder, given) {
      this.columns = given.columns.map((column, at) => ({ ...column, at }));
      this.all = given.rows;
      this.shown = given.rows;
      this.drawn = new Map();
      this.tops = this.columns.map((column) => (column.kind === "bar" ? given.rows.reduce((most, row) => Math.max(most, row[column.at] || 0), 1) : 0));
      this.grid = this.columns.map((column) => width(column, given.rows)).join(" ");
      this.window = element("div", "window");
      this.window.tabIndex = 0;
      this.window.setAttribute("role", "table");
      this.window.setAttribute("aria-label", holder.dataset.caption);
      this.window.setAttribute("aria-colcount", this.columns.length);
      this.body = element("div", "body");
      this.body.setAttribute("role", "rowgroup");
      this.window.append(this.head(), this.body);
      holder.replaceChildren(barAbove(holder.dataset.caption, given.rows.length, (words) => this.filter(words)), this.window);
      this.window.addEventListener("scroll", () => this.draw(), { passive: true });
      new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.window);
      this.size();
    }

    head() {
      const group = element("div", "head"), row = this.row(0);
      group.setAttribute("role", "rowgroup");
      for (const column of this.columns) {
        const cell = element("div", `cell k-${column.kind}`);
        cell.setAttribute("role", "columnheader");
        row.append(cell);
        sorter(cell, column.title, (sign) => this.sort(column, sign));
      }
      group.append(row);
      return group;
    }

    row(index) {
      const row = element("div", "row");
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", index + 1);
      row.style.gridTemplateColumns = this.grid;
      return row;
    }

    cell(column, value) {
      const cell = element("div", `cell k-${column.kind}`);
      cell.setAttribute("role", "cell");
      const text = format(column.kind, value);
      if (column.kind === "chip" && text) cell.append(element("span", `chip c-${column.tones[text] || "plain"}`, text));
      else if (column.kind === "bar" && text) {
        const meter = element("div", "meter"), track = element("span", "track"), fill = element("span", "fill");
        fill.style.width = `${Math.min(100, (100 * value) / this.tops[column.at])}%`;
        track.append(fill);
        meter.append(element("span", "", text), track);
        cell.append(meter);
      } else cell.textContent = text;
      if (text.length > 20) cell.title = text;
      return cell;
    }

    sort(column, sign) {
      this.shown = [...this.shown].sort((a, b) => compare(a[column.at], b[column.at], sign));
      this.all = [...this.all].sort((a, b) => compare(a[column.at], b[column.at], sign));
      this.draw(true);
    }

    filter(words) {
      const told = (row) => this.columns.map((column) => format(column.kind, row[column.at])).join(" ").toLowerCase();
      this.shown = words.length ? this.all.filter((row) => { const text = told(row); return words.every((word) => text.includes(word)); }) : this.all;
      this.window.scrollTop = 0;
      this.size();
      return this.shown.length;
    }

    size() {
      this.body.style.height = `${this.shown.length * ROW}px`;
      this.window.setAttribute("aria-rowcount", this.shown.length + 1);
      this.draw(true);
    }

    draw(again, first, last) {
      const top = this.window.scrollTop, tall = this.window.clientHeight;
      const from = first === undefined ? Math.max(0, Math.floor(top / ROW) - BEYOND) : first;
      const to = last === undefined ? Math.min(this.shown.length, Math.ceil((top + tall) / ROW) + BEYOND) : last;
      if (!again && from === this.from && to === this.to) return;
      [this.from, this.to] = [from, to];
      if (again) {
        this.body.replaceChildren();
        this.drawn.clear();
      }
      for (const [at, row] of this.drawn) {
        if (at >= from && at < to) continue;
        row.remove();
        this.drawn.delete(at);
      }
      // Rows stand in the page in their order, for whoever reads it by ear.
      const lowest = this.drawn.size ? Math.min(...this.drawn.keys()) : to;
      const before = document.createDocumentFragment(), after = document.createDocumentFragment();
      for (let at = from; at < to; at++) {
        if (!this.drawn.has(at)) (at < lowest ? before : after).append(this.filled(at));
      }
      this.body.prepend(before);
      this.body.append(after);
    }

    filled(at) {
      const row = this.row(at + 1);
      row.style.top = `${at * ROW}px`;
      row.append(...this.columns.map((column) => this.cell(column, this.shown[at][column.at])));
      this.drawn.set(at, row);
      return row;
    }

    // On paper nothing can be scrolled.
    print(begins) {
      const count = Math.min(this.shown.length, MOST_PRINTED);
      this.window.style.height = begins ? `${(count + 1) * ROW + 4}px` : "";
      this.draw(true, begins ? 0 : undefined, begins ? count : undefined);
    }
  }

  function start(given) {
    document.querySelectorAll("[data-short]").forEach(short);
    for (const holder of document.querySelectorAll("[data-table]")) long.push(new Long(holder, given[holder.dataset.table]));
  }

  return { start, print: (begins) => long.forEach((table) => table.print(begins)) };
})();
