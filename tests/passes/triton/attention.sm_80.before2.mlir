#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 8], [0, 16], [0, 32], [8, 0], [16, 0], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: f32) attributes {noinline = false} {
    %c128_i32 = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %cst_1 = arith.constant dense<-1.000000e+30> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %3 = tt.splat %1 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %4 = arith.addi %3, %2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %7 = tt.splat %arg5 : i32 -> tensor<128x1xi32, #blocked>
    %8 = arith.muli %6, %7 : tensor<128x1xi32, #blocked>
    %9 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked>
    %10 = tt.addptr %9, %8 : tensor<128x1x!tt.ptr<f16>, #blocked>, tensor<128x1xi32, #blocked>
    %11 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %13 = tt.broadcast %10 : tensor<128x1x!tt.ptr<f16>, #blocked> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %14 = tt.broadcast %12 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %15 = tt.addptr %13, %14 : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    %16 = tt.load %15 : tensor<128x64x!tt.ptr<f16>, #blocked>
    %17:3 = scf.for %arg7 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg8 = %cst_1, %arg9 = %cst, %arg10 = %cst_0) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<128x64xf32, #mma>)  : i32 {
      %27 = tt.splat %arg7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %28 = arith.addi %27, %5 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %29 = tt.expand_dims %28 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
      %30 = tt.splat %arg5 : i32 -> tensor<64x1xi32, #blocked>
      %31 = arith.muli %29, %30 : tensor<64x1xi32, #blocked>
      %32 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
      %33 = tt.addptr %32, %31 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
      %34 = tt.broadcast %33 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
      %35 = tt.broadcast %12 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
      %36 = tt.addptr %34, %35 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %37 = tt.load %36 : tensor<64x64x!tt.ptr<f16>, #blocked>
      %38 = ttg.convert_layout %37 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #linear>
      %39 = tt.trans %38 {order = array<i32: 1, 0>} : tensor<64x64xf16, #linear> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
      %40 = ttg.convert_layout %16 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %41 = tt.dot %40, %39, %cst_0, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<128x64xf32, #mma>
      %42 = tt.splat %arg6 : f32 -> tensor<128x64xf32, #mma>
      %43 = arith.mulf %41, %42 : tensor<128x64xf32, #mma>
      %44 = "tt.reduce"(%43) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %67 = arith.maxnumf %arg11, %arg12 : f32
        tt.reduce.return %67 : f32
      }) : (tensor<128x64xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %45 = arith.maxnumf %arg8, %44 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %46 = tt.expand_dims %45 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xf32, #mma>
      %47 = tt.broadcast %46 : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
      %48 = arith.subf %43, %47 : tensor<128x64xf32, #mma>
      %49 = math.exp2 %48 : tensor<128x64xf32, #mma>
      %50 = arith.subf %arg8, %45 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %51 = math.exp2 %50 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %52 = arith.mulf %arg9, %51 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %53 = "tt.reduce"(%49) <{axis = 1 : i32}> ({
      ^bb0(%arg11: f32, %arg12: f32):
        %67 = arith.addf %arg11, %arg12 : f32
        tt.reduce.return %67 : f32
      }) : (tensor<128x64xf32, #mma>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %54 = arith.addf %52, %53 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %55 = tt.expand_dims %51 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xf32, #mma>
      %56 = tt.broadcast %55 : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
      %57 = arith.mulf %arg10, %56 : tensor<128x64xf32, #mma>
      %58 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
      %59 = tt.addptr %58, %31 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
      %60 = tt.broadcast %59 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
      %61 = tt.addptr %60, %35 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %62 = tt.load %61 : tensor<64x64x!tt.ptr<f16>, #blocked>
      %63 = arith.truncf %49 : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %64 = ttg.convert_layout %63 : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %65 = ttg.convert_layout %62 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
      %66 = tt.dot %64, %65, %57, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<128x64xf32, #mma>
      scf.yield %45, %54, %66 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<128x64xf32, #mma>
    }
    %18 = tt.expand_dims %17#1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<128x1xf32, #mma>
    %19 = tt.broadcast %18 : tensor<128x1xf32, #mma> -> tensor<128x64xf32, #mma>
    %20 = arith.divf %17#2, %19 : tensor<128x64xf32, #mma>
    %21 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked>
    %22 = tt.addptr %21, %8 : tensor<128x1x!tt.ptr<f16>, #blocked>, tensor<128x1xi32, #blocked>
    %23 = tt.broadcast %22 : tensor<128x1x!tt.ptr<f16>, #blocked> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %24 = tt.addptr %23, %14 : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    %25 = arith.truncf %20 : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
    %26 = ttg.convert_layout %25 : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #blocked>
    tt.store %24, %26 : tensor<128x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
