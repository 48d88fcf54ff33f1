#!/usr/bin/env python3
"""stackbound.py [options] ELF LIMIT < ROOTS   worst-case stack of each root, in bytes on the target.

Adds up the frames that the compiler reports (`-Z emit-stack-sizes`) along the deepest chain of calls that the
disassembly shows; a call costs the return address on top. Fails on recursion, on a function without a known frame, on an
indirect call that no budget covers, and on a root above LIMIT. Roots stand one a line on standard input.

Position-independent code calls functions of other crates through the global offset table, often by way of a register or a
stack slot; a linker turns what it can into direct calls and plain addresses. So a call through a pointer, in a function that
loads from that table or takes addresses of functions, may reach any function that stands in the table or is so named; in
another function it needs a budget. A jump to a sum is a jump table's: it stays in the function.

  --frame NAME=BYTES      the frame of a function that the compiler did not report (assembly, C)
  --indirect NAME=BYTES   functions whose name matches the pattern NAME may call through a pointer; the callee gets BYTES
                          (or NAME=ROOT,ROOT: the callee is one of these)
  --call BYTES            what a call itself pushes (8 on x86-64, 0 on arm)
  --top N                 print only the N deepest roots (all are checked)
  --chain                 print the deepest chain of each root above LIMIT, or else of the deepest root
  --known FILE            roots that are known to be above LIMIT, each with a ceiling of its own: `NAME BYTES` a line
"""
import argparse, re, subprocess, sys, os

SUFFIX = os.environ.get("LLVM_SUFFIX", "-22")

def run(*a):
    return subprocess.run(a, check=True, capture_output=True, text=True).stdout

def table_of(elf):
    """Slots of the global offset table: address -> what it holds."""
    slots = {}
    for l in run("llvm-objdump" + SUFFIX, "-s", "-j", ".got", elf).splitlines():
        m = re.match(r" ([0-9a-f]+) ((?:[0-9a-f]+ ){1,4})", l)
        if not m: continue
        data, base = bytes.fromhex(m[2].replace(" ", "")), int(m[1], 16)
        for k in range(0, len(data) - 7, 8): slots[base + k] = int.from_bytes(data[k:k + 8], "little")
    return slots

def jump_table(arg, before):
    """Whether a jump goes where a table in the function says: into a table with an index, or to a sum of an address and an offset."""
    if re.match(r"\*-?(0x)?[0-9a-f]*\((%r\w+)?,%r\w+,8\)$", arg): return True
    reg = re.match(r"\*(%r\w+)$", arg)
    if not reg: return False
    # What was last written to the register, past what is put elsewhere in between.
    name = reg[1][1:]
    parts = {f"%{name}", f"%{name}d"} if name[1:].isdigit() else {f"%{name}", f"%e{name[1:]}"}
    for op, a in reversed(before[:-1]):
        if op.startswith("call") or op.startswith("pop") and a in parts: return False
        if a.rsplit(", ", 1)[-1] in parts and not op.startswith(("cmp", "test", "push")):
            return op.startswith("add") and a.startswith("%") and a.endswith(", " + reg[1])
    return False

def main():
    p = argparse.ArgumentParser()
    p.add_argument("elf"); p.add_argument("limit", type=int)
    p.add_argument("--frame", action="append", default=[]); p.add_argument("--indirect", action="append", default=[])
    p.add_argument("--call", type=int, default=8); p.add_argument("--top", type=int); p.add_argument("--chain", action="store_true")
    p.add_argument("--known")
    o = p.parse_args()
    size = {}
    for names, n in re.findall(r"Functions: \[(.*?)\]\s+Size: (0x[0-9A-Fa-f]+)", run("llvm-readobj" + SUFFIX, "--stack-sizes", o.elf)):
        for f in names.split(", "): size[f] = max(size.get(f, 0), int(n, 16))
    for f in o.frame:
        name, n = f.rsplit("=", 1); size[name] = int(n)
    pairs = [x.rsplit("=", 1) for x in o.indirect]
    budgets = [(re.compile(n), int(b)) for n, b in pairs if b.isdigit()]
    named = [(re.compile(n), b.split(",")) for n, b in pairs if not b.isdigit()]
    calls, cur, at = {}, None, {}
    got, loads, pushes, takes, before = table_of(o.elf), set(), {}, {}, []
    listing = run("llvm-objdump" + SUFFIX, "-d", "--no-show-raw-insn", o.elf).splitlines()
    for l in listing:  # several names of one address are one function
        m = re.match(r"([0-9a-f]+) <(.+)>:$", l)
        if m: cur = m[2]; calls.setdefault(cur, set()); before = []; continue
        m = re.match(r"\s*[0-9a-f]+:\s+(?:notrack\s+)?(\S+)\s*(.*)", l)
        if not m or cur is None: continue
        op, arg = m[1], m[2]
        before = before[-31:] + [(op, arg)]
        push = 8 if op.startswith("push") else int(k[1], 0) if op.startswith("sub") and (k := re.match(r"\$(0x[0-9a-f]+|\d+), %rsp", arg)) else 0
        pushes[cur] = pushes.get(cur, 0) + push
        slot = re.search(r"\(%rip\).*# 0x([0-9a-f]+)", arg)
        if slot and int(slot[1], 16) in got: loads.add(cur)
        t = re.search(r"<(.+?)(\+0x[0-9a-f]+)?>\s*$", arg)
        if op.startswith("lea") and slot and t and not t[2]: takes.setdefault(cur, set()).add(t[1])
        if re.match(r"(callq?|bl|blx|bl\.w|jal)$", op): calls[cur].add(t[1] if t and not arg.startswith("*") else "*")
        elif re.match(r"(j\w+|b\w*(\.w)?|cb\w+)$", op) and t and not arg.startswith("*"):
            if t[1] != cur: calls[cur].add(t[1])  # a tail call, also a conditional one
        elif op in ("jmp", "jmpq") and jump_table(arg, before): pass
        elif (op in ("jmp", "jmpq") and arg.startswith("*")) or op in ("br", "tbb", "tbh") or (op in ("bx", "mov") and re.match(r"pc, (?!lr)", arg)): calls[cur].add("*")
    for f in calls:  # the toolchain's ready-made arithmetic: all that it pushes or reserves
        if f not in size and re.match(r"__\w+[dst]i\d$|_R\w*17compiler_builtins", f): size[f] = pushes.get(f, 0)
    alias = {}
    for l in run("llvm-nm" + SUFFIX, o.elf).splitlines():
        part = l.split(" ", 2)
        if len(part) == 3 and part[1] in "tTwW":
            a = part[0].lstrip("0")
            at.setdefault(a, []).append(part[2])
    for group in at.values():
        known = [n for n in group if n in calls and calls[n]] or [n for n in group if n in calls]
        sized = [size[n] for n in group if n in size]
        for n in group:
            if known: alias[n] = known[0]
            if sized and n not in size: size[n] = max(sized)
    for f in calls:
        taken = {g for g in takes.get(f, ()) if g in calls}
        if "*" in calls[f] and (f in loads or taken) and not any(r.search(f) for r, _ in budgets):
            calls[f].discard("*")
            calls[f] |= taken
            if f in loads: calls[f] |= {at[a][0] for a in (f"{v:x}" for v in got.values()) if a in at}
        for r, callees in named:
            if "*" in calls[f] and r.search(f):
                calls[f].discard("*"); calls[f].update(callees)
    bad, memo = [], {}
    def depth(root):
        """Deepest stack below and with root, without recursion of our own."""
        stack, path = [(root, None)], []
        while stack:
            f, it = stack.pop()
            f = alias.get(f, f)
            if it is None:
                if f in memo: continue
                if f in path: bad.append("recursion: " + " > ".join(path[path.index(f):] + [f])); memo[f] = (0, None); continue
                if f not in size: bad.append(f"no frame size: {f} (from {path[-1] if path else '-'})"); memo[f] = (0, None); continue
                path.append(f)
                stack.append((f, True))
                stack += [(g, None) for g in sorted(calls.get(f, ())) if g != "*"]
            else:
                path.pop()
                best = (0, None)
                for g in calls.get(f, ()):
                    if g == "*":
                        b = [n for r, n in budgets if r.search(f)]
                        if not b: bad.append(f"call through a pointer without a budget: in {f}")
                        best = max(best, (max(b, default=0) + o.call, "*"), key=lambda x: x[0])
                    else: best = max(best, (memo.get(alias.get(g, g), (0, None))[0] + o.call, g), key=lambda x: x[0])
                memo[f] = (size[f] + best[0], best[1])
        return memo.get(alias.get(root, root), (0, None))[0]
    table = sorted(((depth(r) + o.call, r) for r in sys.stdin.read().splitlines() if r), reverse=True)
    for d, r in table[:o.top]: print(f"{d:7}  {r}")
    if o.top and len(table) > o.top: print(f"   ...  {len(table) - o.top} more, all smaller; limit {o.limit}")
    if o.chain:
        for f in [r for d, r in table if d > o.limit] or [table[0][1]]:
            print(f"deepest chain of {f}:")
            while f and f != "*":
                f = alias.get(f, f); print(f"  {size.get(f, 0):6} {f}"); f = memo.get(f, (0, None))[1]
    known = dict(l.split() for l in open(o.known) if l.strip() and not l.startswith("#")) if o.known else {}
    over = [f"{r}: {d} > {known.get(r, o.limit)}" for d, r in table if d > int(known.get(r, o.limit))]
    for d, r in table:
        if r in known: print(f"above the limit, and known to be: {d:7}  {r}" if d > o.limit else f"{r} keeps the limit now: take it off the list")
    bad += over
    print("\n".join(dict.fromkeys(bad)), end="\n" if bad else "")
    sys.exit(1 if bad else 0)

main()
