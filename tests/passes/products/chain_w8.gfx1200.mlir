#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx1200", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @chain(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %D: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x128xf32, #blocked>
    %a = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_1 = tt.expand_dims %a {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<32x1xi32, #blocked1>
    %a_2 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<32x1xi32, #blocked2>
    %a_3 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked1>
    %a_4 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked2>
    %a_5 = arith.muli %a_1, %a_3 : tensor<32x1xi32, #blocked1>
    %a_6 = arith.muli %a_2, %a_4 : tensor<32x1xi32, #blocked2>
    %a_7 = tt.splat %A : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>, #blocked1>
    %a_8 = tt.addptr %a_7, %a_5 : tensor<32x1x!tt.ptr<f16>, #blocked1>, tensor<32x1xi32, #blocked1>
    %a_9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_10 = tt.expand_dims %a_9 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %a_11 = tt.broadcast %a_8 : tensor<32x1x!tt.ptr<f16>, #blocked1> -> tensor<32x64x!tt.ptr<f16>, #blocked1>
    %a_12 = tt.broadcast %a_10 : tensor<1x64xi32, #blocked1> -> tensor<32x64xi32, #blocked1>
    %a_13 = tt.addptr %a_11, %a_12 : tensor<32x64x!tt.ptr<f16>, #blocked1>, tensor<32x64xi32, #blocked1>
    %a_14 = tt.load %a_13 : tensor<32x64x!tt.ptr<f16>, #blocked1>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_15 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<64x1xi32, #blocked3>
    %b_16 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked3>
    %b_17 = arith.muli %b_15, %b_16 : tensor<64x1xi32, #blocked3>
    %b_18 = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
    %b_19 = tt.addptr %b_18, %b_17 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
    %b_20 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %b_21 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %b_22 = tt.expand_dims %b_20 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x128xi32, #blocked3>
    %b_23 = tt.expand_dims %b_21 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %b_24 = tt.broadcast %b_19 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x128x!tt.ptr<f16>, #blocked3>
    %b_25 = tt.broadcast %b_22 : tensor<1x128xi32, #blocked3> -> tensor<64x128xi32, #blocked3>
    %b_26 = tt.addptr %b_24, %b_25 : tensor<64x128x!tt.ptr<f16>, #blocked3>, tensor<64x128xi32, #blocked3>
    %b_27 = tt.load %b_26 : tensor<64x128x!tt.ptr<f16>, #blocked3>
    %c = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %c_28 = tt.expand_dims %c {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %c_29 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked3>
    %c_30 = arith.muli %c_28, %c_29 : tensor<128x1xi32, #blocked3>
    %c_31 = tt.splat %C : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked3>
    %c_32 = tt.addptr %c_31, %c_30 : tensor<128x1x!tt.ptr<f16>, #blocked3>, tensor<128x1xi32, #blocked3>
    %c_33 = tt.broadcast %c_32 : tensor<128x1x!tt.ptr<f16>, #blocked3> -> tensor<128x128x!tt.ptr<f16>, #blocked3>
    %c_34 = tt.broadcast %b_22 : tensor<1x128xi32, #blocked3> -> tensor<128x128xi32, #blocked3>
    %c_35 = tt.addptr %c_33, %c_34 : tensor<128x128x!tt.ptr<f16>, #blocked3>, tensor<128x128xi32, #blocked3>
    %c_36 = tt.load %c_35 : tensor<128x128x!tt.ptr<f16>, #blocked3>
    %a_37 = ttg.convert_layout %a_14 : tensor<32x64xf16, #blocked1> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_38 = ttg.convert_layout %b_27 : tensor<64x128xf16, #blocked3> -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %ab = tt.dot %a_37, %b_38, %cst : tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<32x128xf32, #blocked>
    %ab_39 = arith.truncf %ab : tensor<32x128xf32, #blocked> to tensor<32x128xf16, #blocked>
    %0 = tt.splat %D : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>, #blocked2>
    %1 = tt.addptr %0, %a_6 : tensor<32x1x!tt.ptr<f32>, #blocked2>, tensor<32x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<32x1x!tt.ptr<f32>, #blocked2> -> tensor<32x128x!tt.ptr<f32>, #blocked2>
    %3 = tt.broadcast %b_23 : tensor<1x128xi32, #blocked2> -> tensor<32x128xi32, #blocked2>
    %4 = tt.addptr %2, %3 : tensor<32x128x!tt.ptr<f32>, #blocked2>, tensor<32x128xi32, #blocked2>
    %ab_40 = ttg.convert_layout %ab_39 : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %c_41 = ttg.convert_layout %c_36 : tensor<128x128xf16, #blocked3> -> tensor<128x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %5 = tt.dot %ab_40, %c_41, %cst : tensor<32x128xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<128x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<32x128xf32, #blocked>
    %6 = ttg.convert_layout %5 : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #blocked2>
    tt.store %4, %6 : tensor<32x128x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
