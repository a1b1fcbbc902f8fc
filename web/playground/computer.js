// SPDX-License-Identifier: MIT
// Workers from the page's side.

/** The module that is in the page as text: base64 of gzip. */
export async function unpackModule(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** A worker that does one job at a time. */
export class Computer {
  #source;
  #module;
  #worker = null;
  #number = 0;
  #waiting = null;  // {id, resolve, reject, tell}

  constructor(source, module) {
    this.#source = source;
    this.#module = module;
  }

  get busy() { return this.#waiting !== null; }

  /** Ends a job that is under way; its promise is never settled. */
  stop() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#waiting = null;
  }

  /** The job's result. A job that is under way is ended. */
  run(kind, job, tell = () => {}) {
    if (this.busy) this.stop();
    this.#worker ??= this.#start();
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting = { id, resolve, reject, tell };
      this.#worker.postMessage({ id, kind, job });
    });
  }

  #start() {
    const address = URL.createObjectURL(new Blob([this.#source], { type: "text/javascript" }));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    worker.onmessage = ({ data: { id, news, result, error } }) => {
      const waiting = this.#waiting;
      if (waiting?.id !== id) return;
      if (news) {
        waiting.tell(news);
        return;
      }
      this.#waiting = null;
      if (error === undefined) waiting.resolve(result);
      else waiting.reject(new Error(error));
    };
    worker.postMessage({ module: this.#module });
    return worker;
  }
}

/** Only the latest of many requests counts: while one is under way, the next waits, and is replaced
    by a later one. A job that takes longer than `patience` ms is ended for the next. */
export class Latest {
  #computer;
  #patience;
  #next = null;
  #since = 0;
  #timer = 0;

  constructor(computer, patience = 400) {
    this.#computer = computer;
    this.#patience = patience;
  }

  ask(kind, job, done, failed) {
    this.#next = { kind, job, done, failed };
    if (!this.#computer.busy) {
      this.#begin();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(),
                             Math.max(0, this.#since + this.#patience - performance.now()));
  }

  #begin() {
    if (!this.#next) return;
    const { kind, job, done, failed } = this.#next;
    this.#next = null;
    clearTimeout(this.#timer);
    this.#since = performance.now();
    const after = (action) => (value) => {
      action(value);
      this.#begin();
    };
    this.#computer.run(kind, job).then(after(done), after(failed));
  }
}
