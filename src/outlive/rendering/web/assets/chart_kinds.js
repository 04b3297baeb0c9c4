// The kinds of charts: lines over something, boxes on a map, points in a plane. Each says what it holds where.
outlive.kinds = (() => {
  "use strict";
  const { colour, format } = outlive;

  function pixels(plot, x, y) {
    return [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
  }

  function write(plot, text, x, y, tone, align) {
    const { ctx } = plot;
    ctx.font = `${12 * uPlot.pxRatio}px system-ui, sans-serif`;
    ctx.fillStyle = colour(tone);
    ctx.textAlign = align || "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillText(text, x, y);
  }

  function inside(plot, draw) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox);
    ctx.restore();
  }

  function dashed(ctx, x0, y0, x1, y1, tone) {
    ctx.beginPath();
    ctx.setLineDash([5 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
    ctx.lineWidth = uPlot.pxRatio;
    ctx.strokeStyle = colour(tone);
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  // Levels across, with their names; a name that would lie on another one is moved below its line.
  function levels(plot, rows) {
    const taken = [];
    for (const { y, name, tone } of rows || []) {
      const at = plot.valToPos(y, "y", true), { left, width, top, height } = plot.bbox;
      if (at < top - 1 || at > top + height + 1) continue;
      inside(plot, (ctx) => dashed(ctx, left, at, left + width, at, tone || "soft"));
      const up = at - 5 * uPlot.pxRatio, down = at + 14 * uPlot.pxRatio;
      const place = taken.some((other) => Math.abs(other - up) < 14 * uPlot.pxRatio) ? down : up;
      taken.push(place);
      write(plot, name, left + width - 6, Math.max(place, top + 12 * uPlot.pxRatio), tone || "soft", "right");
    }
  }

  // Moments, with names; those that are too near each other to be read keep only their line.
  function moments(plot, rows) {
    let free = -Infinity;
    for (const { x, name } of rows || []) {
      const at = plot.valToPos(x, "x", true), { left, width, top, height } = plot.bbox;
      if (at < left - 1 || at > left + width + 1) continue;
      inside(plot, (ctx) => dashed(ctx, at, top, at, top + height, "soft"));
      plot.ctx.font = `${12 * uPlot.pxRatio}px system-ui, sans-serif`;
      const wide = plot.ctx.measureText(name).width;
      if (at - wide / 2 < free) continue;
      write(plot, name, Math.min(at, left + width - wide / 2), top - 5 * uPlot.pxRatio, "soft", "center");
      free = at + wide / 2 + 6 * uPlot.pxRatio;
    }
  }

  function worst(plot, given) {
    if (!given) return;
    const [x, y] = pixels(plot, given.x, given.y), { left, width, top } = plot.bbox, { ctx } = plot;
    if (x < left || x > left + width) return;
    inside(plot, () => {
      ctx.beginPath();
      ctx.arc(x, Math.max(y, top + 6), 5 * uPlot.pxRatio, 0, 7);
      ctx.fillStyle = colour("bad");
      ctx.fill();
      ctx.lineWidth = 2 * uPlot.pxRatio;
      ctx.strokeStyle = colour("card");
      ctx.stroke();
    });
    ctx.font = `${12 * uPlot.pxRatio}px system-ui, sans-serif`;
    const half = ctx.measureText(given.name).width / 2;
    const middle = Math.min(Math.max(x, left + half), left + width - half);
    write(plot, given.name, middle, Math.max(y - 10 * uPlot.pxRatio, top - 5 * uPlot.pxRatio), "bad", "center");
  }

  // A value between two gaps is no line: it is drawn as a point.
  function lone(plot, series) {
    const values = plot.data[series], isGap = (at) => values[at] === null || values[at] === undefined;
    return [...values.keys()].filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1));
  }

  const lines = {
    rows: (given) => [given.x, ...given.series.map((one) => one.values)],
    whole(given) {
      let least = 0, most = 0;
      for (const one of given.series) {
        for (const value of one.values) {
          if (value === null) continue;
          if (value > most) most = value;
          if (value < least) least = value;
        }
      }
      for (const { y } of given.levels || []) most = Math.max(most, y);
      const bars = given.series.some((one) => one.style === "bars") ? 0.5 : 0;
      const first = given.x[0] - bars, last = given.x[given.x.length - 1] + bars;
      const span = most - least || 1;
      return { x: last > first ? [first, last] : [first - 0.5, first + 0.5], y: [least < 0 ? least - span * 0.08 : 0, most + span * 0.12] };
    },
    series(chart) {
      const styles = {
        bars: (tone) => ({ fill: tone, width: 0, paths: uPlot.paths.bars({ size: [0.92, 48], gap: 0 }) }),
        step: (tone) => ({ stroke: tone, width: 2, fill: `${tone}22`, paths: uPlot.paths.stepped({ align: 1 }) }),
        line: (tone) => ({ stroke: tone, width: 2 }),
        area: (tone) => ({ stroke: tone, width: 2, fill: `${tone}26` }),
        dash: (tone) => ({ stroke: tone, width: 2, dash: [7, 5], paths: uPlot.paths.stepped({ align: 1 }) }),
      };
      return [{}, ...chart.data.series.map((one) => ({
        spanGaps: !one.gaps, points: one.gaps ? { show: true, size: 5, filter: lone } : { show: false }, ...styles[one.style || "line"](colour(one.tone)),
      }))];
    },
    under(chart) {
      for (const { start, end } of chart.data.shades || []) {
        inside(chart.plot, (ctx, box) => {
          const from = chart.plot.valToPos(start, "x", true), to = chart.plot.valToPos(end, "x", true);
          ctx.fillStyle = colour("faint");
          ctx.fillRect(from, box.top, to - from, box.height);
        });
      }
    },
    over(chart) {
      moments(chart.plot, chart.data.moments);
      levels(chart.plot, chart.data.levels);
      worst(chart.plot, chart.data.worst);
    },
    count: (chart) => chart.data.x.length,
    find: (chart) => (chart.plot.cursor.idx === null ? -1 : chart.plot.cursor.idx),
    place(chart, index) {
      const value = chart.data.series.map((one) => one.values[index]).find((one) => one !== null);
      return [chart.data.x[index], value === undefined ? 0 : value];
    },
    tell(chart, index) {
      const { x, x_kind: kind, series, labels, y_kind: unit } = chart.data;
      const first = labels ? labels[index] : `${chart.data.x_name} ${format(kind, x[index])}`;
      const rest = series.filter((one) => one.values[index] !== null || one.gaps)
        .map((one) => `${one.name}: ${one.values[index] === null ? one.gaps : format(one.unit || unit, one.values[index])}`);
      return [first, ...rest];
    },
  };

  function order(boxes) {
    const all = [...boxes.name.keys()];
    return all.sort((a, b) => boxes.x0[a] - boxes.x0[b] || boxes.y0[a] - boxes.y0[b]);
  }

  const map = {
    zoomsHeight: true,
    leastSpan: 2,
    rows: (given) => [[given.x_span[0], given.x_span[1]], [0, given.most]],
    whole: (given) => ({ x: given.x_span, y: [0, given.most * 1.02 || 1] }),
    series: () => [{}, { paths: () => null, points: { show: false } }],
    over(chart) {
      const { plot, data: { boxes } } = chart;
      const tones = new Map([...new Set(boxes.tone)].map((tone) => [tone, colour(tone)]));
      const edge = colour("card"), ink = colour("card");
      inside(plot, (ctx, view) => {
        ctx.font = `${11 * uPlot.pxRatio}px system-ui, sans-serif`;
        ctx.textBaseline = "middle";
        ctx.textAlign = "left";
        for (let at = 0; at < boxes.name.length; at++) {
          const [left, bottom] = pixels(plot, boxes.x0[at], boxes.y0[at]);
          const [right, top] = pixels(plot, boxes.x1[at], boxes.y1[at]);
          if (right < view.left || left > view.left + view.width) continue;
          const wide = Math.max(1, right - left), tall = Math.max(1, bottom - top);
          ctx.fillStyle = tones.get(boxes.tone[at]);
          ctx.fillRect(left, top, wide, tall);
          if (wide > 3 && tall > 3) {
            ctx.strokeStyle = edge;
            ctx.lineWidth = uPlot.pxRatio;
            ctx.strokeRect(left + 0.5, top + 0.5, wide - 1, tall - 1);
          }
          if (tall > 15 * uPlot.pxRatio && wide > 60 * uPlot.pxRatio) {
            ctx.save();
            ctx.beginPath();
            ctx.rect(left, top, wide - 4, tall);
            ctx.clip();
            ctx.fillStyle = ink;
            ctx.fillText(boxes.name[at], Math.max(left, view.left) + 5 * uPlot.pxRatio, top + tall / 2);
            ctx.restore();
          }
        }
        if (chart.data.worst) {
          const x = plot.valToPos(chart.data.worst.x, "x", true);
          dashed(ctx, x, view.top, x, view.top + view.height, "bad");
        }
      });
      if (chart.data.worst) {
        const x = plot.valToPos(chart.data.worst.x, "x", true), { left, width, top } = plot.bbox;
        plot.ctx.font = `${12 * uPlot.pxRatio}px system-ui, sans-serif`;
        const half = plot.ctx.measureText(chart.data.worst.name).width / 2;
        const middle = Math.min(Math.max(x, left + half), left + width - half);
        if (x >= left && x <= left + width) write(plot, chart.data.worst.name, middle, top - 5 * uPlot.pxRatio, "bad", "center");
      }
      levels(plot, chart.data.levels);
    },
    count: (chart) => chart.data.boxes.name.length,
    find(chart, left, top) {
      const { boxes } = chart.data, x = chart.plot.posToVal(left, "x"), y = chart.plot.posToVal(top, "y");
      chart.order = chart.order || order(boxes);
      let best = -1, area = Infinity;
      for (let place = 0; place < chart.order.length; place++) {
        const at = chart.order[place];
        if (x < boxes.x0[at] || x > boxes.x1[at] || y < boxes.y0[at] || y > boxes.y1[at]) continue;
        const size = (boxes.x1[at] - boxes.x0[at]) * (boxes.y1[at] - boxes.y0[at]);
        if (size < area) [best, area] = [place, size];
      }
      return best;
    },
    place(chart, index) {
      const { boxes } = chart.data;
      chart.order = chart.order || order(boxes);
      const at = chart.order[index];
      return [(boxes.x0[at] + boxes.x1[at]) / 2, (boxes.y0[at] + boxes.y1[at]) / 2];
    },
    tell(chart, index) {
      const { boxes } = chart.data, at = chart.order[index], size = boxes.y1[at] - boxes.y0[at];
      return [
        boxes.name[at], `${format("bytes", size)} (${size.toLocaleString("en-US")} bytes) at ${boxes.y0[at].toLocaleString("en-US")}`,
        boxes.life[at],
      ];
    },
    mark(chart, index) {
      const { boxes } = chart.data, at = chart.order[index], { plot, spot } = chart;
      const left = plot.valToPos(boxes.x0[at], "x"), right = plot.valToPos(boxes.x1[at], "x");
      const top = plot.valToPos(boxes.y1[at], "y"), bottom = plot.valToPos(boxes.y0[at], "y");
      Object.assign(spot.style, {
        left: `${left}px`, top: `${top}px`, width: `${Math.max(2, right - left)}px`, height: `${Math.max(2, bottom - top)}px`,
      });
      spot.hidden = false;
    },
  };

  function span(values, share) {
    const low = Math.min(...values), high = Math.max(...values), room = (high - low || Math.abs(high) || 1) * share;
    return [low - room, high + room];
  }

  const points = {
    rows: (given) => [given.points.map((one) => one.x), given.points.map((one) => one.y)],
    whole: (given) => ({
      x: span([...given.points.map((one) => one.x), ...(given.moments || []).map((one) => one.x)], 0.08),
      y: span(given.points.map((one) => one.y), 0.12),
    }),
    series: () => [{}, { paths: () => null, points: { show: false } }],
    over(chart) {
      const { plot, data: given } = chart;
      moments(plot, given.moments);
      inside(plot, (ctx) => {
        const front = given.points.filter((one) => one.front).sort((a, b) => a.x - b.x);
        ctx.beginPath();
        front.forEach((one, at) => {
          const [x, y] = pixels(plot, one.x, one.y);
          if (at) ctx.lineTo(x, pixels(plot, one.x, front[at - 1].y)[1]);
          ctx[at ? "lineTo" : "moveTo"](x, y);
        });
        ctx.strokeStyle = colour("accent");
        ctx.lineWidth = 2 * uPlot.pxRatio;
        ctx.stroke();
        for (const one of given.points) {
          const [x, y] = pixels(plot, one.x, one.y);
          ctx.beginPath();
          ctx.arc(x, y, (one.chosen ? 8 : 5) * uPlot.pxRatio, 0, 7);
          ctx.fillStyle = colour(one.tone);
          ctx.fill();
          ctx.lineWidth = (one.chosen ? 3 : 1.5) * uPlot.pxRatio;
          ctx.strokeStyle = colour(one.chosen ? "ink" : "card");
          ctx.stroke();
        }
      });
      for (const one of given.points) {
        const [x, y] = pixels(plot, one.x, one.y);
        if (one.chosen) write(plot, one.name, x, y - 14 * uPlot.pxRatio, "ink", "center");
      }
    },
    count: (chart) => chart.data.points.length,
    find(chart, left, top) {
      let best = -1, nearest = 26;
      chart.data.points.forEach((one, at) => {
        const away = Math.hypot(chart.plot.valToPos(one.x, "x") - left, chart.plot.valToPos(one.y, "y") - top);
        if (away < nearest) [best, nearest] = [at, away];
      });
      return best;
    },
    place: (chart, index) => [chart.data.points[index].x, chart.data.points[index].y],
    tell(chart, index) {
      const one = chart.data.points[index], { x_kind: across, y_kind: up, x_name: first, y_name: second } = chart.data;
      return [one.name, `${first}: ${format(across, one.x)}`, `${second}: ${format(up, one.y)}`, ...(one.words || [])];
    },
  };

  return { lines, map, points };
})();
