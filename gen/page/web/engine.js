"use strict";
// The library's module: requests and answers are JSON in its memory.
const Engine = (() => {
  let exports = null;

  async function load() {
    const text = document.getElementById("module").textContent;
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    exports = (await WebAssembly.instantiate(bytes, {})).instance.exports;
  }

  function call(request) {
    const text = new TextEncoder().encode(JSON.stringify(request));
    const at = exports.page_request(text.length);
    new Uint8Array(exports.memory.buffer, at, text.length).set(text);
    const length = exports.page_answer();
    const reply = new Uint8Array(exports.memory.buffer, exports.page_reply(), length);
    return JSON.parse(new TextDecoder().decode(reply));
  }

  return { load, call };
})();
