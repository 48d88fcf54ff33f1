#!/usr/bin/env python3
"""blame.py ELF  says which of our source lines reach a panic, with the entry points from which they are reached."""
import re, subprocess, sys

SUFFIX = "-22"
ELF = sys.argv[1]

def run(*a, **k):
    return subprocess.run(a, check=True, capture_output=True, text=True, **k).stdout

def main():
    calls, cur = {}, None
    for line in run("objdump", "-d", "--no-show-raw-insn", "-w", ELF).splitlines():
        m = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if m:
            cur = m[1]; calls.setdefault(cur, []); continue
        m = re.match(r"\s*([0-9a-f]+):\s+(?:call|jmp|j\w+)q?\s+\*?(?:0x)?[0-9a-f]* ?(?:0x[0-9a-f]+\(%rip\)\s+# [0-9a-f]+ )?<([^>+]+)>", line)
        if m and cur and m[2] != cur: calls[cur].append((m[1], m[2]))
    core = lambda f: re.match(r"_R\w*4core|_ZN\d*4core|_ZN4core|core\.\.|_ZN\d+_\$LT\$.*\.\.core", f)
    guilty = {f for f in set(calls) | {g for cs in calls.values() for _, g in cs} if re.search(r"9panicking|3fmt|PANIC_REACHABLE|slice_index_fail|unwrap_failed|expect_failed", f)}
    while more := {f for f, cs in calls.items() if f not in guilty and core(f) and any(g in guilty for _, g in cs)}: guilty |= more
    callers = {}
    for f, cs in calls.items():
        for at, g in cs: callers.setdefault(g, []).append((f, at))
    sites = sorted({(at, f, g) for f, cs in calls.items() for at, g in cs if g in guilty and f not in guilty})
    if not sites: print("  no direct call of a panic found (a table of functions, then: look for `dyn`)")
    for at, f, g in sites:
        try: where = run("llvm-symbolizer" + SUFFIX, "-e", ELF, "-i", "-f", "-C", "--no-demangle", "0x" + at)
        except (OSError, subprocess.CalledProcessError): where = run("addr2line", "-i", "-f", "-C", "-e", ELF, "0x" + at)
        lines = [l for l in where.splitlines() if ":" in l and "/" in l]
        ours = next((l for l in lines if "/rustc/" not in l and "/.cargo/" not in l), lines[0] if lines else "?")
        seen, todo = {f}, [f]
        while todo:
            for c, _ in callers.get(todo.pop(), []):
                if c not in seen: seen.add(c); todo.append(c)
        roots = sorted(x for x in seen if "::" in x and not x.startswith("_"))
        print(f"  {ours}\n      in {f} calls {g}\n      reached from {len(roots)} entry points: {', '.join(roots[:4])}{' ...' if len(roots) > 4 else ''}")

main()
