// Tables that can be sorted and filtered. Short ones are in the page; long ones are drawn as they are scrolled.
outlive.tables = (() => {
  "use strict";
  const { element, format, speak } = outlive;
  const ROW = 32, BEYOND = 8, MOST_PRINTED = 2000, PAPER = 104;
  const NUMBERS = ["number", "bytes", "bar", "share"];
  const long = [];

  // What has no place among the others comes last, whichever way they are sorted.
  const isNothing = (value) => value === null || value === "" || Number.isNaN(value);

  function compare(a, b, sign) {
    if (a === b || (isNothing(a) && isNothing(b))) return 0;
    if (isNothing(a)) return 1;
    if (isNothing(b)) return -1;
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

  // JSON has no word for what is not finite: in a column of numbers it is written as a string of that name.
  const NOT_FINITE = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

  function read(columns, rows) {
    const numbers = columns.filter((column) => NUMBERS.includes(column.kind)).map((column) => column.at);
    for (const row of rows) {
      for (const at of numbers) if (typeof row[at] === "string" && row[at] in NOT_FINITE) row[at] = NOT_FINITE[row[at]];
    }
    return rows;
  }

  function longest(column, rows) {
    let most = 0;
    for (let at = 0; at < rows.length; at += Math.max(1, Math.floor(rows.length / 200))) {
      most = Math.max(most, format(column.kind, rows[at][column.at]).length);
    }
    return most;
  }

  // On paper columns get what they hold, or the longest word of their title, and wide ones the rest; each gets
  // its part of the page where that is too much.
  function onPaper(columns, rows) {
    const rooms = columns.map((column) => {
      const word = Math.max(...column.title.split(" ").map((part) => part.length));
      const most = Math.min(longest(column, rows) + (column.kind === "chip" ? 6 : 0), column.wide ? 20 : 18);
      return Math.max(word, most) + 1;
    });
    const isRoom = rooms.reduce((sum, room) => sum + room + 1, 0) <= PAPER;
    return columns.map((column, at) => (isRoom ? (column.wide ? `minmax(${rooms[at]}ch, 1fr)` : `${rooms[at]}ch`) : `minmax(0, ${rooms[at]}fr)`)).join(" ");
  }

  function width(column, rows) {
    const room = Math.min(Math.max(column.title.length + 2, longest(column, rows)), column.wide ? 60 : 30);
    return column.wide ? `minmax(${Math.min(room, 44)}ch, 1fr)` : `${room + (column.kind === "chip" ? 4 : column.kind === "bar" ? 12 : 1)}ch`;
  }

  class Long {
    constructor(holder, given) {
      this.columns = given.columns.map((column, at) => ({ ...column, at }));
      this.all = read(this.columns, given.rows);
      this.shown = this.all;
      this.drawn = new Map();
      this.tops = this.columns.map((column) => (column.kind === "bar" ? given.rows.reduce((most, row) => Math.max(most, Number.isFinite(row[column.at]) ? row[column.at] : 0), 1) : 0));
      this.screen = this.columns.map((column) => width(column, given.rows)).join(" ");
      this.paper = onPaper(this.columns, given.rows);
      this.grid = this.screen;
      this.window = element("div", "window");
      this.window.tabIndex = 0;
      this.window.setAttribute("role", "table");
      this.window.setAttribute("aria-label", holder.dataset.caption);
      this.window.setAttribute("aria-colcount", this.columns.length);
      this.rest = element("p", "rest");
      this.rest.hidden = true;
      this.body = element("div", "body");
      this.body.setAttribute("role", "rowgroup");
      this.window.append(this.head(), this.body);
      holder.replaceChildren(barAbove(holder.dataset.caption, given.rows.length, (words) => this.filter(words)), this.window, this.rest);
      this.window.addEventListener("scroll", () => this.draw(), { passive: true });
      new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.window);
      this.size();
    }

    head() {
      const group = element("div", "head"), row = this.row(0);
      this.titles = row;
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
      if (this.isPrinting && first === undefined) return;
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

    // On paper nothing can be scrolled: rows stand below each other, and what is long is broken, not cut.
    print(begins) {
      const isFolded = this.window.closest("details:not([open])") !== null;
      const count = isFolded ? 0 : Math.min(this.shown.length, MOST_PRINTED);
      this.isPrinting = begins;
      this.grid = begins ? this.paper : this.screen;
      this.titles.style.gridTemplateColumns = this.grid;
      this.rest.hidden = !begins || isFolded || count === this.shown.length;
      this.rest.textContent = `The first ${count.toLocaleString("en-US")} of ${this.shown.length.toLocaleString("en-US")} rows.`;
      this.draw(true, begins ? 0 : undefined, begins ? count : undefined);
    }
  }

  function start(given) {
    document.querySelectorAll("[data-short]").forEach(short);
    for (const holder of document.querySelectorAll("[data-table]")) long.push(new Long(holder, given[holder.dataset.table]));
  }

  return { start, print: (begins) => long.forEach((table) => table.print(begins)) };
})();
