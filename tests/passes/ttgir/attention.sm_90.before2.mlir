#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: f32) attributes {noinline = false} {
    %c128_i32 = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %cst_1 = arith.constant dense<-1.000000e+30> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %3 = tt.splat %1 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %4 = arith.addi %3, %2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %7 = tt.splat %arg5 : i32 -> tensor<128x1xi32, #blocked1>
    %8 = arith.muli %6, %7 : tensor<128x1xi32, #blocked1>
    %9 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %10 = tt.addptr %9, %8 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %11 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %13 = tt.broadcast %10 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %14 = tt.broadcast %12 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %15 = tt.addptr %13, %14 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %16 = tt.load %15 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    %17 = ttg.local_alloc %16 : (tensor<128x64xf16, #blocked1>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %18:3 = scf.for %arg7 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg8 = %cst_1, %arg9 = %cst, %arg10 = %cst_0) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>)  : i32 {
      %28 = tt.splat %arg7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %29 = arith.addi %28, %5 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %30 = tt.expand_dims %29 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
      %31 = tt.splat %arg5 : i32 -> tensor<64x1xi32, #blocked1>
      %32 = arith.muli %30, %31 : tensor<64x1xi32, #blocked1>
      %33 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
      %34 = tt.addptr %33, %32 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
      %35 = tt.broadcast %34 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %36 = tt.broadcast %12 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %37 = tt.addptr %35, %36 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %38 = tt.load %37 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %39 = tt.trans %38 {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked2>
      %40 = ttg.local_alloc %39 : (tensor<64x64xf16, #blocked2>) -> !ttg.memdesc<64x64xf16, #shared1, #smem>
      %41 = ttg.convert_layout %cst_0 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #mma>
      %42 = ttng.warp_group_dot %17, %40, %41 {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared1, #smem> -> tensor<128x64xf32, #mma>
      %43 = ttg.convert_layout %42 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #blocked>
      %44 = tt.splat %arg6 : f32 -> tensor<128x64xf32, #blocked>
      %45 = arith.mulf %43, %44 : tensor<128x64xf32, #blocked>
      %46 = "tt.reduce"(%45) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %72 = arith.maxnumf %arg11, %arg12 : f32
        tt.reduce.return %72 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %47 = arith.maxnumf %arg8, %46 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %48 = tt.expand_dims %47 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %49 = tt.broadcast %48 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %50 = arith.subf %45, %49 : tensor<128x64xf32, #blocked>
      %51 = math.exp2 %50 : tensor<128x64xf32, #blocked>
      %52 = arith.subf %arg8, %47 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %53 = math.exp2 %52 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %54 = arith.mulf %arg9, %53 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %55 = "tt.reduce"(%51) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %72 = arith.addf %arg11, %arg12 : f32
        tt.reduce.return %72 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %56 = arith.addf %54, %55 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %57 = tt.expand_dims %53 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %58 = tt.broadcast %57 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %59 = arith.mulf %arg10, %58 : tensor<128x64xf32, #blocked>
      %60 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
      %61 = tt.addptr %60, %32 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
      %62 = tt.broadcast %61 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %63 = tt.addptr %62, %36 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %64 = tt.load %63 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %65 = ttg.local_alloc %64 : (tensor<64x64xf16, #blocked1>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %66 = arith.truncf %51 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
      %67 = ttg.convert_layout %66 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %68 = ttg.convert_layout %59 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #mma>
      %69 = ttg.convert_layout %67 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %70 = ttng.warp_group_dot %69, %65, %68 {inputPrecision = 0 : i32} : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      %71 = ttg.convert_layout %70 : tensor<128x64xf32, #mma> -> tensor<128x64xf32, #blocked>
      scf.yield %47, %56, %71 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>
    }
    %19 = tt.expand_dims %18#1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
    %20 = tt.broadcast %19 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
    %21 = arith.divf %18#2, %20 : tensor<128x64xf32, #blocked>
    %22 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %23 = tt.addptr %22, %8 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %24 = tt.broadcast %23 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %25 = tt.addptr %24, %14 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %26 = arith.truncf %21 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %27 = ttg.convert_layout %26 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked1>
    tt.store %25, %27 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
