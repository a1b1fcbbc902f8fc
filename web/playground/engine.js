// SPDX-License-Identifier: MIT
// The WebAssembly module from the script's side: numbers and texts out of its buffers. Everything
// that is computed is computed there (web/playground/bindings.cpp).

const traceColumns = ["step", "loss", "gradSq", "rate", "evaluations", "teleported", "x1", "x2"];
const teleportColumns = ["step", "accepted", "lossBefore", "lossAfter", "gradSqBefore",
                         "gradSqAfter", "condition", "evaluations", "fromX1", "fromX2", "toX1",
                         "toX2"];
const orbitColumns = ["at", "x1", "x2", "gradSq", "curvature", "loss"];

/** Row by row to one list for each column. */
function table(numbers, columns) {
  const rows = numbers.length / columns.length;
  const lists = columns.map(() => new Float64Array(rows));
  for (let row = 0, i = 0; row < rows; ++row) {
    for (const list of lists) list[row] = numbers[i++];
  }
  return Object.fromEntries(columns.map((name, i) => [name, lists[i]]));
}

/** Lines "key<tab>value". */
function keyValues(text) {
  return Object.fromEntries(text.trimEnd().split("\n").map((line) => line.split("\t")));
}

export class Engine {
  #exports;
  #goesOn = () => true;

  /** Of a compiled module. */
  constructor(module) {
    // Of the C library's calls only these matter: time, and an environment without variables.
    const known = {
      goes_on: () => (this.#goesOn() ? 1 : 0),
      clock_time_get: (clock, precision, at) => {
        this.#view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      environ_sizes_get: (count, size) => {
        this.#view().setUint32(count, 0, true);
        this.#view().setUint32(size, 0, true);
        return 0;
      },
      proc_exit: (code) => { throw new Error(`the program ended with ${code}`); },
      abort: () => { throw new Error("the program was aborted"); },
    };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      // Of WASI's other functions none is needed, and no file exists (ENOENT). What else is missing
      // was left out of the module.
      const absent = from.startsWith("wasi") || name.startsWith("emscripten") ? () => 0
        : name.startsWith("__syscall") ? () => -44
          : () => { throw new Error(`${name} is not part of the playground`); };
      (imports[from] ??= {})[name] = known[name] ?? absent;
    }
    this.#exports = new WebAssembly.Instance(module, imports).exports;
    this.#exports._initialize?.();
  }

  #view() { return new DataView(this.#exports.memory.buffer); }
  #text() {
    const { text_data: data, text_size: size, memory } = this.#exports;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, data(), size()));
  }
  #numbers() {
    const { numbers_data: data, numbers_size: size, memory } = this.#exports;
    return new Float64Array(memory.buffer, data(), size()).slice();
  }
  #call(name, ...values) {
    if (!this.#exports[name](...values)) throw new Error(this.#text());
  }
  #open(name, words) {
    const bytes = new TextEncoder().encode(words.join("\n"));
    const at = this.#exports.words(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    this.#call(name);
    return keyValues(this.#text());
  }

  /** `symport optimize` or `symport train` with these words. Throws its error message. */
  openFunction(words) { return this.#open("open_function", words); }
  openNetwork(words) { return this.#open("open_network", words); }
  /** To the end of the run, or until `goesOn`, asked before every step, says no. */
  run(goesOn = () => true) {
    this.#goesOn = goesOn;
    this.#call("run");
    const { status, steps, evaluations, loss } = keyValues(this.#text());
    return { status, steps: Number(steps), evaluations: Number(evaluations), loss: Number(loss.replace("inf", "Infinity")) };
  }
  trace() {
    this.#call("trace");
    return table(this.#numbers(), traceColumns);
  }
  teleports() {
    this.#call("teleports");
    const found = table(this.#numbers(), teleportColumns);
    found.reasons = this.#text().split("\n").slice(0, -1);
    return found;
  }
  /** [{level, points: [x, y, x, y, ...]}, ...] */
  levelLines({ x0, y0, x1, y1 }, columns, rows) {
    this.#call("level_lines", x0, y0, x1, y1, columns, rows);
    const numbers = this.#numbers();
    const lines = [];
    for (let i = 0; i < numbers.length;) {
      const level = numbers[i], count = numbers[i + 1];
      lines.push({ level, points: numbers.slice(i + 2, i + 2 + 2 * count) });
      i += 2 + 2 * count;
    }
    return lines;
  }
  /** Null where there is none. */
  orbit([x1, x2], count, [mark1, mark2]) {
    this.#call("orbit", x1, x2, count, mark1, mark2);
    const numbers = this.#numbers();
    if (numbers.length < 2) return null;
    return { ...table(numbers.subarray(1), orbitColumns), marked: numbers[0] };
  }
  conditions() {
    this.#call("conditions");
    return this.#numbers();
  }
  samples() {
    this.#call("samples");
    return table(this.#numbers(), ["x", "y", "label"]);
  }
  region({ x0, y0, x1, y1 }, columns, rows) {
    this.#call("region", x0, y0, x1, y1, columns, rows);
    return this.#numbers();
  }
  news() {
    this.#call("news");
    return table(this.#numbers(), ["step", "loss"]);
  }
  accuracy() { return this.#exports.accuracy(); }
}
