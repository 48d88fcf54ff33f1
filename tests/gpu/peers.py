"""Times what `lanebook-gpu speed` times, at the same sizes, by Triton and by PyTorch's libraries.

    python3 tests/gpu/peers.py

One JSON line for each. The Triton products have the tiles, stages and warps of the example of that
name; what is marked `library` is what PyTorch calls (cuBLAS, its own kernels, FlashAttention).
"""

import json

import torch
import triton
import triton.language as tl

RUNS = 20


def timed(call):
    for _ in range(RUNS):
        call()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(RUNS):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / RUNS


def tell(kernel, by, call, flops=0, moved=0):
    microseconds = timed(call)
    row = {"kernel": kernel, "by": by, "microseconds": round(microseconds, 1)}
    if flops:
        row["teraflops"] = round(flops / microseconds / 1e6, 1)
    row["gigabytes"] = round(moved / microseconds / 1e3, 1)
    print(json.dumps(row), flush=True)


@triton.jit
def product(a, b, c, m, n, k, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    rows = tl.program_id(1) * TM + tl.arange(0, TM)
    cols = tl.program_id(0) * TN + tl.arange(0, TN)
    depth = tl.arange(0, TK)
    left = a + rows[:, None] * k + depth[None, :]
    right = b + depth[:, None] * n + cols[None, :]
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for at in range(0, k, TK):
        inside = depth + at < k
        x = tl.load(left, mask=(rows[:, None] < m) & inside[None, :], other=0.0)
        y = tl.load(right, mask=inside[:, None] & (cols[None, :] < n), other=0.0)
        total = tl.dot(x, y, total)
        left += TK
        right += TK * n
    tl.store(c + rows[:, None] * n + cols[None, :], total, mask=(rows[:, None] < m) & (cols[None, :] < n))


def main():
    n = 4096
    a = torch.randn(n, n, device="cuda", dtype=torch.float16)
    b = torch.randn(n, n, device="cuda", dtype=torch.float16)
    c = torch.empty(n, n, device="cuda", dtype=torch.float32)
    flops, moved = 2 * n**3, n * n * 8
    for name, depth in (("gemm_stages", 32), ("gemm_warp_specialized", 64)):
        grid = (triton.cdiv(n, 128), triton.cdiv(n, 128))
        call = lambda: product[grid](a, b, c, n, n, n, 128, 128, depth, num_stages=3, num_warps=4)
        tell(name, f"triton {triton.__version__}, 128x128x{depth}, 3 stages, 4 warps", call, flops, moved)
        call = lambda: product[grid](a, b, c, n, n, n, 128, 128, depth, num_stages=3, num_warps=8)
        tell(name, f"triton {triton.__version__}, 128x128x{depth}, 3 stages, 8 warps", call, flops, moved)
    tell("gemm_stages", "library, f16 result", lambda: torch.matmul(a, b), flops, n * n * 6)
    rows = torch.randn(8192, 4096, device="cuda")
    tell("softmax", "library", lambda: torch.softmax(rows, 1), 0, rows.numel() * 8)
    weight, bias = torch.randn(4096, device="cuda"), torch.randn(4096, device="cuda")
    norm = lambda: torch.nn.functional.layer_norm(rows, (4096,), weight, bias)
    tell("layer_norm_rows", "library", norm, 0, rows.numel() * 8)
    side = torch.randn(8192, 8192, device="cuda").half()
    tell("transpose_tails", "library", lambda: side.t().contiguous(), 0, side.numel() * 4)
    heads = [torch.randn(1, 1, 16384, 64, device="cuda", dtype=torch.float16) for _ in range(3)]
    attention = lambda: torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
    tell("attention_causal", "library", attention, 2 * 16384**2 * 64, 16384 * 64 * 8)


if __name__ == "__main__":
    main()
