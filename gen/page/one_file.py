"""One HTML file of the page's parts: python3 one_file.py WEB_FOLDER MODULE.wasm OUTPUT.html

Styles and scripts are put in the places of their links; the module is packed with gzip and written as base64, which browsers
unpack themselves. The same input gives the same bytes.
"""

import base64
import gzip
import pathlib
import re
import sys


def main(web: pathlib.Path, module: pathlib.Path, output: pathlib.Path) -> None:
    page = (web / "index.html").read_text(encoding="utf-8")

    def style(found: re.Match) -> str:
        return "<style>\n" + (web / found[1]).read_text(encoding="utf-8") + "</style>"

    def script(found: re.Match) -> str:
        text = (web / found[1]).read_text(encoding="utf-8")
        if "</script" in text:
            sys.exit(f"{found[1]} ends its own element")
        return "<script>\n" + text + "</script>"

    page = re.sub(r'<link rel="stylesheet" href="([\w.-]+)">', style, page)
    page = re.sub(r'<script src="([\w.-]+)"></script>', script, page)
    packed = base64.b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode("ascii")
    mark = '<script id="module" type="application/octet-stream"></script>'
    if page.count(mark) != 1:
        sys.exit(f"index.html has no place for the module: {mark}")
    page = page.replace(mark, mark.replace("></script>", f">{packed}</script>"))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    whole = len(gzip.compress(page.encode("utf-8"), 9, mtime=0))
    print(f"{output.name}: {len(page)} bytes, {whole} compressed; module {module.stat().st_size} bytes")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:4]))
