// Amounts as text, elements, colours: what the other files share. Text only ever becomes text, never markup.
const outlive = (() => {
  "use strict";
  const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];

  function formatBytes(count) {
    if (Math.abs(count) < 1024) return `${Math.round(count)} B`;
    let value = count, unit = "";
    for (unit of UNITS) {
      value /= 1024;
      if (Math.abs(value) < 999.5) break;
    }
    const size = Math.abs(value);
    return `${value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0)} ${unit}`;
  }

  function formatNumber(value) {
    return Number.isInteger(value)
      ? value.toLocaleString("en-US")
      : value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  }

  function formatSeconds(value) {
    return value < 1 ? `${formatNumber(Math.round(value * 1e5) / 100)} ms` : `${formatNumber(value)} s`;
  }

  // How a value is said, by its kind.
  function format(kind, value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "string") return value;
    if (Number.isNaN(value)) return "not a number";
    if (!Number.isFinite(value)) return value > 0 ? "infinite" : "minus infinite";
    if (kind === "bytes" || kind === "bar") return formatBytes(value);
    if (kind === "seconds") return formatSeconds(value);
    if (kind === "share") return `${(value * 100).toFixed(1)}%`;
    if (kind === "decibels") return `${formatNumber(value)} dB`;
    if (kind === "op") return Number.isInteger(value) ? `op ${value}` : "";
    return formatNumber(value);
  }

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function embedded(id) {
    return JSON.parse(document.getElementById(id).textContent);
  }

  function colour(tone) {
    const name = /^\d$/.test(tone) ? `c${tone}` : ({ plain: "c7", warn: "amber" })[tone] || tone;
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function speak(text) {
    document.getElementById("spoken").textContent = text;
  }

  return { format, formatBytes, element, embedded, colour, speak };
})();
