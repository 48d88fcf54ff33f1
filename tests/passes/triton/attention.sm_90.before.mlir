#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
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
    %17:3 = scf.for %arg7 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg8 = %cst_1, %arg9 = %cst, %arg10 = %cst_0) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>)  : i32 {
      %27 = tt.splat %arg7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %28 = arith.addi %27, %5 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %29 = tt.expand_dims %28 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
      %30 = tt.splat %arg5 : i32 -> tensor<64x1xi32, #blocked1>
      %31 = arith.muli %29, %30 : tensor<64x1xi32, #blocked1>
      %32 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
      %33 = tt.addptr %32, %31 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
      %34 = tt.broadcast %33 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %35 = tt.broadcast %12 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %36 = tt.addptr %34, %35 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %37 = tt.load %36 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %38 = tt.trans %37 {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked2>
      %39 = ttg.convert_layout %16 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %40 = ttg.convert_layout %38 : tensor<64x64xf16, #blocked2> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %41 = tt.dot %39, %40, %cst_0, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
      %42 = tt.splat %arg6 : f32 -> tensor<128x64xf32, #blocked>
      %43 = arith.mulf %41, %42 : tensor<128x64xf32, #blocked>
      %44 = "tt.reduce"(%43) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %67 = arith.maxnumf %arg11, %arg12 : f32
        tt.reduce.return %67 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %45 = arith.maxnumf %arg8, %44 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %46 = tt.expand_dims %45 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %47 = tt.broadcast %46 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %48 = arith.subf %43, %47 : tensor<128x64xf32, #blocked>
      %49 = math.exp2 %48 : tensor<128x64xf32, #blocked>
      %50 = arith.subf %arg8, %45 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %51 = math.exp2 %50 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %52 = arith.mulf %arg9, %51 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %53 = "tt.reduce"(%49) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %67 = arith.addf %arg11, %arg12 : f32
        tt.reduce.return %67 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %54 = arith.addf %52, %53 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %55 = tt.expand_dims %51 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %56 = tt.broadcast %55 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %57 = arith.mulf %arg10, %56 : tensor<128x64xf32, #blocked>
      %58 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
      %59 = tt.addptr %58, %31 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
      %60 = tt.broadcast %59 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %61 = tt.addptr %60, %35 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %62 = tt.load %61 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %63 = arith.truncf %49 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
      %64 = ttg.convert_layout %63 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %65 = ttg.convert_layout %62 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %66 = tt.dot %64, %65, %57, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
      scf.yield %45, %54, %66 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>
    }
    %18 = tt.expand_dims %17#1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
    %19 = tt.broadcast %18 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
    %20 = arith.divf %17#2, %19 : tensor<128x64xf32, #blocked>
    %21 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %22 = tt.addptr %21, %8 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %23 = tt.broadcast %22 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %24 = tt.addptr %23, %14 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %25 = arith.truncf %20 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %26 = ttg.convert_layout %25 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked1>
    tt.store %24, %26 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
