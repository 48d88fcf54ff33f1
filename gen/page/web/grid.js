"use strict";
// A grid of elements on a canvas: a cell an element, coloured by one axis, with the others as its label.
const Grid = (() => {
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;

  // Neighbouring numbers get hues far from each other; the turn is that of the golden angle.
  function colour(number) {
    const hue = ((number % 64) * 137.508) % 360;
    return `hsl(${hue} ${dark() ? "45% 32%" : "70% 82%"})`;
  }

  // The places of a cell, each an object of axis to position.
  function places(grid, cell) {
    const flat = grid.cells[cell] ?? [];
    const out = [];
    for (let at = 0; at < flat.length; at += grid.axes.length) {
      out.push(Object.fromEntries(grid.axes.map((axis, k) => [axis, flat[at + k]])));
    }
    return out;
  }

  // Short names, so that labels fit; the legend is the sentence below the picture.
  const SHORT = { laneid: "T", warpid: "w", register: "r", byte: "b", bank: "k", TLane: "L", TCol: "C", slot: "s", tx: "t" };
  const HIDDEN = new Set(["bit", "byte", "bank"]);

  // The words of a cell's label: its first place, and how many more it has.
  function label(grid, cell) {
    const [first, ...more] = places(grid, cell);
    if (!first) return [];
    const named = grid.axes.filter((axis) => !HIDDEN.has(axis));
    const shown = named.length > 0 ? named : grid.axes;
    const words = shown.map((axis) => `${SHORT[axis] ?? axis}${first[axis]}`);
    return more.length > 0 ? [...words, `+${more.length}`] : words;
  }

  // A label in one line if it fits, else in two; else none.
  function write(pen, words, x, y, size, tall) {
    const fits = (line) => pen.measureText(line).width <= size - 3;
    const half = Math.ceil(words.length / 2);
    const two = [words.slice(0, half).join(" "), words.slice(half).join(" ")];
    if (fits(words.join(" "))) pen.fillText(words.join(" "), x + size / 2, y + tall / 2);
    else if (tall >= 24 && two.every(fits)) two.forEach((line, k) => pen.fillText(line, x + size / 2, y + tall * (0.28 + 0.46 * k)));
  }

  function draw(canvas, grid, options) {
    const { axis, width, selected = -1, marked = new Set() } = options;
    const space = Math.max(120, width);
    const size = Math.max(3, Math.min(64, Math.floor((space - 40) / grid.columns)));
    const tall = Math.max(3, Math.min(size, 26));
    const margin = options.bare ? 0 : 34;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [margin + size * grid.columns + 1, (options.bare ? 0 : 18) + tall * grid.rows + 1];
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    canvas.style.width = `${w}px`;
    canvas.style.height = `${h}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink");
    const mark = style.getPropertyValue("--mark");
    const number = grid.axes.indexOf(axis);
    pen.font = "11px ui-monospace, monospace";
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const top = options.bare ? 0 : 18;
    if (!options.bare) {
      pen.fillStyle = ink;
      const each = Math.max(1, Math.ceil(22 / size));
      for (let c = 0; c < grid.columns; c += each) pen.fillText(String(c), margin + (c + 0.5) * size, 9);
      const every = Math.max(1, Math.ceil(11 / tall));
      for (let r = 0; r < grid.rows; r += every) pen.fillText(String(r), margin / 2, top + (r + 0.5) * tall);
    }
    for (let cell = 0; cell < grid.cells.length; cell += 1) {
      const [row, column] = [Math.floor(cell / grid.columns), cell % grid.columns];
      const [x, y] = [margin + column * size, top + row * tall];
      pen.fillStyle = number < 0 ? colour(0) : colour(grid.cells[cell][number] ?? 0);
      pen.fillRect(x, y, size - (size > 8 ? 1 : 0), tall - (tall > 8 ? 1 : 0));
      if (size >= 16 && tall >= 11 && !options.bare) {
        pen.fillStyle = ink;
        write(pen, label(grid, cell), x, y, size, tall);
      }
      if (marked.has(cell) || cell === selected) {
        pen.lineWidth = cell === selected ? 3 : 2;
        pen.strokeStyle = cell === selected ? ink : mark;
        pen.strokeRect(x + 1, y + 1, size - 2, tall - 2);
      }
    }
    return { size, tall, margin, top };
  }

  // The cell under a point of the canvas, or -1.
  function hit(grid, drawn, x, y) {
    const column = Math.floor((x - drawn.margin) / drawn.size);
    const row = Math.floor((y - drawn.top) / drawn.tall);
    const inside = column >= 0 && row >= 0 && column < grid.columns && row < grid.rows;
    return inside ? row * grid.columns + column : -1;
  }

  return { draw, hit, places };
})();
