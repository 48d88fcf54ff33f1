#blocked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 8], order = [0, 1]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @residual(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %a = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_0 = tt.expand_dims %a {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %a_1 = tt.splat %s : i32 -> tensor<1x32xi32, #blocked>
    %a_2 = arith.muli %a_0, %a_1 : tensor<1x32xi32, #blocked>
    %a_3 = tt.splat %A : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>, #blocked>
    %a_4 = tt.addptr %a_3, %a_2 : tensor<1x32x!tt.ptr<f16>, #blocked>, tensor<1x32xi32, #blocked>
    %a_5 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %a_6 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_7 = tt.expand_dims %a_5 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %a_8 = tt.expand_dims %a_6 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %a_9 = tt.broadcast %a_4 : tensor<1x32x!tt.ptr<f16>, #blocked> -> tensor<128x32x!tt.ptr<f16>, #blocked>
    %a_10 = tt.broadcast %a_7 : tensor<128x1xi32, #blocked> -> tensor<128x32xi32, #blocked>
    %a_11 = tt.addptr %a_9, %a_10 : tensor<128x32x!tt.ptr<f16>, #blocked>, tensor<128x32xi32, #blocked>
    %a_12 = tt.load %a_11 : tensor<128x32x!tt.ptr<f16>, #blocked>
    %b = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_13 = tt.expand_dims %b {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<32x1xi32, #blocked2>
    %b_14 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked2>
    %b_15 = arith.muli %b_13, %b_14 : tensor<32x1xi32, #blocked2>
    %b_16 = tt.splat %B : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>, #blocked2>
    %b_17 = tt.addptr %b_16, %b_15 : tensor<32x1x!tt.ptr<f16>, #blocked2>, tensor<32x1xi32, #blocked2>
    %b_18 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %b_19 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %b_20 = tt.expand_dims %b_18 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %b_21 = tt.expand_dims %b_19 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x128xi32, #blocked1>
    %b_22 = tt.broadcast %b_17 : tensor<32x1x!tt.ptr<f16>, #blocked2> -> tensor<32x128x!tt.ptr<f16>, #blocked2>
    %b_23 = tt.broadcast %b_20 : tensor<1x128xi32, #blocked2> -> tensor<32x128xi32, #blocked2>
    %b_24 = tt.addptr %b_22, %b_23 : tensor<32x128x!tt.ptr<f16>, #blocked2>, tensor<32x128xi32, #blocked2>
    %b_25 = tt.load %b_24 : tensor<32x128x!tt.ptr<f16>, #blocked2>
    %c = tt.splat %s : i32 -> tensor<128x1xi32, #blocked1>
    %c_26 = arith.muli %a_8, %c : tensor<128x1xi32, #blocked1>
    %c_27 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked1>
    %c_28 = tt.addptr %c_27, %c_26 : tensor<128x1x!tt.ptr<f32>, #blocked1>, tensor<128x1xi32, #blocked1>
    %c_29 = tt.broadcast %c_28 : tensor<128x1x!tt.ptr<f32>, #blocked1> -> tensor<128x128x!tt.ptr<f32>, #blocked1>
    %c_30 = tt.broadcast %b_21 : tensor<1x128xi32, #blocked1> -> tensor<128x128xi32, #blocked1>
    %c_31 = tt.addptr %c_29, %c_30 : tensor<128x128x!tt.ptr<f32>, #blocked1>, tensor<128x128xi32, #blocked1>
    %c_32 = tt.load %c_31 : tensor<128x128x!tt.ptr<f32>, #blocked1>
    %a_33 = ttg.convert_layout %a_12 : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked3}>>
    %b_34 = ttg.convert_layout %b_25 : tensor<32x128xf16, #blocked2> -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked3}>>
    %c_35 = ttg.convert_layout %c_32 : tensor<128x128xf32, #blocked1> -> tensor<128x128xf32, #blocked3>
    %0 = tt.dot %a_33, %b_34, %c_35, inputPrecision = tf32 : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked3}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked3}>> -> tensor<128x128xf32, #blocked3>
    %1 = ttg.convert_layout %0 : tensor<128x128xf32, #blocked3> -> tensor<128x128xf32, #blocked1>
    tt.store %c_31, %1 : tensor<128x128x!tt.ptr<f32>, #blocked1>
    tt.return
  }
}
