#!/usr/bin/env python3
"""Which matrix instructions Triton's own pass gives to products: kernels, dumped before and after `accelerate-matmul`.

    python3 tests/passes/products.py [FOLDER]

needs Triton's wheel (3.9.0; no GPU). Writes `NAME.TARGET.mlir`, what stands before the pass, and `chosen.txt`: for each product the
layouts of left operand, right operand and result that the pass chose. Tests read these files only.
"""
import os
import re
import sys

import triton, triton.language as tl
from triton._C.libtriton import ir, passes, nvidia, amd
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

@triton.jit
def gemm(A, B, C, M, N, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PREC: tl.constexpr, ACC: tl.constexpr, BT: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM); rn = pn * BN + tl.arange(0, BN); rk = tl.arange(0, BK)
    a = A + rm[:, None] * sam + rk[None, :]
    if BT:
        b = B + rk[:, None] + rn[None, :] * sbk
    else:
        b = B + rk[:, None] * sbk + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc, input_precision=PREC, out_dtype=ACC)
        a += BK
        if BT:
            b += BK
        else:
            b += BK * sbk
    c = C + rm[:, None] * scm + rn[None, :]
    tl.store(c, acc.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))

@triton.jit
def attention(Q, K, V, O, sq, sk, L, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, PREC: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM); rd = tl.arange(0, D); rn = tl.arange(0, BN)
    q = tl.load(Q + rm[:, None] * sq + rd[None, :])
    m = tl.full((BM,), float("-inf"), tl.float32); l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, L, BN):
        k = tl.load(K + (n + rn)[None, :] * sk + rd[:, None])
        s = tl.dot(q, k, input_precision=PREC) * scale
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - mn[:, None]); al = tl.exp2(m - mn)
        l = l * al + tl.sum(p, 1)
        v = tl.load(V + (n + rn)[:, None] * sk + rd[None, :])
        acc = acc * al[:, None]
        acc = tl.dot(p.to(V.dtype.element_ty), v, acc, input_precision=PREC)
        m = mn
    tl.store(O + rm[:, None] * sq + rd[None, :], (acc / l[:, None]).to(O.dtype.element_ty))

@triton.jit
def chain(A, B, C, D, s, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BP: tl.constexpr):
    rm = tl.arange(0, BM); rn = tl.arange(0, BN); rk = tl.arange(0, BK); rp = tl.arange(0, BP)
    a = tl.load(A + rm[:, None] * s + rk[None, :]); b = tl.load(B + rk[:, None] * s + rn[None, :])
    c = tl.load(C + rn[:, None] * s + rp[None, :])
    ab = tl.dot(a, b).to(A.dtype.element_ty)
    tl.store(D + rm[:, None] * s + rp[None, :], tl.dot(ab, c))

@triton.jit
def scaled_left(A, B, C, S, s, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM); rn = tl.arange(0, BN); rk = tl.arange(0, BK)
    a = tl.load(A + rm[:, None] * s + rk[None, :]) 
    sc = tl.load(S + rm)
    a = (a.to(tl.float32) * sc[:, None]).to(B.dtype.element_ty)
    b = tl.load(B + rk[:, None] * s + rn[None, :])
    tl.store(C + rm[:, None] * s + rn[None, :], tl.dot(a, b))

@triton.jit
def residual(A, B, C, s, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM); rn = tl.arange(0, BN); rk = tl.arange(0, BK)
    a = tl.load(A + rk[None, :] * s + rm[:, None])
    b = tl.load(B + rk[:, None] * s + rn[None, :])
    c = tl.load(C + rm[:, None] * s + rn[None, :])
    tl.store(C + rm[:, None] * s + rn[None, :], tl.dot(a, b, c))

@triton.jit
def batched(A, B, C, s, BB: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rb = tl.arange(0, BB); rm = tl.arange(0, BM); rn = tl.arange(0, BN); rk = tl.arange(0, BK)
    a = tl.load(A + rb[:, None, None] * s * s + rm[None, :, None] * s + rk[None, None, :])
    b = tl.load(B + rb[:, None, None] * s * s + rk[None, :, None] * s + rn[None, None, :])
    tl.store(C + rb[:, None, None] * s * s + rm[None, :, None] * s + rn[None, None, :], tl.dot(a, b))

@triton.jit
def scaled_blocks(A, B, C, SA, SB, s, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PB: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr):
    rm = tl.arange(0, BM); rn = tl.arange(0, BN); ka = tl.arange(0, BK); kb = tl.arange(0, BK // PB); ks = tl.arange(0, BK // 32)
    a = tl.load(A + rm[:, None] * s + ka[None, :]); b = tl.load(B + kb[:, None] * s + rn[None, :])
    sa = tl.load(SA + rm[:, None] * s + ks[None, :]); sb = tl.load(SB + rn[:, None] * s + ks[None, :])
    c = tl.load(C + rm[:, None] * s + rn[None, :])
    tl.store(C + rm[:, None] * s + rn[None, :], tl.dot_scaled(a, sa, FA, b, sb, FB, c))

def plain(text):
    lines = [l for l in text.split("\n") if not l.startswith("#loc")]
    return re.sub(r' loc\((#loc\d*|unknown|callsite\([^)]*\)|"[^"]*"(:\d+:\d+)?(\(#loc\d*\))?)\)', "", "\n".join(lines))

def target(name):
    if name.startswith("sm_"): return GPUTarget("cuda", int(name[3:]), 32)
    return GPUTarget("hip", name, 64 if name.startswith("gfx9") else 32)

def dump(fn, sig, const, tname, warps, tag, out):
    tgt = target(tname)
    be = make_backend(tgt)
    opts = be.parse_options({"num_warps": warps})
    attrs = {}
    if "PREC" in const and tname.startswith("gfx") and tname != "gfx942": const = {**const, "PREC": "ieee"}
    for i, n in enumerate(fn.arg_names):
        if n in sig and (sig[n].startswith("*") or sig[n] == "i32"):
            attrs[(i,)] = [["tt.divisibility", 16]]
    src = ASTSource(fn, {**sig, **{k: "constexpr" for k in const}}, const, attrs)
    ctx = ir.context(); ir.load_dialects(ctx); be.load_dialects(ctx)
    cg = be.get_codegen_implementation(opts); mm = be.get_module_map()
    mod = src.make_ir(tgt, opts, cg, mm, ctx) if src.make_ir.__code__.co_argcount == 6 else src.make_ir(opts, cg, mm, ctx)
    md = {}
    mod = be.make_ttir(mod, md, opts) if not tname.startswith("sm_") else be.make_ttir(mod, md, opts, tgt.arch)
    pm = ir.pass_manager(ctx)
    ts = f"cuda:{tgt.arch}" if tgt.backend == "cuda" else f"hip:{tgt.arch}"
    passes.ttir.add_convert_to_ttgpuir(pm, ts, warps, tgt.warp_size, 1)
    pm.run(mod, "a")
    pm = ir.pass_manager(ctx)
    passes.ttgpuir.add_coalesce(pm)
    passes.ttgpuir.add_f32_dot_tc(pm, tgt.backend == "cuda" and tgt.arch >= 80)
    passes.ttgpuir.add_remove_layout_conversions(pm)
    passes.ttgpuir.add_optimize_thread_locality(pm)
    pm.run(mod, "b")
    with open(f"{out}/{tag}.{tname}.mlir", "w", encoding="utf-8") as file:
        file.write(plain(str(mod)))
    pm = ir.pass_manager(ctx)
    if tgt.backend == "cuda":
        passes.ttgpuir.add_accelerate_matmul(pm)
    else:
        amd.passes.ttgpuir.add_accelerate_matmul(pm, tgt.arch, 0, 1)
    pm.run(mod, "c")
    with open(f"{out}/chosen.txt", "a", encoding="utf-8") as file:
        for line in chosen(plain(str(mod))):
            file.write(f"{tag}.{tname}: {line}\n")


def layout(ty, aliases):
    """The layout of a type, spelt out."""
    while True:
        name = next((name for name in re.findall(r"#(\w+)", ty) if name in aliases and name != "smem"), None)
        if name is None:
            break
        ty = re.sub(rf"#{name}\b(?!\.)", lambda _: aliases[name], ty)
    body = ty[ty.index("<") + 1 : -1]
    return body.split(", ", 1)[1].removesuffix(", #smem").removesuffix(", #ttng.tensor_memory, mutable")


def types(line):
    """The types of a product, without what stands before them."""
    depth, parts, last = 0, [], 0
    text = line.rsplit(" : ", 1)[1] if " * " in line.rsplit(" : ", 1)[1] else line
    text = text.replace("->", "*")
    for at, char in enumerate(text):
        depth += {"<": 1, ">": -1}.get(char, 0)
        if depth == 0 and text.startswith(" * ", at):
            parts.append(text[last:at])
            last = at + 3
    return [part.strip() for part in parts + [text[last:]]]


def operands(line):
    """Types between commas, without what stands before them."""
    depth, parts, last = 0, [], 0
    text = line.rsplit(" : ", 1)[1]
    for at, char in enumerate(text):
        depth += {"<": 1, ">": -1}.get(char, 0)
        if depth == 0 and text.startswith(", ", at):
            parts.append(text[last:at])
            last = at + 2
    return parts + [text[last:]]


def chosen(text):
    """A line for each product. One with its sums in tensor memory has four layouts: that of its sums, and that in which they are loaded; one
    with block scales has those of its scales, too."""
    aliases = dict(re.findall(r"^#(\w+) = (.*)$", text, re.M))
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if " = ttng.tc_gen5_mma " in line:
            load = next(later for later in lines[number:] if " = ttng.tmem_load " in later).rsplit(" -> ", 1)[1]
            yield " | ".join(layout(ty, aliases) for ty in operands(line)[:3] + [load])
        if " = tt.dot_scaled " in line:
            # Each operand's scales are typed beside it.
            a, sa, b, sb, d = re.split(r", (?=tensor)| \* | -> ", line.rsplit(" : ", 1)[1])
            yield " | ".join(layout(ty, aliases) for ty in (a, b, d, sa, sb))
        if re.search(r"= (tt\.dot|ttng\.warp_group_dot) ", line):
            yield " | ".join(layout(ty, aliases) for ty in types(line))


T = {"f16": tl.float16, "f32": tl.float32, "i32": tl.int32, "f64": tl.float64}
def G(dt, bm, bn, bk, prec="tf32", acc=None, bt=False, out="fp16"):
    acc = acc or tl.float32
    sig = dict(A="*" + dt, B="*" + dt, C="*" + out, M="i32", N="i32", K="i32", sam="i32", sbk="i32", scm="i32")
    return gemm, sig, dict(BM=bm, BN=bn, BK=bk, PREC=prec, ACC=acc, BT=bt)
def A(dt, bm, bn, d, prec="tf32"):
    sig = dict(Q="*" + dt, K="*" + dt, V="*" + dt, O="*" + dt, sq="i32", sk="i32", L="i32", scale="fp32")
    return attention, sig, dict(BM=bm, BN=bn, D=d, PREC=prec)
def CH(dt, bm, bn, bk, bp):
    return chain, dict(A="*" + dt, B="*" + dt, C="*" + dt, D="*fp32", s="i32"), dict(BM=bm, BN=bn, BK=bk, BP=bp)
def SL(dt, bm, bn, bk):
    return scaled_left, dict(A="*" + dt, B="*" + dt, C="*fp32", S="*fp32", s="i32"), dict(BM=bm, BN=bn, BK=bk)
def BD(dt, bb, bm, bn, bk):
    return batched, dict(A="*" + dt, B="*" + dt, C="*fp32", s="i32"), dict(BB=bb, BM=bm, BN=bn, BK=bk)
def RS(dt, bm, bn, bk):
    return residual, dict(A="*" + dt, B="*" + dt, C="*fp32", s="i32"), dict(BM=bm, BN=bn, BK=bk)



def MX(fa, fb, bm, bn, bk):
    of = {"e4m3": "*fp8e4nv", "e5m2": "*fp8e5", "e2m1": "*u8"}
    sig = dict(A=of[fa], B=of[fb], C="*fp32", SA="*u8", SB="*u8", s="i32")
    return scaled_blocks, sig, dict(BM=bm, BN=bn, BK=bk, PB=2 if fb == "e2m1" else 1, FA=fa, FB=fb)


def kernels(target):
    """Kernels by name: sources, types, constants, warps."""
    found = {
        "gemm_128_128_64": (G("fp16", 128, 128, 64), 4),
        "gemm_64_256_32": (G("bf16", 64, 256, 32), 8),
        "gemm_16_64_64": (G("fp16", 16, 64, 64), 2),
        "gemm_32_32_128": (G("fp16", 32, 32, 128), 1),
        "gemm_32_128_16": (G("fp16", 32, 128, 16), 4),
        "gemm_256_256_32": (G("fp16", 256, 256, 32), 8),
        "gemm_bt": (G("fp16", 256, 64, 64, bt=True), 4),
        "gemm_f32": (G("fp32", 64, 64, 32, "tf32", out="fp32"), 4),
        "gemm_ieee": (G("fp32", 64, 64, 32, "ieee", out="fp32"), 4),
        "gemm_i8": (G("i8", 128, 64, 64, acc=tl.int32, out="i32"), 4),
        "gemm_f16": (G("fp16", 128, 128, 64, acc=tl.float16), 4),
        "attention": (A("fp16", 128, 64, 64), 4),
        "attention_w8": (A("bf16", 64, 32, 128), 8),
        "attention_16": (A("fp16", 16, 64, 128), 4),
        "chain": (CH("fp16", 64, 64, 64, 64), 4),
        "chain_w8": (CH("fp16", 32, 128, 64, 128), 8),
        "scaled": (SL("fp16", 128, 64, 64), 4),
        "batch_2_64": (BD("fp16", 2, 64, 64, 64), 4),
        "batch_4_32": (BD("fp16", 4, 32, 64, 32), 4),
        "batch_1_128": (BD("fp16", 1, 128, 64, 32), 8),
        "batch_8_16": (BD("bf16", 8, 16, 32, 32), 2),
        "residual": (RS("fp16", 128, 128, 32), 8),
    }
    if target in ("sm_120", "gfx950", "gfx1250"):
        found["blocks_128"] = (MX("e4m3", "e4m3", 128, 128, 128), 4)
        found["blocks_64"] = (MX("e5m2", "e4m3", 64, 32, 256), 8)
        found["blocks_32"] = (MX("e4m3", "e5m2", 32, 64, 128), 2)
        found["blocks_256"] = (MX("e5m2", "e5m2", 256, 64, 256), 4)
        found["blocks_16"] = (MX("e4m3", "e4m3", 16, 16, 128), 1)
        found["blocks_fp4"] = (MX("e5m2", "e2m1", 128, 128, 128), 4)
    fp8 = "fp8e4b8" if target == "gfx942" else "fp8e4nv"
    if target == "sm_100":
        # Extents of the place of the sums: rows 64, 128 and more, columns 8 to 512, four and eight warps; others are for one warp's instruction.
        for rows, columns, warps in ((64, 8, 4), (64, 16, 4), (64, 32, 8), (64, 64, 8), (64, 128, 4), (64, 256, 8), (64, 512, 4), (64, 512, 8), (128, 8, 8), (128, 16, 4), (128, 32, 8),
                                     (128, 64, 4), (128, 128, 8), (128, 256, 4), (128, 512, 4), (256, 16, 8), (256, 32, 4), (256, 64, 8), (256, 128, 4), (256, 256, 8), (256, 512, 8),
                                     (512, 64, 4), (512, 64, 8), (128, 64, 1), (128, 64, 2), (128, 64, 16), (32, 64, 4)):
            found[f"tall_{rows}_{columns}_w{warps}"] = (G("fp16", rows, columns, 16), warps)
        for kind in ("bf16", "fp8e4nv", "fp8e5", "fp32", "i8"):
            acc, out = (tl.int32, "i32") if kind == "i8" else (tl.float32, "fp32")
            for rows, columns, depth, warps in ((64, 64, 32, 4), (128, 128, 32, 8), (256, 16, 64, 4)):
                for bt in (False, True):
                    found[f"type_{kind}_{rows}{'_bt' if bt else ''}"] = (G(kind, rows, columns, depth, acc=acc, bt=bt, out=out), warps)
        for rows, columns, warps in ((64, 64, 4), (128, 128, 8), (128, 32, 4), (256, 128, 8)):
            found[f"half_{rows}_{columns}"] = (G("fp16", rows, columns, 64, acc=tl.float16), warps)
        found["narrow_fp8"] = (G("fp8e4nv", 128, 8, 64), 4)
        found["gemm_f64"] = (G("fp64", 64, 64, 16, "ieee", acc=tl.float64, out="fp64"), 4)
    if target in ("sm_90", "sm_100", "sm_120", "gfx942", "gfx950", "gfx1200", "gfx1250"):
        found["gemm_fp8"] = (G(fp8, 128, 128, 64), 4)
        found["gemm_fp8_bt"] = (G(fp8, 64, 128, 128, bt=True), 8)
    if target in ("sm_80", "sm_90", "gfx90a", "gfx942"):
        found["gemm_f64"] = (G("fp64", 64, 64, 16, "ieee", acc=tl.float64, out="fp64"), 4)
    return found


# What is kept; all kernels of all targets were compared when this was written.
SOME = {
    "sm_80": ["gemm_128_128_64", "gemm_16_64_64", "gemm_f32", "gemm_ieee", "gemm_f16", "attention_w8", "chain_w8", "gemm_f64", "batch_2_64", "batch_1_128"],
    "sm_90": ["gemm_64_256_32", "gemm_32_32_128", "gemm_256_256_32", "gemm_bt", "gemm_f32", "gemm_i8", "attention", "attention_w8", "attention_16", "scaled", "residual", "gemm_fp8", "gemm_f64", "batch_4_32"],
    "sm_100": ["tall_64_8_w4", "tall_64_32_w8", "tall_64_128_w4", "tall_64_512_w8", "tall_128_8_w8", "tall_128_16_w4", "tall_128_64_w16", "tall_128_256_w4", "tall_256_64_w8", "tall_256_128_w4", "tall_256_512_w8",
               "tall_32_64_w4", "type_bf16_128_bt", "type_fp8e4nv_256", "type_fp8e5_64_bt", "type_fp32_64", "type_fp32_128_bt", "type_i8_128", "half_64_64", "half_256_128", "narrow_fp8", "gemm_ieee", "gemm_f64",
               "attention", "attention_w8", "chain", "scaled", "residual", "batch_2_64"],
    "sm_120": ["gemm_64_256_32", "attention_w8", "gemm_fp8_bt", "batch_8_16", "blocks_128", "blocks_64", "blocks_32", "blocks_256", "blocks_16"],
    "gfx90a": ["gemm_f32", "gemm_i8", "attention_16", "gemm_f64"],
    "gfx942": ["gemm_256_256_32", "gemm_16_64_64", "gemm_f32", "gemm_f16", "gemm_i8", "attention_16", "chain_w8", "gemm_fp8_bt", "batch_8_16"],
    "gfx950": ["gemm_32_128_16", "gemm_i8", "attention_w8", "chain", "gemm_fp8", "batch_4_32", "blocks_128", "blocks_64", "blocks_32", "blocks_256", "blocks_16", "blocks_fp4"],
    "gfx1100": ["gemm_32_32_128", "gemm_f32", "gemm_i8", "attention_w8", "batch_2_64"],
    "gfx1200": ["gemm_128_128_64", "gemm_i8", "chain_w8", "gemm_fp8", "batch_8_16"],
    "gfx1250": ["gemm_32_128_16", "gemm_f32", "attention_16", "residual", "gemm_fp8_bt", "batch_1_128", "blocks_128", "blocks_64", "blocks_32", "blocks_256", "blocks_16"],
}

if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "products")
    os.makedirs(out, exist_ok=True)
    open(f"{out}/chosen.txt", "w", encoding="utf-8").close()
    for target_name, names in SOME.items():
        of = kernels(target_name)
        for tag in of if "--all" in sys.argv else names:
            (fn, sig, const), warps = of[tag]
            # A process of its own for each: Triton's assertions end it.
            pid = os.fork()
            if pid == 0:
                try:
                    dump(fn, sig, const, target_name, warps, tag, out)
                except BaseException as error:
                    print(tag, target_name, repr(error)[:300])
                    os._exit(1)
                os._exit(0)
            if os.waitpid(pid, 0)[1]:
                sys.exit(f"{tag} {target_name} failed")
