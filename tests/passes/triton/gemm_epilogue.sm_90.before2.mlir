#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm_epilogue(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<64> : tensor<128x64xi32, #blocked>
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<128x128xf32, #mma>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #mma>
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %0, %c128_i32 : i32
    %3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %4 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %5 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %6 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked2>
    %7 = tt.splat %2 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %8 = tt.splat %2 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %9 = arith.addi %7, %3 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %10 = arith.addi %8, %4 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %11 = arith.muli %1, %c128_i32 : i32
    %12 = tt.splat %11 : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %13 = tt.splat %11 : i32 -> tensor<128xi32, #blocked2>
    %14 = arith.addi %12, %5 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %15 = arith.addi %13, %6 : tensor<128xi32, #blocked2>
    %16 = tt.expand_dims %9 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %17 = tt.expand_dims %10 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %18 = tt.splat %arg7 : i32 -> tensor<128x1xi32, #blocked>
    %19 = arith.muli %16, %18 : tensor<128x1xi32, #blocked>
    %20 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked>
    %21 = tt.addptr %20, %19 : tensor<128x1x!tt.ptr<f16>, #blocked>, tensor<128x1xi32, #blocked>
    %22 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %24 = tt.broadcast %21 : tensor<128x1x!tt.ptr<f16>, #blocked> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %25 = tt.broadcast %23 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %26 = tt.addptr %24, %25 : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    %27 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %28 = tt.expand_dims %27 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %29 = tt.splat %arg8 : i32 -> tensor<64x1xi32, #blocked1>
    %30 = arith.muli %28, %29 : tensor<64x1xi32, #blocked1>
    %31 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %32 = tt.addptr %31, %30 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %33 = tt.expand_dims %14 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x128xi32, #blocked1>
    %34 = tt.broadcast %32 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x128x!tt.ptr<f16>, #blocked1>
    %35 = tt.broadcast %33 : tensor<1x128xi32, #blocked1> -> tensor<64x128xi32, #blocked1>
    %36 = tt.addptr %34, %35 : tensor<64x128x!tt.ptr<f16>, #blocked1>, tensor<64x128xi32, #blocked1>
    %37:3 = scf.for %arg10 = %c0_i32 to %arg6 step %c64_i32 iter_args(%arg11 = %cst_1, %arg12 = %26, %arg13 = %36) -> (tensor<128x128xf32, #mma>, tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<64x128x!tt.ptr<f16>, #blocked1>)  : i32 {
      %58 = tt.load %arg12 : tensor<128x64x!tt.ptr<f16>, #blocked>
      %59 = ttg.local_alloc %58 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %60 = tt.load %arg13 : tensor<64x128x!tt.ptr<f16>, #blocked1>
      %61 = ttg.local_alloc %60 : (tensor<64x128xf16, #blocked1>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
      %62 = ttng.warp_group_dot %59, %61, %arg11 {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>
      %63 = tt.addptr %arg12, %cst : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
      %64 = arith.muli %arg8, %c64_i32 : i32
      %65 = tt.splat %64 : i32 -> tensor<64x128xi32, #blocked1>
      %66 = tt.addptr %arg13, %65 : tensor<64x128x!tt.ptr<f16>, #blocked1>, tensor<64x128xi32, #blocked1>
      scf.yield %62, %63, %66 : tensor<128x128xf32, #mma>, tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<64x128x!tt.ptr<f16>, #blocked1>
    }
    %38 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked2>
    %39 = tt.addptr %38, %15 : tensor<128x!tt.ptr<f32>, #blocked2>, tensor<128xi32, #blocked2>
    %40 = tt.load %39 : tensor<128x!tt.ptr<f32>, #blocked2>
    %41 = arith.mulf %37#0, %cst_0 : tensor<128x128xf32, #mma>
    %42 = ttg.convert_layout %40 : tensor<128xf32, #blocked2> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %43 = tt.expand_dims %42 {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x128xf32, #blocked3>
    %44 = tt.broadcast %43 : tensor<1x128xf32, #blocked3> -> tensor<128x128xf32, #blocked3>
    %45 = ttg.convert_layout %44 : tensor<128x128xf32, #blocked3> -> tensor<128x128xf32, #mma>
    %46 = arith.addf %41, %45 : tensor<128x128xf32, #mma>
    %47 = arith.cmpf ogt, %46, %cst_1 : tensor<128x128xf32, #mma>
    %48 = arith.select %47, %46, %cst_1 : tensor<128x128xi1, #mma>, tensor<128x128xf32, #mma>
    %49 = tt.splat %arg9 : i32 -> tensor<128x1xi32, #blocked1>
    %50 = arith.muli %17, %49 : tensor<128x1xi32, #blocked1>
    %51 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %52 = tt.addptr %51, %50 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %53 = tt.broadcast %52 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x128x!tt.ptr<f16>, #blocked1>
    %54 = tt.broadcast %33 : tensor<1x128xi32, #blocked1> -> tensor<128x128xi32, #blocked1>
    %55 = tt.addptr %53, %54 : tensor<128x128x!tt.ptr<f16>, #blocked1>, tensor<128x128xi32, #blocked1>
    %56 = arith.truncf %48 : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
    %57 = ttg.convert_layout %56 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked1>
    tt.store %55, %57 : tensor<128x128x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
