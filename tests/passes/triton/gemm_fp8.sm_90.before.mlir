#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm_fp8(%arg0: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %cst_0 = arith.constant dense<64> : tensor<128x64xi32, #blocked1>
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %0, %c128_i32 : i32
    %3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %4 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %5 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %6 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %7 = tt.splat %2 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %8 = tt.splat %2 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %9 = arith.addi %7, %3 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %10 = arith.addi %8, %4 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %11 = arith.muli %1, %c128_i32 : i32
    %12 = tt.splat %11 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %13 = tt.splat %11 : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %14 = arith.addi %12, %5 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %15 = arith.addi %13, %6 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %16 = tt.expand_dims %9 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %17 = tt.expand_dims %10 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %18 = tt.splat %arg6 : i32 -> tensor<128x1xi32, #blocked1>
    %19 = arith.muli %16, %18 : tensor<128x1xi32, #blocked1>
    %20 = tt.splat %arg0 : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked1>
    %21 = tt.addptr %20, %19 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x1xi32, #blocked1>
    %22 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %24 = tt.broadcast %21 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked1> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
    %25 = tt.broadcast %23 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %26 = tt.addptr %24, %25 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
    %27 = tt.expand_dims %14 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %28 = tt.splat %arg7 : i32 -> tensor<128x1xi32, #blocked1>
    %29 = arith.muli %27, %28 : tensor<128x1xi32, #blocked1>
    %30 = tt.splat %arg1 : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked1>
    %31 = tt.addptr %30, %29 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x1xi32, #blocked1>
    %32 = tt.broadcast %31 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked1> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
    %33 = tt.addptr %32, %25 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
    %34:3 = scf.for %arg9 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg10 = %cst, %arg11 = %26, %arg12 = %33) -> (tensor<128x128xf32, #blocked>, tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>)  : i32 {
      %45 = tt.load %arg11 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
      %46 = tt.load %arg12 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
      %47 = tt.trans %46 {order = array<i32: 1, 0>} : tensor<128x64xf8E4M3FN, #blocked1> -> tensor<64x128xf8E4M3FN, #blocked3>
      %48 = ttg.convert_layout %45 : tensor<128x64xf8E4M3FN, #blocked1> -> tensor<128x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %49 = ttg.convert_layout %47 : tensor<64x128xf8E4M3FN, #blocked3> -> tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %50 = tt.dot %48, %49, %arg10, inputPrecision = tf32 {maxNumImpreciseAcc = 1073741824 : i32} : tensor<128x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x128xf32, #blocked>
      %51 = tt.addptr %arg11, %cst_0 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
      %52 = tt.addptr %arg12, %cst_0 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
      scf.yield %50, %51, %52 : tensor<128x128xf32, #blocked>, tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
    }
    %35 = tt.splat %arg8 : i32 -> tensor<128x1xi32, #blocked2>
    %36 = arith.muli %17, %35 : tensor<128x1xi32, #blocked2>
    %37 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked2>
    %38 = tt.addptr %37, %36 : tensor<128x1x!tt.ptr<f16>, #blocked2>, tensor<128x1xi32, #blocked2>
    %39 = tt.expand_dims %15 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %40 = tt.broadcast %38 : tensor<128x1x!tt.ptr<f16>, #blocked2> -> tensor<128x128x!tt.ptr<f16>, #blocked2>
    %41 = tt.broadcast %39 : tensor<1x128xi32, #blocked2> -> tensor<128x128xi32, #blocked2>
    %42 = tt.addptr %40, %41 : tensor<128x128x!tt.ptr<f16>, #blocked2>, tensor<128x128xi32, #blocked2>
    %43 = arith.truncf %34#0 : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
    %44 = ttg.convert_layout %43 : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #blocked2>
    tt.store %42, %44 : tensor<128x128x!tt.ptr<f16>, #blocked2>
    tt.return
  }
}
