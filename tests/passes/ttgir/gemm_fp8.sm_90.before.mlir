#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked7 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
#blocked8 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked9 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm_fp8(%arg0: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<128x64xi32, #blocked1>
    %c128_i32 = arith.constant 128 : i32
    %0 = tt.get_program_id x : i32
    %1 = tt.get_program_id y : i32
    %2 = arith.muli %0, %c128_i32 : i32
    %3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked2>
    %4 = tt.splat %2 : i32 -> tensor<128xi32, #blocked2>
    %5 = arith.addi %4, %3 : tensor<128xi32, #blocked2>
    %6 = arith.muli %1, %c128_i32 : i32
    %7 = tt.splat %6 : i32 -> tensor<128xi32, #blocked2>
    %8 = arith.addi %7, %3 : tensor<128xi32, #blocked2>
    %9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked2>
    %10 = ttg.convert_layout %5 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %11 = tt.expand_dims %10 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %12 = ttg.convert_layout %11 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %13 = ttg.convert_layout %11 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %14 = tt.splat %arg6 : i32 -> tensor<128x1xi32, #blocked4>
    %15 = arith.muli %13, %14 : tensor<128x1xi32, #blocked4>
    %16 = tt.splat %arg0 : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4>
    %17 = tt.addptr %16, %15 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4>, tensor<128x1xi32, #blocked4>
    %18 = ttg.convert_layout %9 : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %19 = tt.expand_dims %18 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x64xi32, #blocked5>
    %20 = ttg.convert_layout %19 : tensor<1x64xi32, #blocked5> -> tensor<1x64xi32, #blocked1>
    %21 = tt.broadcast %17 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked4>
    %22 = ttg.convert_layout %21 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked4> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
    %23 = tt.broadcast %20 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %24 = tt.addptr %22, %23 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
    %25 = ttg.convert_layout %8 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %26 = tt.expand_dims %25 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %27 = ttg.convert_layout %26 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %28 = tt.splat %arg7 : i32 -> tensor<128x1xi32, #blocked4>
    %29 = arith.muli %27, %28 : tensor<128x1xi32, #blocked4>
    %30 = tt.splat %arg1 : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4>
    %31 = tt.addptr %30, %29 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4>, tensor<128x1xi32, #blocked4>
    %32 = tt.broadcast %31 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked4>
    %33 = ttg.convert_layout %32 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked4> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>
    %34 = tt.addptr %33, %23 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
    %35:3 = scf.for %arg9 = %c0_i32 to %arg5 step %c64_i32 iter_args(%arg10 = %24, %arg11 = %34, %arg12 = %cst) -> (tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x128xf32, #blocked>)  : i32 {
      %50 = ttg.convert_layout %arg10 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked6>
      %51 = tt.load %50 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked6>
      %52 = ttg.convert_layout %51 : tensor<128x64xf8E4M3FN, #blocked6> -> tensor<128x64xf8E4M3FN, #blocked1>
      %53 = ttg.convert_layout %arg11 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked6>
      %54 = tt.load %53 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked6>
      %55 = ttg.convert_layout %54 : tensor<128x64xf8E4M3FN, #blocked6> -> tensor<128x64xf8E4M3FN, #blocked1>
      %56 = tt.trans %55 {order = array<i32: 1, 0>} : tensor<128x64xf8E4M3FN, #blocked1> -> tensor<64x128xf8E4M3FN, #blocked7>
      %57 = ttg.convert_layout %56 : tensor<64x128xf8E4M3FN, #blocked7> -> tensor<64x128xf8E4M3FN, #blocked>
      %58 = ttg.convert_layout %52 : tensor<128x64xf8E4M3FN, #blocked1> -> tensor<128x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #blocked8}>>
      %59 = ttg.convert_layout %57 : tensor<64x128xf8E4M3FN, #blocked> -> tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #blocked8}>>
      %60 = ttg.convert_layout %arg12 : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #blocked8>
      %61 = tt.dot %58, %59, %60, inputPrecision = tf32 {maxNumImpreciseAcc = 1073741824 : i32} : tensor<128x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #blocked8}>> * tensor<64x128xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #blocked8}>> -> tensor<128x128xf32, #blocked8>
      %62 = ttg.convert_layout %61 : tensor<128x128xf32, #blocked8> -> tensor<128x128xf32, #blocked>
      %63 = tt.addptr %arg10, %cst_0 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
      %64 = tt.addptr %arg11, %cst_0 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64xi32, #blocked1>
      scf.yield %63, %64, %62 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked1>, tensor<128x128xf32, #blocked>
    }
    %36 = tt.splat %arg8 : i32 -> tensor<128x1xi32, #blocked4>
    %37 = arith.muli %12, %36 : tensor<128x1xi32, #blocked4>
    %38 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked4>
    %39 = tt.addptr %38, %37 : tensor<128x1x!tt.ptr<f16>, #blocked4>, tensor<128x1xi32, #blocked4>
    %40 = ttg.convert_layout %8 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %41 = tt.expand_dims %40 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x128xi32, #blocked5>
    %42 = ttg.convert_layout %41 : tensor<1x128xi32, #blocked5> -> tensor<1x128xi32, #blocked>
    %43 = tt.broadcast %39 : tensor<128x1x!tt.ptr<f16>, #blocked4> -> tensor<128x128x!tt.ptr<f16>, #blocked4>
    %44 = ttg.convert_layout %43 : tensor<128x128x!tt.ptr<f16>, #blocked4> -> tensor<128x128x!tt.ptr<f16>, #blocked>
    %45 = tt.broadcast %42 : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %46 = tt.addptr %44, %45 : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
    %47 = arith.truncf %35#2 : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
    %48 = ttg.convert_layout %46 : tensor<128x128x!tt.ptr<f16>, #blocked> -> tensor<128x128x!tt.ptr<f16>, #blocked9>
    %49 = ttg.convert_layout %47 : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #blocked9>
    tt.store %48, %49 : tensor<128x128x!tt.ptr<f16>, #blocked9>
    tt.return
  }
}
