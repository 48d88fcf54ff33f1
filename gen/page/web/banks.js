"use strict";
// The banks of an access, phase by phase: which slots are served together, and which words of a bank wait for each other.
const Banks = (() => {
  // The phases of an access: for each group of slots as many passes as its fullest bank has different words.
  function phases(access) {
    const addresses = new Map(access.addresses);
    const out = [];
    for (const group of access.groups) {
      const banks = new Map();
      for (const slot of group) {
        if (!addresses.has(slot)) continue;
        const from = addresses.get(slot);
        const first = Math.floor(from / access.bank_bytes);
        const last = Math.floor((from + access.slot_bytes - 1) / access.bank_bytes);
        for (let word = first; word <= last; word += 1) {
          const bank = word % access.banks;
          if (!banks.has(bank)) banks.set(bank, new Map());
          const words = banks.get(bank);
          if (!words.has(word)) words.set(word, []);
          words.get(word).push(slot);
        }
      }
      const passes = Math.max(0, ...[...banks.values()].map((words) => words.size));
      for (let pass = 0; pass < passes; pass += 1) {
        const served = new Map();
        for (const [bank, words] of banks) {
          const at = [...words.keys()].sort((a, b) => a - b)[pass];
          if (at !== undefined) served.set(bank, { word: at, slots: words.get(at), waiting: words.size });
        }
        out.push({ group, pass, passes, served });
      }
    }
    return out;
  }

  function table(access, phase) {
    const table = document.createElement("table");
    table.className = "banks";
    const caption = table.createCaption();
    caption.textContent = `banks of \`${access.model}\` (${access.status}); below each the slots that it serves in this phase`;
    for (let from = 0; from < access.banks; from += 32) {
      const [head, body] = [table.insertRow(), table.insertRow()];
      for (let bank = from; bank < Math.min(from + 32, access.banks); bank += 1) {
        const th = document.createElement("th");
        th.scope = "col";
        th.textContent = bank;
        head.append(th);
        const cell = body.insertCell();
        const served = phase?.served.get(bank);
        if (!served) continue;
        cell.textContent = served.slots.length > 2 ? `${served.slots[0]}+${served.slots.length - 1}` : served.slots.join(" ");
        cell.className = served.waiting > 1 ? "meets" : "served";
        cell.title = `word ${served.word}: slots ${served.slots.join(", ")}; ${served.waiting} words in this bank`;
      }
    }
    return table;
  }

  return { phases, table };
})();
