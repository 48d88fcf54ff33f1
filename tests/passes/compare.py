#!/usr/bin/env python3
"""What Triton's own removal of layout conversions makes of the kernels in `ttgir/`, written to `triton/`, with its time.

    python3 tests/passes/compare.py [FOLDER]

needs Triton's wheel (3.9.0; no GPU). FOLDER: where results go, default `tests/passes/triton`. Tests read the texts only.
`gemm.sm_100` and `attention.sm_100` are kernels of `products.py` (`gemm_128_128_64`, `attention`) behind `accelerate-matmul`.
"""
import glob
import os
import re
import sys
import time

from triton._C.libtriton import amd, ir, nvidia, passes

HERE = os.path.dirname(os.path.abspath(__file__))


def plain(text):
    """Without the places that MLIR adds."""
    lines = [line for line in text.split("\n") if not line.startswith("#loc")]
    return re.sub(r' loc\((#loc\d*|unknown|"[^"]*"(:\d+:\d+)?)\)', "", "\n".join(lines))


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "triton")
    for path in sorted(glob.glob(os.path.join(HERE, "ttgir", "*.mlir"))):
        times = []
        for _ in range(9):
            context = ir.context()
            ir.load_dialects(context)
            nvidia.load_dialects(context)
            amd.load_dialects(context)
            module = ir.parse_mlir_module(path, context)
            module.context = context
            manager = ir.pass_manager(context)
            passes.ttgpuir.add_remove_layout_conversions(manager)
            start = time.process_time()
            manager.run(module, "remove-layout-conversions")
            times.append(time.process_time() - start)
        text = plain(str(module))
        name = os.path.basename(path)
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{name:<34} {text.count('ttg.convert_layout'):>3} conversions left, {1e3 * sorted(times)[4]:6.2f} ms")


if __name__ == "__main__":
    main()
