#!/usr/bin/env python3
"""Processor time that Triton takes from its own IR of a kernel (TTIR) to the text of the instruction set, stage by stage: what the whole
compile of lanebook-bench is held against.

    python3 tests/bench/triton_whole.py

needs Triton's wheel (3.9.0; no GPU). Assembling (ptxas, LLVM's object writer) is in neither.
"""
import time

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend


@triton.jit
def gemm(a, b, c, k, lda, ldb, ldc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    deep = tl.arange(0, K)
    pa = a + rows[:, None] * lda + deep[None, :]
    pb = b + deep[:, None] * ldb + cols[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        sums = tl.dot(tl.load(pa), tl.load(pb), sums)
        pa += K
        pb += K * ldb
    tl.store(c + rows[:, None] * ldc + cols[None, :], sums)


@triton.jit
def transpose(a, b, lda, ldb, N: tl.constexpr):
    rows = tl.program_id(0) * N + tl.arange(0, N)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    tile = tl.load(a + rows[:, None] * lda + cols[None, :])
    tl.store(b + cols[:, None] * ldb + rows[None, :], tl.trans(tile))


@triton.jit
def attention(q, k, v, o, n, stride, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    columns = tl.arange(0, N)
    query = tl.load(q + rows[:, None] * stride + d[None, :])
    most = tl.full((M,), float("-inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for at in range(0, n, N):
        key = tl.load(k + (at + columns)[None, :] * stride + d[:, None])
        scores = tl.dot(query, key) * scale
        now = tl.maximum(most, tl.max(scores, 1))
        weight = tl.exp2(scores - now[:, None])
        fade = tl.exp2(most - now)
        total = total * fade + tl.sum(weight, 1)
        value = tl.load(v + (at + columns)[:, None] * stride + d[None, :])
        sums = tl.dot(weight.to(tl.float16), value, sums * fade[:, None])
        most = now
    tl.store(o + rows[:, None] * stride + d[None, :], (sums / total[:, None]).to(tl.float16))


KERNELS = [
    (gemm, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32", "lda": "i32", "ldb": "i32", "ldc": "i32"}, {"M": 128, "N": 128, "K": 32}),
    (transpose, {"a": "*fp16", "b": "*fp16", "lda": "i32", "ldb": "i32"}, {"N": 64}),
    (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "n": "i32", "stride": "i32", "scale": "fp32"}, {"M": 64, "N": 64, "D": 64}),
]
TARGETS = [GPUTarget("cuda", 80, 32), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)]


def once(kernel, types, constants, target):
    signature = {**types, **{name: "constexpr" for name in constants}}
    divisible = {(at,): [["tt.divisibility", 16]] for at, kind in enumerate(types.values()) if kind[0] == "*" or kind == "i32"}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=divisible)
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": 4})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    metadata, times = {"target": target, "hash": "", **options.__dict__}, {}
    for name, stage in stages.items():
        if name in ("cubin", "hsaco"):
            break
        start = time.process_time()
        module = stage(module, metadata)
        times[name] = 1e3 * (time.process_time() - start)
    times.pop("ttir")
    return times


def main():
    for target in TARGETS:
        for kernel, types, constants in KERNELS:
            runs = [once(kernel, types, constants, target) for _ in range(9)]
            middle = sorted(runs, key=lambda run: sum(run.values()))[4]
            stages = ", ".join(f"{name} {time:.1f}" for name, time in middle.items())
            print(f"{kernel.__name__:<10} {target.arch}: {sum(middle.values()):7.1f} ms ({stages})")


if __name__ == "__main__":
    main()
