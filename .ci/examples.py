"""Every public item that is documented stands in an example that runs: of its own, of its type, of its module, or of an item beside it.

Takes the folder of rustdoc's JSON. What other crates of the tree alone have a use for is hidden from the documentation instead.
"""

import json
import pathlib
import re
import sys

FENCE = re.compile(r"^```(.*?)$(.*?)^```", re.M | re.S)
ITEMS = ("struct", "enum", "union", "trait", "function", "type_alias", "constant", "static", "macro")


def words(item):
    """Names in the examples of an item; texts in blocks of another language are none."""
    found = set()
    for language, body in FENCE.findall(item.get("docs") or ""):
        if language.strip().split(",")[0] in ("", "rust", "no_run", "should_panic"):
            found |= set(re.findall(r"\w+", body))
    return found


def hidden(item):
    return any("doc(hidden)" in json.dumps(attr) for attr in item["attrs"])


class Crate:
    def __init__(self, path):
        data = json.loads(path.read_text())
        # Rustdoc writes hidden items down as well where entry points are listed (tests/proof/panic_free.sh).
        self.items = {number: item for number, item in data["index"].items() if not hidden(item)}
        self.root = str(data["root"])
        self.name = self.items[self.root]["name"]
        self.seen, self.missing, self.count = set(), [], 0

    def get(self, number):
        return self.items.get(str(number))

    def members(self, number):
        """Items of a module, those that it re-exports among them, with what is said where they are."""
        for member in self.get(number)["inner"]["module"]["items"]:
            item = self.get(member)
            if item is None:
                continue
            use = item["inner"].get("use")
            if use is None:
                yield member, item, set()
            elif self.get(use["id"]) is not None and not use["is_glob"]:
                yield use["id"], self.get(use["id"]), words(item)

    def module(self, number, path, above):
        """Looks at a module and all below it; `above` are the names in its own examples."""
        beside = set()
        for _, item, said in self.members(number):
            if "module" not in item["inner"]:
                beside |= words(item) | said
        # What a crate says again at its top is shown where it stands.
        modules_first = sorted(self.members(number), key=lambda member: "module" not in member[1]["inner"])
        for member, item, _ in modules_first:
            if str(member) in self.seen or item["crate_id"] != 0:
                continue
            self.seen.add(str(member))
            (kind, inner), = item["inner"].items()
            here, named = f"{path}::{item['name']}", above | beside | words(item)
            if kind == "module":
                self.module(member, here, words(item))
            elif kind in ITEMS:
                self.check(item, here, named)
                for block in inner["impls"] if kind in ("struct", "enum", "union") else []:
                    block = self.get(block)
                    if block is not None and block["inner"]["impl"]["trait"] is None:
                        self.methods(block["inner"]["impl"]["items"], here, named | words(block))
                if kind == "trait":
                    self.methods(inner["items"], here, named)

    def methods(self, numbers, path, named):
        for method in filter(None, map(self.get, numbers)):
            if "function" in method["inner"] or "assoc_const" in method["inner"]:
                self.check(method, f"{path}::{method['name']}", named | words(method))

    def check(self, item, path, named):
        self.count += 1
        if item["name"] not in named and not words(item):
            span = item["span"]
            self.missing.append(f"{span['filename']}:{span['begin'][0]}: no example shows {path}")


count, missing = 0, []
for path in sorted(pathlib.Path(sys.argv[1]).glob("lanebook*.json")):
    crate = Crate(path)
    crate.module(crate.root, crate.name, words(crate.items[crate.root]))
    count, missing = count + crate.count, missing + crate.missing
if count < 500:
    sys.exit(f"{sys.argv[1]}: {count} public items are too few to be all of them")
print(*missing, f"{count} public items, {len(missing)} without an example", sep="\n")
sys.exit(bool(missing))
