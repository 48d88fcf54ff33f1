#!/usr/bin/env python3
"""entries.py OUT.rs CRATE.json...  writes one wrapper for each public function that rustdoc lists.

Reads rustdoc's JSON of the crates, finds every public function, every method of a public type and every method of a
trait that a public type implements (but not what `derive` writes), and writes `entry!(name, (arguments) call)`. Type
parameters get the instances of INSTANCES; a function that needs one that is not listed stops the run, so that the
list of entry points is complete or the proof fails. BY_HAND: written in src/by_hand.rs. EXEMPT: not wrapped, and why.
"""
import json, re, sys

# Type parameters by name, under the longest path that fits; then parameters by the trait that bounds them.
LINEAR = {"F": "lanebook_layout::Logical", "T": "lanebook_layout::Hw", "G": "lanebook_layout::Logical", "U": "lanebook_layout::Hw"}
INSTANCES = {
    "lanebook_layout": LINEAR,
    "lanebook_layout::LayoutRef": {"N": "4"},
    "lanebook_layout::triton::Few": {"T": "u32", "N": "16"},
    "lanebook": {}, "lanebook_ir": {}, "lanebook_tile": {}, "lanebook_passes": {}, "lanebook_plan": {}, "lanebook_emit": {}, "lanebook_check": {}, "lanebook_infer": {}, "lanebook_loops": {}, "lanebook_query": {},
    "lanebook_tables": {},
    "lanebook_tables::List": {"T": "u16"},
    "lanebook_capi": {},
    "lanebook::compile::CompileStorage": {"REJECTED": "16"},
    "lanebook_ir::Storage": {"OPS": "256", "VALUES": "512", "USES": "512", "ATTRS": "256", "REGIONS": "32", "TYPES": "64", "JOURNAL": "64"},
    "lanebook_passes::layout_seeding::SeedingStorage": {"LAYOUTS": "64", "VALUES": "512", "CLASSES": "64", "CANDIDATES": "64"},
    "lanebook_check::ContentsStorage": {"STEPS": "1536", "REGISTERS": "4096", "READS": "16384", "GOALS": "8192"},
    "lanebook_tile::candidates::FamilyFigures": {"I": "core::option::IntoIter<lanebook_tile::copy_atom::CopyAtom>"},
    "lanebook_tile::product::ProductInput": {"T": "u32"},
    "lanebook_tile::map::BitMatrix": {"T": "u32", "N": "20"},
    "lanebook_ir::rewrite": {"I": "u16", "E": "()", "G": "crate::by_hand::Opaque"},
    "lanebook_emit::expr::Selector": {"S": "crate::by_hand::Opaque"},
    "lanebook_loops::AnchorUnit": {"R": "u32"},
}
BOUNDS = {"Write": "crate::Sink", "AxisNames": "lanebook_layout::WellKnown", "SymNames": "lanebook_layout::SymTable", "AxisKinds": "lanebook_layout::WellKnown",
          "Into": "lanebook_layout::Int", "MatrixTiles": "lanebook_layout::triton::NoTiles", "ElementNames": "[(&'static str, u16)]",
          "LoopValues": "lanebook_plan::select::NoLoopValues"}
# Path of an entry point -> reason; checked: an entry that no longer exists is an error.
BY_HAND = {}
EXEMPT = {
    "lanebook_emit::LowerContext::function": "its sources of loops are two types that the passes of `compile` give it; reached through these",
    "lanebook_passes::PassContext::new": "takes a closure behind a reference; reached through `lanebook::pipeline::apply`",
    "lanebook_ir::Pools::edit": "generic over records that are private; reached through every change of a program",
}
# Traits whose methods are not entry points: written by derive or by core, or (Display) no more than what `write_text` does.
SKIP_TRAITS = {"Debug", "Display", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "StructuralPartialEq", "Error", "Write"}

# Entry points that answer storage by value, meant for statics: proved panic-free, but without a stack bound of their own.
BY_VALUE = {"lanebook::compile::CompileStorage::new", "<lanebook::compile::CompileStorage as Default>::default", "lanebook_ir::Storage::new", "<lanebook_ir::Storage as Default>::default",
            "lanebook_passes::layout_seeding::SeedingStorage::new", "<lanebook_passes::layout_seeding::SeedingStorage as Default>::default",
            "lanebook_check::ContentsStorage::new", "<lanebook_check::ContentsStorage as Default>::default",
            "lanebook_query::QueryStorage::new", "<lanebook_query::QueryStorage as Default>::default",
            "lanebook::written::LayoutStorage::new", "<lanebook::written::LayoutStorage as Default>::default"}

def instance(path, parameter):
    while path:
        found = INSTANCES.get(path, {}).get(parameter)
        if found: return found
        # One declaration names the sizes: a field of the defaults for each parameter.
        if path == "lanebook::compile::CompileStorage": return f"{{ lanebook::compile::Capacities::DEFAULT.{parameter.lower()} }}"
        path = path.rpartition("::")[0]

def main(out, files):
    crates = [Crate(json.load(open(f))) for f in files]
    public = {}
    for c in crates:
        for i, path in c.public.items():
            p = c.doc["paths"].get(str(i))
            if p: public["::".join(p["path"])] = path
    lines, names, problems = [], [], []
    for c in crates:
        for name, text in c.entries(public, problems):
            if name not in names:
                names.append(name); lines.append(text)
    for table in (BY_HAND, EXEMPT):
        for name in table:
            if name.split("::")[0] in {c.name for c in crates} and name not in SEEN:
                problems.append(f"{name} stands in a list of entries.py but is not a public function any more")
    if problems:
        sys.exit("\n".join(problems))
    by_hand = [n for n in BY_HAND if n in SEEN]
    open(out, "w").write("".join(lines))
    names += sorted({BY_HAND[n] for n in by_hand})
    open(out.replace(".rs", ".txt"), "w").write("\n".join(names) + "\n")
    open(out.replace(".rs", ".stack.txt"), "w").write("\n".join(n for n in names if n not in BY_VALUE) + "\n")
    print(f"{len(names)} entry points wrapped, {len(by_hand)} by hand, {sum(n in SEEN for n in EXEMPT)} exempt")

SEEN = set()

class Skip(Exception):
    pass

class Crate:
    def __init__(self, doc):
        self.doc, self.index = doc, doc["index"]
        self.name = self.index[str(doc["root"])]["name"]
        self.public = {}
        self.walk(doc["root"], self.name, 0)

    def walk(self, i, path, depth):
        """Public paths of items, the shortest for each."""
        item = self.index.get(str(i))
        if item is None or depth > 12: return
        if i in self.public and len(self.public[i].split("::")) <= len(path.split("::")) and "module" not in item["inner"]: return
        self.public[i] = path
        for child in item["inner"].get("module", {}).get("items", []):
            it = self.index.get(str(child))
            if it is None: continue
            use = it["inner"].get("use")
            if use:
                target = self.index.get(str(use["id"]))
                if target is None: continue
                if use["is_glob"]:
                    for j in target["inner"].get("module", {}).get("items", []):
                        k = self.index.get(str(j))
                        if k and k["visibility"] == "public" and k["name"]: self.walk(j, f"{path}::{k['name']}", depth + 1)
                else: self.walk(use["id"], f"{path}::{use['name']}", depth + 1)
            elif it["visibility"] == "public" and it["name"]:
                self.walk(child, f"{path}::{it['name']}", depth + 1)

    def entries(self, public, problems):
        for i, path in sorted(self.public.items(), key=lambda p: p[1]):
            item = self.index[str(i)]
            inner = item["inner"]
            if "function" in inner:
                yield from self.wrap(path, path, inner["function"], {}, None, public, problems)
            for impl in next((v.get("impls", []) for k, v in inner.items() if k in ("struct", "enum", "union")), []):
                imp = self.index.get(str(impl))
                if imp is None or "automatically_derived" in json.dumps(imp["attrs"]): continue
                imp = imp["inner"]["impl"]
                if imp["is_synthetic"] or imp["blanket_impl"] or imp["is_negative"]: continue
                trait = imp["trait"]
                if trait and (trait["path"].split("::")[-1] in SKIP_TRAITS): continue
                try:
                    env = self.generics(imp["generics"], path)
                    of = self.type(imp["for"], env, public)
                    head = f"<{of} as {self.path(trait, env, public)}>" if trait else f"<{of}>"
                except Skip as e:
                    env, of, head = {}, None, None
                    why = str(e)
                for f in imp["items"]:
                    fn = self.index.get(str(f))
                    if fn is None or "function" not in fn["inner"] or not (trait or fn["visibility"] == "public"): continue
                    name = f"{path}::{fn['name']}" if not trait else f"<{path} as {self.short(trait)}>::{fn['name']}"
                    if head is None:
                        if name not in EXEMPT and name not in BY_HAND: problems.append(f"{name}: {why}")
                        SEEN.add(name); continue
                    if trait and trait["path"] == "Drop":
                        SEEN.add(name)
                        yield name, f'entry!("{name}", (a0: {of}) drop(a0));\n'
                        continue
                    yield from self.wrap(name, f"{head}::{fn['name']}", fn["inner"]["function"], dict(env), of, public, problems)

    def short(self, trait):
        a = trait.get("args") or {}
        inner = [self.word(x.get("type", {})) for x in a.get("angle_bracketed", {}).get("args", [])]
        return trait["path"].split("::")[-1] + (f"<{', '.join(inner)}>" if inner else "")

    def word(self, t):
        kind, v = next(iter(t.items()), ("", ""))
        return v if isinstance(v, str) else v.get("path", kind) if isinstance(v, dict) else kind

    def wrap(self, name, call, f, env, of, public, problems):
        SEEN.add(name)
        if name in BY_HAND or name in EXEMPT: return
        try:
            env = dict(env) | self.generics(f["generics"], name)
            if of: env["Self"] = of
            own = [env[p["name"]] for p in f["generics"]["params"] if "lifetime" not in p["kind"] and not p["name"].startswith("impl ")]
            if own: call += f"::<{', '.join(own)}>"
            args, params = [], []
            for n, (_, t) in enumerate(f["sig"]["inputs"]):
                text, arg = self.argument(t, env, public, n)
                if text: params.append(f"a{n}: {text}")
                args.append(arg)
            expr = f"{call}({', '.join(args)})"
            out = f["sig"]["output"]
            # What is shown is written by `write_named`, an entry point of its own.
            shown = out and any(b.get("trait_bound", {}).get("trait", {}).get("path", "").endswith("Display") for b in out.get("impl_trait", []))
            if shown: expr = f"drop({expr})"
            elif out and "impl_trait" in out: expr = f"crate::drain({expr})"
            yield name, f'entry!("{name}", ({", ".join(params)}) {expr});\n'
        except Skip as e:
            problems.append(f"{name}: {e}; add it to INSTANCES, BY_HAND or EXEMPT in tests/proof/entries.py")

    def argument(self, t, env, public, n):
        if "impl_trait" in t:
            b = t["impl_trait"][0]["trait_bound"]["trait"]
            name = b["path"].split("::")[-1]
            if name in ("FnMut", "Fn", "FnOnce"):
                p = b["args"]["parenthesized"]
                ks = ", ".join(f"p{k}" for k in range(len(p["inputs"])))
                boxed = "".join(f"core::hint::black_box(&p{k}); " for k in range(len(p["inputs"])))
                tail = "" if p["output"] is None else "crate::any()"
                return None, f"|{ks}| {{ {boxed}{tail} }}"
            if name == "IntoIterator":
                item = b["args"]["angle_bracketed"]["constraints"][0]["binding"]["equality"]["type"]
                return f"[{self.type(item, env, public)}; 4]", f"a{n}"
            if name in BOUNDS: return BOUNDS[name], f"a{n}"
            raise Skip(f"impl {name}")
        return self.type(t, env, public), f"a{n}"

    def generics(self, g, path):
        env = {}
        for p in g["params"]:
            if "lifetime" in p["kind"]: continue
            if p["name"].startswith("impl "): continue
            inst = instance(path, p["name"])
            if inst is None:
                for b in p["kind"].get("type", {}).get("bounds", []):
                    trait = b.get("trait_bound", {}).get("trait", {}).get("path", "").split("::")[-1]
                    inst = inst or BOUNDS.get(trait)
            if inst is None: raise Skip(f"no instance for the parameter {p['name']}")
            env[p["name"]] = inst
        return env

    def type(self, t, env, public):
        kind, v = next(iter(t.items()))
        sub = lambda x: self.type(x, env, public)
        if kind == "primitive": return "!" if v == "never" else v
        if kind == "generic":
            if v in env: return env[v]
            raise Skip(f"no instance for the parameter {v}")
        if kind == "borrowed_ref":
            if "impl_trait" in v["type"]:
                inner, _ = self.argument(v["type"], env, public, 0)
                if inner is None: raise Skip("a reference to a closure")
            else: inner = sub(v["type"])
            return f"&'static {'mut ' if v['is_mutable'] else ''}{inner}"
        if kind == "slice": return f"[{sub(v)}]"
        if kind == "array": return f"[{sub(v['type'])}; {env.get(v['len'], v['len'])}]"
        if kind == "tuple": return "(" + "".join(sub(x) + ", " for x in v) + ")"
        if kind == "dyn_trait": return "(dyn " + " + ".join(self.path(x["trait"], env, public) for x in v["traits"]) + " + 'static)"
        if kind == "resolved_path": return self.path(v, env, public)
        if kind == "qualified_path": return f"<{sub(v['self_type'])} as {self.path(v['trait'], env, public)}>::{v['name']}"
        raise Skip(f"a type of kind {kind}")

    def path(self, v, env, public):
        p = self.doc["paths"].get(str(v["id"]))
        if v["id"] in self.public: full = self.public[v["id"]]
        elif p:
            full = "::".join(p["path"])
            full = public.get(full, full)
        else: raise Skip(f"no path for {v['path']}")
        full = re.sub(r"^core::(iter::traits|ops)::\w+::(?=[A-Z])", lambda m: "core::iter::" if "iter" in m[1] else "core::ops::", full)
        args = (v.get("args") or {}).get("angle_bracketed", {}).get("args", [])
        texts = []
        for a in args:
            if "lifetime" in a: texts.append("'static")
            elif "type" in a: texts.append(self.type(a["type"], env, public))
            elif "const" in a:
                e = a["const"]["expr"]
                e = re.sub(r"[A-Z][A-Z0-9_]*", lambda m: env.get(m[0], m[0]), e) if not a["const"]["value"] else a["const"]["value"]
                texts.append(f"{{ {e} }}")
        return full + (f"<{', '.join(texts)}>" if texts else "")

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
