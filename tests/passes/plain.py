"""Kernels as Triton has them before and after layouts, written to `plain/`: python3 tests/passes/plain.py FOLDER, with the wheel (3.9.0; no GPU)."""
import triton, triton.language as tl, re, sys
from triton._C.libtriton import ir, passes, nvidia, amd
from triton.compiler import ASTSource
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend

@triton.jit
def softmax(out, inp, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0); c = tl.arange(0, BLOCK); m = c < n
    x = tl.load(inp + row*stride + c, mask=m, other=float('-inf'))
    x = x - tl.max(x, axis=0); e = tl.exp(x); s = tl.sum(e, axis=0)
    tl.store(out + row*stride + c, e / s, mask=m)

@triton.jit
def softmax_rows(out, inp, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)*ROWS + tl.arange(0, ROWS); c = tl.arange(0, BLOCK)
    x = tl.load(inp + r[:, None]*stride + c[None, :])
    x = x - tl.max(x, axis=1)[:, None]; e = tl.exp(x); s = tl.sum(e, axis=1)
    tl.store(out + r[:, None]*stride + c[None, :], e / s[:, None])

@triton.jit
def layer_norm(out, inp, w, b, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0); mean = tl.zeros([BLOCK], tl.float32)
    for o in range(0, n, BLOCK):
        c = o + tl.arange(0, BLOCK); mean += tl.load(inp + row*stride + c, mask=c < n, other=0.).to(tl.float32)
    mu = tl.sum(mean, axis=0) / n; var = tl.zeros([BLOCK], tl.float32)
    for o in range(0, n, BLOCK):
        c = o + tl.arange(0, BLOCK); x = tl.load(inp + row*stride + c, mask=c < n, other=0.).to(tl.float32)
        x = tl.where(c < n, x - mu, 0.); var += x*x
    rs = 1 / tl.sqrt(tl.sum(var, axis=0)/n + eps)
    for o in range(0, n, BLOCK):
        c = o + tl.arange(0, BLOCK); m = c < n
        x = tl.load(inp + row*stride + c, mask=m, other=0.).to(tl.float32)
        tl.store(out + row*stride + c, (x - mu)*rs*tl.load(w + c, mask=m) + tl.load(b + c, mask=m), mask=m)

@triton.jit
def attention(Q, K, V, O, sq, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0)*BM + tl.arange(0, BM); d = tl.arange(0, D)
    q = tl.load(Q + m[:, None]*sq + d[None, :])
    mi = tl.full([BM], float('-inf'), tl.float32); li = tl.zeros([BM], tl.float32); acc = tl.zeros([BM, D], tl.float32)
    for o in range(0, n, BN):
        k = tl.load(K + (o + tl.arange(0, BN))[:, None]*sq + d[None, :])
        v = tl.load(V + (o + tl.arange(0, BN))[:, None]*sq + d[None, :])
        qk = tl.dot(q, tl.trans(k))*scale
        mn = tl.maximum(mi, tl.max(qk, 1)); p = tl.exp2(qk - mn[:, None]); al = tl.exp2(mi - mn)
        li = li*al + tl.sum(p, 1); acc = acc*al[:, None]
        acc = tl.dot(p.to(tl.float16), v, acc); mi = mn
    tl.store(O + m[:, None]*sq + d[None, :], (acc / li[:, None]).to(tl.float16))

@triton.jit
def gemm(A, B, C, bias, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0)*BM + tl.arange(0, BM); n = tl.program_id(1)*BN + tl.arange(0, BN); k = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], tl.float32)
    for o in range(0, K, BK):
        a = tl.load(A + m[:, None]*sa + (o + k)[None, :]); b = tl.load(B + (o + k)[:, None]*sb + n[None, :])
        acc = tl.dot(a, b, acc)
    acc = tl.maximum(acc + tl.load(bias + n)[None, :], 0.)
    tl.store(C + m[:, None]*sc + n[None, :], acc.to(tl.float16))

@triton.jit
def halves(out, inp, N: tl.constexpr):
    i = tl.arange(0, N); x = tl.load(inp + i)
    y = tl.reshape(x, (N // 2, 2)); a, b = tl.split(y)
    z = tl.join(a - b, a + b); z = tl.reshape(z, (N,))
    j = tl.reshape(tl.permute(tl.reshape(z, (N // 32, 32)), (1, 0)), (N,))
    tl.store(out + i, tl.cumsum(j, 0))

@triton.jit
def argmax_rows(out, inp, stride, R: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, R); c = tl.arange(0, N)
    x = tl.load(inp + r[:, None]*stride + c[None, :])
    tl.store(out + r, tl.argmax(x, 1))

H='*fp16'; F='*fp32'; I='i32'
KERNELS={
 'softmax':(softmax,dict(out=F,inp=F,stride=I,n=I),dict(BLOCK=1024)),
 'softmax_rows':(softmax_rows,dict(out=F,inp=F,stride=I),dict(ROWS=16,BLOCK=128)),
 'layer_norm':(layer_norm,dict(out=H,inp=H,w=H,b=H,stride=I,n=I,eps='fp32'),dict(BLOCK=1024)),
 'attention':(attention,dict(Q=H,K=H,V=H,O=H,sq=I,n=I,scale='fp32'),dict(BM=64,BN=64,D=64)),
 'gemm':(gemm,dict(A=H,B=H,C=H,bias=F,K=I,sa=I,sb=I,sc=I),dict(BM=128,BN=128,BK=32)),
 'halves':(halves,dict(out=F,inp=F),dict(N=1024)),
 'argmax_rows':(argmax_rows,dict(out='*i32',inp=F,stride=I),dict(R=32,N=64)),
}
def plain(text):
    lines=[l for l in text.split("\n") if not l.startswith("#loc")]
    text="\n".join(lines)
    text=re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", text)
    return text
out=sys.argv[1]
cap=80
for name,(fn,sig,consts) in KERNELS.items():
    target=GPUTarget('cuda',cap,32); be=CUDABackend(target); opts=be.parse_options({'num_warps':4})
    full=dict(sig); full.update({k:'constexpr' for k in consts})
    attrs={}
    params=list(sig)
    for i,p in enumerate(params):
        if sig[p].startswith('*') or p in('stride','sq','sa','sb','sc','n','K'): attrs[(i,)]=[['tt.divisibility',16]]
    src=ASTSource(fn,full,{k:v for k,v in consts.items()},attrs)
    ctx=ir.context(); ir.load_dialects(ctx); be.load_dialects(ctx)
    cg=be.get_codegen_implementation(opts); mm=be.get_module_map()
    try: mod=src.make_ir(target,opts,cg,mm,ctx)
    except TypeError: mod=src.make_ir(opts,cg,mm,ctx)
    mod=be.make_ttir(mod,{},opts,cap)
    text=plain(str(mod))
    open(f'{out}/{name}.sm_{cap}.ttir.mlir','w').write(text.replace('module {','module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:%d", "ttg.threads-per-warp" = 32 : i32} {' % cap,1))
    pm=ir.pass_manager(mod.context)
    passes.ttir.add_convert_to_ttgpuir(pm,f'cuda:{cap}',4,32,1)
    passes.ttgpuir.add_coalesce(pm)
    passes.ttgpuir.add_remove_layout_conversions(pm)
    passes.ttgpuir.add_accelerate_matmul(pm)
    passes.ttgpuir.add_remove_layout_conversions(pm)
    pm.run(mod,'x')
    t=plain(str(mod))
    open(f'{out}/{name}.sm_{cap}.ttgir.mlir','w').write(t)
    print(name,text.count('\n'),'conv',t.count('ttg.convert_layout'))
