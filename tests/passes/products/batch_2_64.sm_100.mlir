#blocked = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 2, 2], order = [2, 1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @batched(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<2x64x64xf32, #blocked>
    %a = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_0 = tt.expand_dims %a {axis = 1 : i32} : tensor<2xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<2x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_1 = tt.expand_dims %a_0 {axis = 2 : i32} : tensor<2x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<2x1x1xi32, #blocked1>
    %a_2 = tt.splat %s : i32 -> tensor<2x1x1xi32, #blocked1>
    %a_3 = arith.muli %a_1, %a_2 : tensor<2x1x1xi32, #blocked1>
    %a_4 = arith.muli %a_3, %a_2 : tensor<2x1x1xi32, #blocked1>
    %a_5 = tt.splat %A : !tt.ptr<f16> -> tensor<2x1x1x!tt.ptr<f16>, #blocked1>
    %a_6 = tt.addptr %a_5, %a_4 : tensor<2x1x1x!tt.ptr<f16>, #blocked1>, tensor<2x1x1xi32, #blocked1>
    %a_7 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_8 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>>
    %a_9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked2}>}>>
    %a_10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>>
    %a_11 = tt.expand_dims %a_7 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_12 = tt.expand_dims %a_8 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 2, parent = #blocked3}>>
    %a_13 = tt.expand_dims %a_9 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked2}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_14 = tt.expand_dims %a_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_15 = tt.expand_dims %a_11 {axis = 2 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<1x64x1xi32, #blocked2>
    %a_16 = tt.expand_dims %a_12 {axis = 2 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 2, parent = #blocked3}>> -> tensor<1x64x1xi32, #blocked3>
    %a_17 = tt.splat %s : i32 -> tensor<1x64x1xi32, #blocked2>
    %a_18 = tt.splat %s : i32 -> tensor<1x64x1xi32, #blocked3>
    %a_19 = arith.muli %a_15, %a_17 : tensor<1x64x1xi32, #blocked2>
    %a_20 = arith.muli %a_16, %a_18 : tensor<1x64x1xi32, #blocked3>
    %a_21 = tt.broadcast %a_6 : tensor<2x1x1x!tt.ptr<f16>, #blocked1> -> tensor<2x64x1x!tt.ptr<f16>, #blocked2>
    %a_22 = tt.broadcast %a_19 : tensor<1x64x1xi32, #blocked2> -> tensor<2x64x1xi32, #blocked2>
    %a_23 = tt.broadcast %a_20 : tensor<1x64x1xi32, #blocked3> -> tensor<2x64x1xi32, #blocked3>
    %a_24 = tt.addptr %a_21, %a_22 : tensor<2x64x1x!tt.ptr<f16>, #blocked2>, tensor<2x64x1xi32, #blocked2>
    %a_25 = tt.expand_dims %a_13 {axis = 1 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<1x1x64xi32, #blocked2>
    %a_26 = tt.expand_dims %a_14 {axis = 1 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<1x1x64xi32, #blocked3>
    %a_27 = tt.broadcast %a_24 : tensor<2x64x1x!tt.ptr<f16>, #blocked2> -> tensor<2x64x64x!tt.ptr<f16>, #blocked2>
    %a_28 = tt.broadcast %a_25 : tensor<1x1x64xi32, #blocked2> -> tensor<2x64x64xi32, #blocked2>
    %a_29 = tt.broadcast %a_26 : tensor<1x1x64xi32, #blocked3> -> tensor<2x64x64xi32, #blocked3>
    %a_30 = tt.addptr %a_27, %a_28 : tensor<2x64x64x!tt.ptr<f16>, #blocked2>, tensor<2x64x64xi32, #blocked2>
    %a_31 = tt.load %a_30 : tensor<2x64x64x!tt.ptr<f16>, #blocked2>
    %b = tt.splat %B : !tt.ptr<f16> -> tensor<2x1x1x!tt.ptr<f16>, #blocked1>
    %b_32 = tt.addptr %b, %a_4 : tensor<2x1x1x!tt.ptr<f16>, #blocked1>, tensor<2x1x1xi32, #blocked1>
    %b_33 = tt.broadcast %b_32 : tensor<2x1x1x!tt.ptr<f16>, #blocked1> -> tensor<2x64x1x!tt.ptr<f16>, #blocked2>
    %b_34 = tt.addptr %b_33, %a_22 : tensor<2x64x1x!tt.ptr<f16>, #blocked2>, tensor<2x64x1xi32, #blocked2>
    %b_35 = tt.broadcast %b_34 : tensor<2x64x1x!tt.ptr<f16>, #blocked2> -> tensor<2x64x64x!tt.ptr<f16>, #blocked2>
    %b_36 = tt.addptr %b_35, %a_28 : tensor<2x64x64x!tt.ptr<f16>, #blocked2>, tensor<2x64x64xi32, #blocked2>
    %b_37 = tt.load %b_36 : tensor<2x64x64x!tt.ptr<f16>, #blocked2>
    %0 = tt.splat %C : !tt.ptr<f32> -> tensor<2x1x1x!tt.ptr<f32>, #blocked1>
    %1 = tt.addptr %0, %a_4 : tensor<2x1x1x!tt.ptr<f32>, #blocked1>, tensor<2x1x1xi32, #blocked1>
    %2 = tt.broadcast %1 : tensor<2x1x1x!tt.ptr<f32>, #blocked1> -> tensor<2x64x1x!tt.ptr<f32>, #blocked3>
    %3 = tt.addptr %2, %a_23 : tensor<2x64x1x!tt.ptr<f32>, #blocked3>, tensor<2x64x1xi32, #blocked3>
    %4 = tt.broadcast %3 : tensor<2x64x1x!tt.ptr<f32>, #blocked3> -> tensor<2x64x64x!tt.ptr<f32>, #blocked3>
    %5 = tt.addptr %4, %a_29 : tensor<2x64x64x!tt.ptr<f32>, #blocked3>, tensor<2x64x64xi32, #blocked3>
    %a_38 = ttg.convert_layout %a_31 : tensor<2x64x64xf16, #blocked2> -> tensor<2x64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_39 = ttg.convert_layout %b_37 : tensor<2x64x64xf16, #blocked2> -> tensor<2x64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %6 = tt.dot %a_38, %b_39, %cst, inputPrecision = tf32 : tensor<2x64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<2x64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<2x64x64xf32, #blocked>
    %7 = ttg.convert_layout %6 : tensor<2x64x64xf32, #blocked> -> tensor<2x64x64xf32, #blocked3>
    tt.store %5, %7 : tensor<2x64x64x!tt.ptr<f32>, #blocked3>
    tt.return
  }
}
