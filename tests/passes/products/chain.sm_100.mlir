#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @chain(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %D: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #blocked>
    %a = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_1 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %a_2 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %a_3 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked1>
    %a_4 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked2>
    %a_5 = arith.muli %a_1, %a_3 : tensor<64x1xi32, #blocked1>
    %a_6 = arith.muli %a_2, %a_4 : tensor<64x1xi32, #blocked2>
    %a_7 = tt.splat %A : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %a_8 = tt.addptr %a_7, %a_5 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %a_9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %a_11 = tt.expand_dims %a_9 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %a_12 = tt.expand_dims %a_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
    %a_13 = tt.broadcast %a_8 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %a_14 = tt.broadcast %a_11 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
    %a_15 = tt.broadcast %a_12 : tensor<1x64xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
    %a_16 = tt.addptr %a_13, %a_14 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %a_17 = tt.load %a_16 : tensor<64x64x!tt.ptr<f16>, #blocked1>
    %b = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %b_18 = tt.addptr %b, %a_5 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %b_19 = tt.broadcast %b_18 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %b_20 = tt.addptr %b_19, %a_14 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %b_21 = tt.load %b_20 : tensor<64x64x!tt.ptr<f16>, #blocked1>
    %c = tt.splat %C : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %c_22 = tt.addptr %c, %a_5 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %c_23 = tt.broadcast %c_22 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %c_24 = tt.addptr %c_23, %a_14 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %c_25 = tt.load %c_24 : tensor<64x64x!tt.ptr<f16>, #blocked1>
    %a_26 = ttg.convert_layout %a_17 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_27 = ttg.convert_layout %b_21 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %ab = tt.dot %a_26, %b_27, %cst, inputPrecision = tf32 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<64x64xf32, #blocked>
    %ab_28 = arith.truncf %ab : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %0 = tt.splat %D : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>, #blocked2>
    %1 = tt.addptr %0, %a_6 : tensor<64x1x!tt.ptr<f32>, #blocked2>, tensor<64x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<64x1x!tt.ptr<f32>, #blocked2> -> tensor<64x64x!tt.ptr<f32>, #blocked2>
    %3 = tt.addptr %2, %a_15 : tensor<64x64x!tt.ptr<f32>, #blocked2>, tensor<64x64xi32, #blocked2>
    %ab_29 = ttg.convert_layout %ab_28 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %c_30 = ttg.convert_layout %c_25 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %4 = tt.dot %ab_29, %c_30, %cst, inputPrecision = tf32 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<64x64xf32, #blocked>
    %5 = ttg.convert_layout %4 : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #blocked2>
    tt.store %3, %5 : tensor<64x64x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
