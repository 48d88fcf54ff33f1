#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: f32) attributes {noinline = false} {
    %true = arith.constant true
    %c128_i32 = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #linear>
    %cst_1 = arith.constant dense<0xFF800000> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %3 = tt.splat %1 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %4 = arith.addi %3, %2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %6 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %7 = tt.expand_dims %4 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %8 = tt.splat %arg4 : i32 -> tensor<128x1xi32, #blocked>
    %9 = arith.muli %7, %8 : tensor<128x1xi32, #blocked>
    %10 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked>
    %11 = tt.addptr %10, %9 : tensor<128x1x!tt.ptr<f16>, #blocked>, tensor<128x1xi32, #blocked>
    %12 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %13 = tt.expand_dims %12 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %14 = tt.broadcast %11 : tensor<128x1x!tt.ptr<f16>, #blocked> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %15 = tt.broadcast %13 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %16 = tt.addptr %14, %15 : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    %17 = tt.load %16 : tensor<128x64x!tt.ptr<f16>, #blocked>
    %18 = ttg.local_alloc %17 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %19:3 = scf.for %arg8 = %c0_i32 to %arg6 step %c64_i32 iter_args(%arg9 = %cst_1, %arg10 = %cst, %arg11 = %cst_0) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>, tensor<128x64xf32, #linear>)  : i32 {
      %29 = tt.splat %arg8 : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
      %30 = tt.splat %arg8 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %31 = arith.addi %29, %5 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
      %32 = arith.addi %30, %6 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %33 = tt.expand_dims %31 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
      %34 = tt.splat %arg5 : i32 -> tensor<1x64xi32, #blocked1>
      %35 = arith.muli %33, %34 : tensor<1x64xi32, #blocked1>
      %36 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>, #blocked1>
      %37 = tt.addptr %36, %35 : tensor<1x64x!tt.ptr<f16>, #blocked1>, tensor<1x64xi32, #blocked1>
      %38 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %39 = tt.expand_dims %38 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
      %40 = tt.broadcast %37 : tensor<1x64x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %41 = tt.broadcast %39 : tensor<64x1xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %42 = tt.addptr %40, %41 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %43 = tt.load %42 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %44 = ttg.local_alloc %43 : (tensor<64x64xf16, #blocked1>) -> !ttg.memdesc<64x64xf16, #shared1, #smem>
      %result, %token = ttng.tmem_alloc %cst_0 : (tensor<128x64xf32, #linear>) -> (!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
      %45 = ttng.tc_gen5_mma %18, %44, %result[%token], %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared1, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
      %result_2, %token_3 = ttng.tmem_load %result[%45] : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #linear>
      %46 = tt.splat %arg7 : f32 -> tensor<128x64xf32, #linear>
      %47 = arith.mulf %result_2, %46 : tensor<128x64xf32, #linear>
      %48 = "tt.reduce"(%47) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %75 = arith.maxnumf %arg12, %arg13 : f32
        tt.reduce.return %75 : f32
      }) : (tensor<128x64xf32, #linear>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %49 = arith.maxnumf %arg9, %48 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %50 = tt.expand_dims %49 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>> -> tensor<128x1xf32, #linear>
      %51 = tt.broadcast %50 : tensor<128x1xf32, #linear> -> tensor<128x64xf32, #linear>
      %52 = arith.subf %47, %51 : tensor<128x64xf32, #linear>
      %53 = math.exp2 %52 : tensor<128x64xf32, #linear>
      %54 = arith.subf %arg9, %49 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %55 = math.exp2 %54 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %56 = arith.mulf %arg10, %55 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %57 = "tt.reduce"(%53) <{axis = 1 : i32}> ({
      ^bb0(%arg12: f32, %arg13: f32):
        %75 = arith.addf %arg12, %arg13 : f32
        tt.reduce.return %75 : f32
      }) : (tensor<128x64xf32, #linear>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %58 = arith.addf %56, %57 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>
      %59 = tt.expand_dims %32 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
      %60 = tt.splat %arg5 : i32 -> tensor<64x1xi32, #blocked>
      %61 = arith.muli %59, %60 : tensor<64x1xi32, #blocked>
      %62 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
      %63 = tt.addptr %62, %61 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
      %64 = tt.broadcast %63 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
      %65 = tt.broadcast %13 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
      %66 = tt.addptr %64, %65 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %67 = tt.load %66 : tensor<64x64x!tt.ptr<f16>, #blocked>
      %68 = ttg.local_alloc %67 : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %69 = tt.expand_dims %55 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>> -> tensor<128x1xf32, #linear>
      %70 = tt.broadcast %69 : tensor<128x1xf32, #linear> -> tensor<128x64xf32, #linear>
      %71 = arith.mulf %arg11, %70 : tensor<128x64xf32, #linear>
      %72 = arith.truncf %53 : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
      %73 = ttg.local_alloc %72 : (tensor<128x64xf16, #linear>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %result_4, %token_5 = ttng.tmem_alloc %71 : (tensor<128x64xf32, #linear>) -> (!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
      %74 = ttng.tc_gen5_mma %73, %68, %result_4[%token_5], %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
      %result_6, %token_7 = ttng.tmem_load %result_4[%74] : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #linear>
      scf.yield %49, %58, %result_6 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>>, tensor<128x64xf32, #linear>
    }
    %20 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked>
    %21 = tt.addptr %20, %9 : tensor<128x1x!tt.ptr<f16>, #blocked>, tensor<128x1xi32, #blocked>
    %22 = tt.broadcast %21 : tensor<128x1x!tt.ptr<f16>, #blocked> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %23 = tt.addptr %22, %15 : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    %24 = tt.expand_dims %19#1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #linear}>> -> tensor<128x1xf32, #linear>
    %25 = tt.broadcast %24 : tensor<128x1xf32, #linear> -> tensor<128x64xf32, #linear>
    %26 = arith.divf %19#2, %25 : tensor<128x64xf32, #linear>
    %27 = arith.truncf %26 : tensor<128x64xf32, #linear> to tensor<128x64xf16, #linear>
    %28 = ttg.convert_layout %27 : tensor<128x64xf16, #linear> -> tensor<128x64xf16, #blocked>
    tt.store %23, %28 : tensor<128x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
