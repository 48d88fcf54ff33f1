#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
#blocked7 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128xf32, #blocked>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked1>
    %cst_1 = arith.constant dense<-1.000000e+30> : tensor<128xf32, #blocked>
    %c128_i32 = arith.constant 128 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %3 = tt.splat %1 : i32 -> tensor<128xi32, #blocked>
    %4 = arith.addi %3, %2 : tensor<128xi32, #blocked>
    %5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %6 = ttg.convert_layout %4 : tensor<128xi32, #blocked> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %8 = ttg.convert_layout %7 : tensor<128x1xi32, #blocked2> -> tensor<128x1xi32, #blocked3>
    %9 = tt.splat %arg5 : i32 -> tensor<128x1xi32, #blocked3>
    %10 = arith.muli %8, %9 : tensor<128x1xi32, #blocked3>
    %11 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked3>
    %12 = tt.addptr %11, %10 : tensor<128x1x!tt.ptr<f16>, #blocked3>, tensor<128x1xi32, #blocked3>
    %13 = ttg.convert_layout %5 : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %14 = tt.expand_dims %13 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x64xi32, #blocked4>
    %15 = ttg.convert_layout %14 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked1>
    %16 = ttg.convert_layout %14 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked1>
    %17 = tt.broadcast %12 : tensor<128x1x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked3>
    %18 = ttg.convert_layout %17 : tensor<128x64x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %19 = tt.broadcast %16 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %20 = tt.addptr %18, %19 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %21 = ttg.convert_layout %20 : tensor<128x64x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked5>
    %22 = tt.load %21 : tensor<128x64x!tt.ptr<f16>, #blocked5>
    %23 = ttg.convert_layout %22 : tensor<128x64xf16, #blocked5> -> tensor<128x64xf16, #blocked1>
    %24:3 = scf.for %arg7 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg8 = %cst_1, %arg9 = %cst, %arg10 = %cst_0) -> (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>, tensor<128x64xf32, #blocked1>)  : i32 {
      %39 = tt.splat %arg7 : i32 -> tensor<64xi32, #blocked>
      %40 = arith.addi %39, %5 : tensor<64xi32, #blocked>
      %41 = ttg.convert_layout %40 : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %42 = tt.expand_dims %41 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
      %43 = ttg.convert_layout %42 : tensor<64x1xi32, #blocked2> -> tensor<64x1xi32, #blocked3>
      %44 = tt.splat %arg5 : i32 -> tensor<64x1xi32, #blocked3>
      %45 = arith.muli %43, %44 : tensor<64x1xi32, #blocked3>
      %46 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
      %47 = tt.addptr %46, %45 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
      %48 = tt.broadcast %47 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked3>
      %49 = ttg.convert_layout %48 : tensor<64x64x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %50 = tt.broadcast %15 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %51 = tt.addptr %49, %50 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %52 = ttg.convert_layout %51 : tensor<64x64x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked5>
      %53 = tt.load %52 : tensor<64x64x!tt.ptr<f16>, #blocked5>
      %54 = ttg.convert_layout %53 : tensor<64x64xf16, #blocked5> -> tensor<64x64xf16, #blocked1>
      %55 = tt.trans %54 {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked6>
      %56 = ttg.convert_layout %55 : tensor<64x64xf16, #blocked6> -> tensor<64x64xf16, #blocked1>
      %57 = ttg.convert_layout %23 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>>
      %58 = ttg.convert_layout %56 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>>
      %59 = ttg.convert_layout %cst_0 : tensor<128x64xf32, #blocked1> -> tensor<128x64xf32, #blocked7>
      %60 = tt.dot %57, %58, %59, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>> -> tensor<128x64xf32, #blocked7>
      %61 = ttg.convert_layout %60 : tensor<128x64xf32, #blocked7> -> tensor<128x64xf32, #blocked1>
      %62 = tt.splat %arg6 : f32 -> tensor<128x64xf32, #blocked1>
      %63 = arith.mulf %61, %62 : tensor<128x64xf32, #blocked1>
      %64 = "tt.reduce"(%63) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %100 = arith.maxnumf %arg11, %arg12 : f32
        tt.reduce.return %100 : f32
      }) : (tensor<128x64xf32, #blocked1>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %65 = ttg.convert_layout %64 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128xf32, #blocked>
      %66 = arith.maxnumf %arg8, %65 : tensor<128xf32, #blocked>
      %67 = ttg.convert_layout %66 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %68 = tt.expand_dims %67 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
      %69 = ttg.convert_layout %68 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
      %70 = tt.broadcast %69 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
      %71 = ttg.convert_layout %70 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
      %72 = arith.subf %63, %71 : tensor<128x64xf32, #blocked1>
      %73 = math.exp2 %72 : tensor<128x64xf32, #blocked1>
      %74 = arith.subf %arg8, %66 : tensor<128xf32, #blocked>
      %75 = math.exp2 %74 : tensor<128xf32, #blocked>
      %76 = arith.mulf %arg9, %75 : tensor<128xf32, #blocked>
      %77 = "tt.reduce"(%73) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %100 = arith.addf %arg11, %arg12 : f32
        tt.reduce.return %100 : f32
      }) : (tensor<128x64xf32, #blocked1>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %78 = ttg.convert_layout %77 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128xf32, #blocked>
      %79 = arith.addf %76, %78 : tensor<128xf32, #blocked>
      %80 = ttg.convert_layout %75 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %81 = tt.expand_dims %80 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
      %82 = ttg.convert_layout %81 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
      %83 = tt.broadcast %82 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
      %84 = ttg.convert_layout %83 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
      %85 = arith.mulf %arg10, %84 : tensor<128x64xf32, #blocked1>
      %86 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
      %87 = tt.addptr %86, %45 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
      %88 = tt.broadcast %87 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked3>
      %89 = ttg.convert_layout %88 : tensor<64x64x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %90 = tt.addptr %89, %50 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %91 = ttg.convert_layout %90 : tensor<64x64x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked5>
      %92 = tt.load %91 : tensor<64x64x!tt.ptr<f16>, #blocked5>
      %93 = ttg.convert_layout %92 : tensor<64x64xf16, #blocked5> -> tensor<64x64xf16, #blocked1>
      %94 = arith.truncf %73 : tensor<128x64xf32, #blocked1> to tensor<128x64xf16, #blocked1>
      %95 = ttg.convert_layout %94 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>>
      %96 = ttg.convert_layout %93 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>>
      %97 = ttg.convert_layout %85 : tensor<128x64xf32, #blocked1> -> tensor<128x64xf32, #blocked7>
      %98 = tt.dot %95, %96, %97, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>> -> tensor<128x64xf32, #blocked7>
      %99 = ttg.convert_layout %98 : tensor<128x64xf32, #blocked7> -> tensor<128x64xf32, #blocked1>
      scf.yield %66, %79, %99 : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>, tensor<128x64xf32, #blocked1>
    }
    %25 = ttg.convert_layout %24#1 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %26 = tt.expand_dims %25 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
    %27 = ttg.convert_layout %26 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
    %28 = tt.broadcast %27 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
    %29 = ttg.convert_layout %28 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
    %30 = arith.divf %24#2, %29 : tensor<128x64xf32, #blocked1>
    %31 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked3>
    %32 = tt.addptr %31, %10 : tensor<128x1x!tt.ptr<f16>, #blocked3>, tensor<128x1xi32, #blocked3>
    %33 = tt.broadcast %32 : tensor<128x1x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked3>
    %34 = ttg.convert_layout %33 : tensor<128x64x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %35 = tt.addptr %34, %19 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %36 = arith.truncf %30 : tensor<128x64xf32, #blocked1> to tensor<128x64xf16, #blocked1>
    %37 = ttg.convert_layout %35 : tensor<128x64x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked5>
    %38 = ttg.convert_layout %36 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #blocked5>
    tt.store %37, %38 : tensor<128x64x!tt.ptr<f16>, #blocked5>
    tt.return
  }
}
