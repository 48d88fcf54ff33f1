"use strict";
// The page: what is chosen is the state, the state is the link, and everything that is shown follows from it.
(() => {
  const $ = (id) => document.getElementById(id);
  const TABS = ["layout", "instructions", "program", "loops", "functions"];
  const PRESETS = [
    ["case study: a tensor core's register tile", "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] @ 8x16 of f16", "sm_90a"],
    ["with copies and an offset", "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid @ 8x16 of f16", "sm_90a"],
    ["an accumulator in tensor memory", "S[(128,64):(1@TLane,1@TCol)] @ 128x64 of f32", "sm_100a"],
    ["scale factors, four copies", "S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane] @ 32x4", "sm_100a"],
    ["datapath layout D", "tmem_datapath_layout(\"D\", 128, 64)", "sm_100a"],
    ["a tile of shared memory", "S[(64,64):(64,1)] @ 64x64 of f16", "sm_90a"],
    ["accumulators of m16n8k16", "mma.m16n8k16.f32.f16.D", "sm_90a"],
    ["MFMA 32x32x8", "v_mfma_f32_32x32x8_f16.D", "gfx942"],
    ["a transposing read", "ds_read_b64_tr_b16.to", "gfx950"],
    ["CuTe: a layout divided", "logical_divide((8,8):(8,1), (2,2))", "sm_90a"],
  ];
  const START = {
    tab: "layout", q: PRESETS[0][1], arch: PRESETS[0][2], colour: "", b: "0", m: "3", s: "3", pad: "0", interval: "64",
    access: "", type: "", at: "", phase: "0", full: "", program: "gemm", loops: "plan_then_buffer",
  };
  let state = { ...START };
  let known = null;
  let machine = { arch: "", instructions: [], modes: [] };
  let shown = { grid: null, drawn: null, phases: [] };

  const ask = (query) => Engine.call({ ask: "query", query, arch: state.arch, full: state.full !== "" });
  const option = (value, text = value) => Object.assign(document.createElement("option"), { value, textContent: text });

  // The link.

  function write() {
    const changed = Object.entries(state).filter(([key, value]) => value !== START[key]);
    const hash = `#${new URLSearchParams(changed)}`;
    $("link").href = hash;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  function read() {
    state = { ...START };
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
      if (key in START) state[key] = value;
    }
    if (!TABS.includes(state.tab)) state.tab = START.tab;
    if (!known.archs.some((arch) => arch.name === state.arch)) state.arch = START.arch;
  }

  // The query with the swizzle or padding that is chosen.

  function effective() {
    const cut = state.q.lastIndexOf(";") + 1;
    const [names, body] = [state.q.slice(0, cut), state.q.slice(cut).trim()];
    let out = body;
    if (Number(state.pad) > 0) out = `padded(${out}, ${state.interval}, ${state.pad})`;
    else if (Number(state.b) > 0) out = `S<${state.b},${state.m},${state.s}> o (${out})`;
    return { names, body: out, text: `${names}${names && " "}${out}` };
  }

  // The parts of a layout in TIRx's notation, as they are written in the query.

  const PARTS = /^\s*S\[([^\]]*)\]\s*(?:\+\s*R\[([^\]]*)\]\s*)?(?:\+\s*([^@\s][^@]*@\w+(?:\s*\+\s*\d+@\w+)*|\d+)\s*)?(?:@\s*(\d+(?:x\d+)*)\s*)?(?:of\s+(\w+)\s*)?$/;

  function showParts() {
    const found = PARTS.exec(state.q);
    $("parts").disabled = !found;
    const [, shard = "", replica = "", offset = "", shape = "", type = ""] = found ?? [];
    const set = (id, value) => { if ($(id) !== document.activeElement) $(id).value = value; };
    set("part-shard", shard);
    set("part-replica", replica);
    set("part-offset", offset.trim());
    set("part-shape", shape);
    set("part-type", type);
  }

  function readParts() {
    const value = (id) => $(id).value.trim();
    let out = `S[${value("part-shard")}]`;
    if (value("part-replica")) out += ` + R[${value("part-replica")}]`;
    if (value("part-offset")) out += ` + ${value("part-offset")}`;
    if (value("part-shape")) out += ` @ ${value("part-shape")}`;
    if (value("part-type")) out += ` of ${value("part-type")}`;
    change({ q: out, at: "" });
  }

  // The layout's view.

  function problem(error) {
    const place = error.line ? `line ${error.line}, column ${error.column}: ` : "";
    return `${place}${error.what}${error.remedy ? `\n${error.remedy}` : ""}`;
  }

  function showLayout() {
    const query = effective();
    $("query").value = state.q;
    for (const [id, key] of [["swizzle-b", "b"], ["swizzle-m", "m"], ["swizzle-s", "s"], ["pad", "pad"]]) {
      $(id).value = state[key];
      document.querySelector(`output[for=${id}]`).textContent = state[key];
    }
    $("interval").value = state.interval;
    const preset = PRESETS.findIndex(([, q, arch]) => q === state.q && arch === state.arch);
    $("preset").value = preset < 0 ? "" : String(preset);
    showParts();
    $("asked").firstElementChild.textContent = query.text;
    const answer = ask(query.text);
    $("problem").textContent = answer.error ? problem(answer.error) : answer.grid?.error ? problem(answer.grid.error) : "";
    $("words").textContent = answer.text ?? "";
    const folded = answer.grid?.folded ?? [];
    $("folded").textContent = folded.join("; ");
    $("full").checked = state.full !== "";
    $("full").parentElement.hidden = folded.length === 0 && state.full === "";
    shown = { grid: answer.grid && !answer.grid.error ? answer.grid : null, columns: answer.grid?.of?.[1] ?? 0, drawn: null, phases: [] };
    const axes = shown.grid?.axes ?? [];
    $("colour").replaceChildren(...axes.map((axis) => option(axis)));
    const usual = ["laneid", "TLane", "bank", "warpid"].find((axis) => axes.includes(axis)) ?? axes[0] ?? "";
    $("colour").value = axes.includes(state.colour) ? state.colour : usual;
    showConflicts(query);
    paint();
  }

  function showConflicts(query) {
    $("access").value = state.access;
    $("access-type").value = state.type;
    $("conflicts").replaceChildren();
    $("banks").replaceChildren();
    $("steps").hidden = true;
    if (!state.access) return;
    const type = state.type ? `, ${state.type}` : "";
    const answer = ask(`${query.names} conflicts(${query.body}, ${state.access}${type})`);
    if (answer.error) {
      $("conflicts").textContent = problem(answer.error);
      return;
    }
    const said = answer.answer;
    const free = document.createElement("div");
    if (said.free_swizzle) free.append(suggestion(`free: ${said.free_swizzle}`, swizzled(said.free_swizzle)));
    if (said.free_padding) {
      const [interval, pad] = said.free_padding;
      free.append(suggestion(`free: ${pad} after each ${interval}`, { b: "0", pad: String(pad), interval: String(interval) }));
    }
    $("conflicts").append(answer.text.split("\nfree:")[0].trim(), free);
    if (!answer.banks) return;
    shown.phases = Banks.phases(answer.banks);
    shown.access = answer.banks;
    $("steps").hidden = false;
    showPhase();
  }

  function swizzled(text) {
    const [b, m, s] = text.match(/-?\d+/g);
    return { b, m, s, pad: "0" };
  }

  function suggestion(text, values) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.addEventListener("click", () => change(values));
    return button;
  }

  function showPhase() {
    const count = shown.phases.length;
    const at = Math.min(Math.max(0, Number(state.phase)), Math.max(0, count - 1));
    const phase = shown.phases[at];
    $("step").textContent = `phase ${at + 1} of ${count}; the least is ${shown.access.least}`;
    $("banks").replaceChildren(Banks.table(shown.access, phase));
  }

  // The elements whose bytes are served in the phase that is shown.
  function marked() {
    const phase = shown.phases[Math.min(Number(state.phase), shown.phases.length - 1)];
    const byte = shown.grid.axes.indexOf("byte");
    const out = new Set();
    if (!phase || byte < 0) return out;
    const words = new Set([...phase.served.values()].map((served) => served.word));
    shown.grid.cells.forEach((cell, number) => {
      if (words.has(Math.floor(cell[byte] / shown.access.bank_bytes))) out.add(number);
    });
    return out;
  }

  function paint() {
    const canvas = $("grid");
    canvas.hidden = !shown.grid;
    $("element").textContent = "";
    if (!shown.grid) return;
    const selected = state.at === "" ? -1 : Number(state.at);
    shown.drawn = Grid.draw(canvas, shown.grid, {
      axis: $("colour").value, width: canvas.parentElement.clientWidth, selected, marked: marked(),
    });
    describe(selected);
  }

  // How a layout in TIRx's notation comes to an element's places: its flat number, split over the iters, each times its stride.
  // Empty where the parts are no plain numbers.
  function steps(row, column) {
    const [, shard = "", replica = "", offset = ""] = PARTS.exec(effective().text) ?? [];
    const list = (text) => text.replace(/[()\s]/g, "").split(",").filter(Boolean);
    const [extents, strides] = shard.split(":").map(list);
    if (!strides || extents.length !== strides.length || !extents.every((one) => /^\d+$/.test(one))) return "";
    const flat = row * shown.columns + column;
    let rest = flat;
    const digits = extents.map(Number).reduceRight((out, extent) => {
      out.unshift(rest % extent);
      rest = Math.floor(rest / extent);
      return out;
    }, []);
    const sums = new Map();
    digits.forEach((digit, k) => {
      const [stride, axis = "m"] = strides[k].split("@");
      sums.set(axis, [...(sums.get(axis) ?? []), `${digit}*${stride}`]);
    });
    const sum = [...sums].map(([axis, terms]) => `${axis} = ${terms.join(" + ")}`).join(", ");
    const more = [replica && `a copy for each of R[${replica}]`, offset && `plus ${offset.trim()}`].filter(Boolean);
    return `flat ${flat} = (${digits.join(", ")}) over (${extents.join(", ")}); ${[sum, ...more].join("; ")}`;
  }

  function describe(cell) {
    if (!shown.grid || cell < 0 || cell >= shown.grid.cells.length) {
      $("element").textContent = "Point at an element, or move with the arrow keys.";
      return;
    }
    const [row, column] = [Math.floor(cell / shown.grid.columns), cell % shown.grid.columns];
    const places = Grid.places(shown.grid, cell).map((place) =>
      Object.entries(place).map(([axis, position]) => `${axis} ${position}`).join(", "));
    const how = steps(row, column);
    $("element").textContent = `element (${row}, ${column}): ${places.join("\n  and ")}${how && `\n${how}`}`;
  }

  // The other views.

  function showInstructions() {
    const wanted = $("filter").value.trim();
    const found = machine.instructions.filter((one) => one.name.includes(wanted));
    $("instruction-count").textContent = `${found.length} of ${machine.instructions.length} instructions of ${state.arch}`;
    $("gallery").replaceChildren(...found.map(card));
  }

  const lazily = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      lazily.unobserve(entry.target);
      entry.target.dispatchEvent(new Event("seen"));
    }
  }, { rootMargin: "200px" });

  function card(instruction) {
    const card = Object.assign(document.createElement("article"), { className: "card" });
    const title = Object.assign(document.createElement("h3"), { textContent: instruction.name });
    const shape = instruction.shape ? `${instruction.shape.join("x")}, ` : "";
    card.append(title, `${shape}${instruction.status}`, document.createElement("br"));
    card.addEventListener("seen", () => {
      let drawn = false;
      for (const part of [...instruction.parts].reverse()) {
        const query = `${instruction.name}.${part}`;
        const grid = ask(query).grid;
        if (!grid || grid.error) continue;
        if (!drawn) {
          const canvas = document.createElement("canvas");
          canvas.setAttribute("aria-label", `picture of ${query}`);
          const axis = ["laneid", "TLane", "slot"].find((axis) => grid.axes.includes(axis)) ?? grid.axes[0];
          Grid.draw(canvas, grid, { axis, width: 230, bare: true });
          card.append(canvas);
          drawn = true;
        }
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: part });
        button.addEventListener("click", () => change({ tab: "layout", q: query, b: "0", pad: "0", at: "" }));
        card.append(button);
      }
      if (!drawn) card.append("no layout of its own to draw");
      card.dataset.seen = "yes";
    });
    lazily.observe(card);
    return card;
  }

  function compile() {
    const answer = Engine.call({ ask: "compile", program: $("program").value, arch: state.arch, explain: $("program-explain").checked });
    $("report").textContent = answer.error ? problem(answer.error) : answer.report;
    $("kernel").textContent = answer.kernel ?? "";
    $("launch").textContent = answer.launch ? JSON.stringify(answer.launch, null, 2) : "";
  }

  function infer() {
    const answer = Engine.call({ ask: "infer", program: $("loops").value, arch: state.arch, explain: $("loops-explain").checked });
    $("timeline").textContent = answer.error ? problem(answer.error) : answer.text;
    $("fragments").innerHTML = answer.picture ?? "";
  }

  function example(select, area, key) {
    const found = known.programs.find((one) => one.name === state[key]);
    $(select).value = state[key];
    if (found && $(area).dataset.name !== found.name) {
      $(area).value = found.text;
      $(area).dataset.name = found.name;
    }
  }

  // All of it.

  function show() {
    for (const tab of TABS) {
      const here = tab === state.tab;
      $(`tab-${tab}`).setAttribute("aria-selected", String(here));
      $(`tab-${tab}`).tabIndex = here ? 0 : -1;
      $(`view-${tab}`).hidden = !here;
    }
    $("arch").value = state.arch;
    if (machine.arch !== state.arch) {
      machine = Engine.call({ ask: "instructions", arch: state.arch });
      const shared = machine.instructions.filter((one) => one.shared).map((one) => option(one.name));
      $("access").replaceChildren(option("", "none"), ...shared);
      $("mode").replaceChildren(option("", "none"), ...machine.modes.map((mode) => option(mode)));
    }
    if (state.access && ![...$("access").options].some((one) => one.value === state.access)) state.access = "";
    write();
    if (state.tab === "layout") showLayout();
    if (state.tab === "instructions") showInstructions();
    if (state.tab === "program") {
      example("program-example", "program", "program");
      compile();
    }
    if (state.tab === "loops") {
      example("loops-example", "loops", "loops");
      infer();
    }
  }

  function change(values) {
    state = { ...state, ...values };
    show();
  }

  function wire() {
    const on = (id, event, act) => $(id).addEventListener(event, act);
    for (const tab of TABS) on(`tab-${tab}`, "click", () => change({ tab }));
    document.querySelector("nav").addEventListener("keydown", (event) => {
      const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!turn) return;
      const next = TABS[(TABS.indexOf(state.tab) + turn + TABS.length) % TABS.length];
      change({ tab: next });
      $(`tab-${next}`).focus();
    });
    on("arch", "change", () => change({ arch: $("arch").value }));
    on("ask", "submit", (event) => { event.preventDefault(); change({ q: $("query").value.trim(), at: "", phase: "0" }); });
    on("query", "keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); $("ask").requestSubmit(); }
    });
    on("preset", "change", () => {
      if ($("preset").value === "") return;
      const [, q, arch] = PRESETS[Number($("preset").value)];
      change({ q, arch, b: "0", pad: "0", at: "", phase: "0", colour: "" });
    });
    for (const id of ["part-shape", "part-shard", "part-replica", "part-offset", "part-type"]) on(id, "change", readParts);
    for (const [id, key] of [["swizzle-b", "b"], ["swizzle-m", "m"], ["swizzle-s", "s"]]) {
      on(id, "input", () => change({ [key]: $(id).value, pad: "0", phase: "0" }));
    }
    on("pad", "input", () => change({ pad: $("pad").value, b: "0", phase: "0" }));
    on("interval", "change", () => change({ interval: $("interval").value.trim(), phase: "0" }));
    on("mode", "change", () => {
      const type = state.type || PARTS.exec(state.q)?.[5] || "u8";
      const found = $("mode").value ? ask(`swizzle(${$("mode").value}, ${type})`).answer : null;
      change(found ? swizzled(found.elements) : { b: "0" });
    });
    on("access", "change", () => change({ access: $("access").value, phase: "0" }));
    on("access-type", "change", () => change({ type: $("access-type").value, phase: "0" }));
    const step = (by) => change({ phase: String(Math.min(Math.max(0, Number(state.phase) + by), shown.phases.length - 1)) });
    on("step-back", "click", () => step(-1));
    on("step-on", "click", () => step(1));
    on("full", "change", () => change({ full: $("full").checked ? "1" : "", at: "" }));
    on("colour", "change", () => change({ colour: $("colour").value }));
    const over = (event) => {
      if (!shown.drawn) return -1;
      const box = $("grid").getBoundingClientRect();
      return Grid.hit(shown.grid, shown.drawn, event.clientX - box.left, event.clientY - box.top);
    };
    on("grid", "mousemove", (event) => { const cell = over(event); if (cell >= 0) describe(cell); });
    on("grid", "mouseleave", () => describe(state.at === "" ? -1 : Number(state.at)));
    const choose = (cell) => { state.at = cell < 0 ? "" : String(cell); write(); paint(); };
    on("grid", "click", (event) => choose(over(event)));
    on("grid", "keydown", (event) => {
      const columns = shown.grid?.columns ?? 0;
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
      if (by === undefined || !shown.grid) return;
      event.preventDefault();
      const next = state.at === "" ? 0 : Number(state.at) + by;
      if (next >= 0 && next < shown.grid.cells.length) choose(next);
    });
    on("filter", "input", showInstructions);
    on("compile", "click", compile);
    on("program-explain", "change", compile);
    on("program-example", "change", () => change({ program: $("program-example").value }));
    on("infer", "click", infer);
    on("loops-explain", "change", infer);
    on("loops-example", "change", () => change({ loops: $("loops-example").value }));
    addEventListener("hashchange", () => { read(); show(); });
    addEventListener("resize", () => { if (state.tab === "layout") paint(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  }

  async function main() {
    try {
      await Engine.load();
    } catch (error) {
      $("loading").textContent = `This browser cannot run the page: ${error}`;
      throw error;
    }
    known = Engine.call({ ask: "start" });
    $("arch").replaceChildren(...known.archs.map((arch) => option(arch.name, `${arch.name} (${arch.vendor})`)));
    $("preset").replaceChildren(option("", "none of these"), ...PRESETS.map(([name], number) => option(String(number), name)));
    const types = known.types.map((type) => option(type.name));
    $("part-type").replaceChildren(option("", "not said"), ...types);
    $("access-type").replaceChildren(option("", "its own type"), ...types.map((one) => one.cloneNode(true)));
    const named = (loops) => known.programs.filter((one) => one.loops === loops).map((one) => option(one.name));
    $("program-example").replaceChildren(...named(false));
    $("loops-example").replaceChildren(...named(true));
    const rows = known.functions.map((form) => {
      const row = document.createElement("tr");
      row.insertCell().append(Object.assign(document.createElement("code"), { textContent: `${form.name}(${form.takes})` }));
      row.insertCell().textContent = form.about;
      return row;
    });
    $("functions").replaceChildren(...rows);
    wire();
    read();
    $("loading").hidden = true;
    show();
    // Milliseconds from the begin of loading to the first picture.
    document.documentElement.dataset.first = String(Math.round(performance.now()));
    document.documentElement.dataset.ready = "yes";
  }

  main();
})();
