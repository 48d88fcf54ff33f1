#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled_left(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %S: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %rm = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked1>
    %a = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_1 = tt.expand_dims %a {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %a_2 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %a_3 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked2>
    %a_4 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked3>
    %a_5 = arith.muli %a_1, %a_3 : tensor<128x1xi32, #blocked2>
    %a_6 = arith.muli %a_2, %a_4 : tensor<128x1xi32, #blocked3>
    %a_7 = tt.splat %A : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked2>
    %a_8 = tt.addptr %a_7, %a_5 : tensor<128x1x!tt.ptr<f16>, #blocked2>, tensor<128x1xi32, #blocked2>
    %a_9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %a_10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %a_11 = tt.expand_dims %a_9 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
    %a_12 = tt.expand_dims %a_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x64xi32, #blocked3>
    %a_13 = tt.broadcast %a_8 : tensor<128x1x!tt.ptr<f16>, #blocked2> -> tensor<128x64x!tt.ptr<f16>, #blocked2>
    %a_14 = tt.broadcast %a_11 : tensor<1x64xi32, #blocked2> -> tensor<128x64xi32, #blocked2>
    %a_15 = tt.broadcast %a_12 : tensor<1x64xi32, #blocked3> -> tensor<128x64xi32, #blocked3>
    %a_16 = tt.addptr %a_13, %a_14 : tensor<128x64x!tt.ptr<f16>, #blocked2>, tensor<128x64xi32, #blocked2>
    %a_17 = tt.load %a_16 : tensor<128x64x!tt.ptr<f16>, #blocked2>
    %sc = tt.splat %S : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked1>
    %sc_18 = tt.addptr %sc, %rm : tensor<128x!tt.ptr<f32>, #blocked1>, tensor<128xi32, #blocked1>
    %sc_19 = tt.load %sc_18 : tensor<128x!tt.ptr<f32>, #blocked1>
    %a_20 = arith.extf %a_17 : tensor<128x64xf16, #blocked2> to tensor<128x64xf32, #blocked2>
    %a_21 = ttg.convert_layout %sc_19 : tensor<128xf32, #blocked1> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %a_22 = tt.expand_dims %a_21 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<128x1xf32, #blocked4>
    %a_23 = ttg.convert_layout %a_22 : tensor<128x1xf32, #blocked4> -> tensor<128x1xf32, #blocked2>
    %a_24 = tt.broadcast %a_23 : tensor<128x1xf32, #blocked2> -> tensor<128x64xf32, #blocked2>
    %a_25 = arith.mulf %a_20, %a_24 : tensor<128x64xf32, #blocked2>
    %a_26 = arith.truncf %a_25 : tensor<128x64xf32, #blocked2> to tensor<128x64xf16, #blocked2>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_27 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %b_28 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked2>
    %b_29 = arith.muli %b_27, %b_28 : tensor<64x1xi32, #blocked2>
    %b_30 = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked2>
    %b_31 = tt.addptr %b_30, %b_29 : tensor<64x1x!tt.ptr<f16>, #blocked2>, tensor<64x1xi32, #blocked2>
    %b_32 = tt.broadcast %b_31 : tensor<64x1x!tt.ptr<f16>, #blocked2> -> tensor<64x64x!tt.ptr<f16>, #blocked2>
    %b_33 = tt.broadcast %a_11 : tensor<1x64xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
    %b_34 = tt.addptr %b_32, %b_33 : tensor<64x64x!tt.ptr<f16>, #blocked2>, tensor<64x64xi32, #blocked2>
    %b_35 = tt.load %b_34 : tensor<64x64x!tt.ptr<f16>, #blocked2>
    %0 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked3>
    %1 = tt.addptr %0, %a_6 : tensor<128x1x!tt.ptr<f32>, #blocked3>, tensor<128x1xi32, #blocked3>
    %2 = tt.broadcast %1 : tensor<128x1x!tt.ptr<f32>, #blocked3> -> tensor<128x64x!tt.ptr<f32>, #blocked3>
    %3 = tt.addptr %2, %a_15 : tensor<128x64x!tt.ptr<f32>, #blocked3>, tensor<128x64xi32, #blocked3>
    %a_36 = ttg.convert_layout %a_26 : tensor<128x64xf16, #blocked2> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_37 = ttg.convert_layout %b_35 : tensor<64x64xf16, #blocked2> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %4 = tt.dot %a_36, %b_37, %cst, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
    %5 = ttg.convert_layout %4 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #blocked3>
    tt.store %3, %5 : tensor<128x64x!tt.ptr<f32>, #blocked3>
    tt.return
  }
}
