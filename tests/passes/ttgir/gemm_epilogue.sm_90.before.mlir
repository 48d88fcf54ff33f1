#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked7 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked8 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm_epilogue(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: i32 {tt.divisibility = 16 : i32}, %arg9: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<128x128xf32, #blocked>
    %cst_1 = arith.constant dense<64> : tensor<128x64xi32, #blocked1>
    %c64_i32 = arith.constant 64 : i32
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
    %14 = tt.splat %arg7 : i32 -> tensor<128x1xi32, #blocked4>
    %15 = arith.muli %13, %14 : tensor<128x1xi32, #blocked4>
    %16 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked4>
    %17 = tt.addptr %16, %15 : tensor<128x1x!tt.ptr<f16>, #blocked4>, tensor<128x1xi32, #blocked4>
    %18 = ttg.convert_layout %9 : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %19 = tt.expand_dims %18 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x64xi32, #blocked5>
    %20 = ttg.convert_layout %19 : tensor<1x64xi32, #blocked5> -> tensor<1x64xi32, #blocked1>
    %21 = tt.broadcast %17 : tensor<128x1x!tt.ptr<f16>, #blocked4> -> tensor<128x64x!tt.ptr<f16>, #blocked4>
    %22 = ttg.convert_layout %21 : tensor<128x64x!tt.ptr<f16>, #blocked4> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %23 = tt.broadcast %20 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %24 = tt.addptr %22, %23 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %25 = ttg.convert_layout %9 : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %26 = tt.expand_dims %25 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<64x1xi32, #blocked3>
    %27 = ttg.convert_layout %26 : tensor<64x1xi32, #blocked3> -> tensor<64x1xi32, #blocked4>
    %28 = tt.splat %arg8 : i32 -> tensor<64x1xi32, #blocked4>
    %29 = arith.muli %27, %28 : tensor<64x1xi32, #blocked4>
    %30 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked4>
    %31 = tt.addptr %30, %29 : tensor<64x1x!tt.ptr<f16>, #blocked4>, tensor<64x1xi32, #blocked4>
    %32 = ttg.convert_layout %8 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %33 = tt.expand_dims %32 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x128xi32, #blocked5>
    %34 = ttg.convert_layout %33 : tensor<1x128xi32, #blocked5> -> tensor<1x128xi32, #blocked>
    %35 = ttg.convert_layout %33 : tensor<1x128xi32, #blocked5> -> tensor<1x128xi32, #blocked>
    %36 = tt.broadcast %31 : tensor<64x1x!tt.ptr<f16>, #blocked4> -> tensor<64x128x!tt.ptr<f16>, #blocked4>
    %37 = ttg.convert_layout %36 : tensor<64x128x!tt.ptr<f16>, #blocked4> -> tensor<64x128x!tt.ptr<f16>, #blocked>
    %38 = tt.broadcast %35 : tensor<1x128xi32, #blocked> -> tensor<64x128xi32, #blocked>
    %39 = tt.addptr %37, %38 : tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<64x128xi32, #blocked>
    %40:3 = scf.for %arg10 = %c0_i32 to %arg6 step %c64_i32 iter_args(%arg11 = %24, %arg12 = %39, %arg13 = %cst) -> (tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf32, #blocked>)  : i32 {
      %64 = ttg.convert_layout %arg11 : tensor<128x64x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked6>
      %65 = tt.load %64 : tensor<128x64x!tt.ptr<f16>, #blocked6>
      %66 = ttg.convert_layout %65 : tensor<128x64xf16, #blocked6> -> tensor<128x64xf16, #blocked1>
      %67 = ttg.convert_layout %arg12 : tensor<64x128x!tt.ptr<f16>, #blocked> -> tensor<64x128x!tt.ptr<f16>, #blocked7>
      %68 = tt.load %67 : tensor<64x128x!tt.ptr<f16>, #blocked7>
      %69 = ttg.convert_layout %68 : tensor<64x128xf16, #blocked7> -> tensor<64x128xf16, #blocked>
      %70 = ttg.convert_layout %66 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked8}>>
      %71 = ttg.convert_layout %69 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked8}>>
      %72 = ttg.convert_layout %arg13 : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #blocked8>
      %73 = tt.dot %70, %71, %72, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked8}>> * tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked8}>> -> tensor<128x128xf32, #blocked8>
      %74 = ttg.convert_layout %73 : tensor<128x128xf32, #blocked8> -> tensor<128x128xf32, #blocked>
      %75 = tt.addptr %arg11, %cst_1 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
      %76 = arith.muli %arg8, %c64_i32 : i32
      %77 = tt.splat %76 : i32 -> tensor<64x128xi32, #blocked>
      %78 = tt.addptr %arg12, %77 : tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<64x128xi32, #blocked>
      scf.yield %75, %78, %74 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf32, #blocked>
    }
    %41 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked2>
    %42 = tt.addptr %41, %8 : tensor<128x!tt.ptr<f32>, #blocked2>, tensor<128xi32, #blocked2>
    %43 = ttg.convert_layout %42 : tensor<128x!tt.ptr<f32>, #blocked2> -> tensor<128x!tt.ptr<f32>, #blocked2>
    %44 = tt.load %43 : tensor<128x!tt.ptr<f32>, #blocked2>
    %45 = arith.mulf %40#2, %cst_0 : tensor<128x128xf32, #blocked>
    %46 = ttg.convert_layout %44 : tensor<128xf32, #blocked2> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %47 = tt.expand_dims %46 {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x128xf32, #blocked5>
    %48 = ttg.convert_layout %47 : tensor<1x128xf32, #blocked5> -> tensor<1x128xf32, #blocked>
    %49 = tt.broadcast %48 : tensor<1x128xf32, #blocked> -> tensor<128x128xf32, #blocked>
    %50 = arith.addf %45, %49 : tensor<128x128xf32, #blocked>
    %51 = arith.cmpf ogt, %50, %cst : tensor<128x128xf32, #blocked>
    %52 = arith.select %51, %50, %cst : tensor<128x128xi1, #blocked>, tensor<128x128xf32, #blocked>
    %53 = tt.splat %arg9 : i32 -> tensor<128x1xi32, #blocked4>
    %54 = arith.muli %12, %53 : tensor<128x1xi32, #blocked4>
    %55 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked4>
    %56 = tt.addptr %55, %54 : tensor<128x1x!tt.ptr<f16>, #blocked4>, tensor<128x1xi32, #blocked4>
    %57 = tt.broadcast %56 : tensor<128x1x!tt.ptr<f16>, #blocked4> -> tensor<128x128x!tt.ptr<f16>, #blocked4>
    %58 = ttg.convert_layout %57 : tensor<128x128x!tt.ptr<f16>, #blocked4> -> tensor<128x128x!tt.ptr<f16>, #blocked>
    %59 = tt.broadcast %34 : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %60 = tt.addptr %58, %59 : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
    %61 = arith.truncf %52 : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
    %62 = ttg.convert_layout %60 : tensor<128x128x!tt.ptr<f16>, #blocked> -> tensor<128x128x!tt.ptr<f16>, #blocked7>
    %63 = ttg.convert_layout %61 : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #blocked7>
    tt.store %62, %63 : tensor<128x128x!tt.ptr<f16>, #blocked7>
    tt.return
  }
}
