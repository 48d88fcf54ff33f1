#blocked = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 4, 8], warpsPerCTA = [2, 1, 1], order = [2, 1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 2, 1], order = [2, 1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [1, 2, 1], order = [2, 1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 2, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx1200", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @batched(%A: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<8x16x32xf32, #blocked>
    %a = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_1 = tt.expand_dims %a {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_2 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_3 = tt.expand_dims %a_1 {axis = 2 : i32} : tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<8x1x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_2 {axis = 2 : i32} : tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<8x1x1xi32, #blocked1>
    %a_5 = tt.splat %s : i32 -> tensor<8x1x1xi32, #blocked1>
    %a_6 = tt.splat %s : i32 -> tensor<8x1x1xi32, #blocked1>
    %a_7 = arith.muli %a_3, %a_5 : tensor<8x1x1xi32, #blocked1>
    %a_8 = arith.muli %a_4, %a_6 : tensor<8x1x1xi32, #blocked1>
    %a_9 = arith.muli %a_7, %a_5 : tensor<8x1x1xi32, #blocked1>
    %a_10 = arith.muli %a_8, %a_6 : tensor<8x1x1xi32, #blocked1>
    %a_11 = tt.splat %A : !tt.ptr<bf16> -> tensor<8x1x1x!tt.ptr<bf16>, #blocked1>
    %a_12 = tt.addptr %a_11, %a_9 : tensor<8x1x1x!tt.ptr<bf16>, #blocked1>, tensor<8x1x1xi32, #blocked1>
    %a_13 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_14 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>>
    %a_15 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_16 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>> -> tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked3}>>
    %a_17 = tt.expand_dims %a_15 {axis = 2 : i32} : tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<1x16x1xi32, #blocked2>
    %a_18 = tt.expand_dims %a_16 {axis = 2 : i32} : tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked3}>> -> tensor<1x16x1xi32, #blocked3>
    %a_19 = tt.splat %s : i32 -> tensor<1x16x1xi32, #blocked2>
    %a_20 = tt.splat %s : i32 -> tensor<1x16x1xi32, #blocked3>
    %a_21 = arith.muli %a_17, %a_19 : tensor<1x16x1xi32, #blocked2>
    %a_22 = arith.muli %a_18, %a_20 : tensor<1x16x1xi32, #blocked3>
    %a_23 = tt.broadcast %a_12 : tensor<8x1x1x!tt.ptr<bf16>, #blocked1> -> tensor<8x16x1x!tt.ptr<bf16>, #blocked2>
    %a_24 = tt.broadcast %a_21 : tensor<1x16x1xi32, #blocked2> -> tensor<8x16x1xi32, #blocked2>
    %a_25 = tt.broadcast %a_22 : tensor<1x16x1xi32, #blocked3> -> tensor<8x16x1xi32, #blocked3>
    %a_26 = tt.addptr %a_23, %a_24 : tensor<8x16x1x!tt.ptr<bf16>, #blocked2>, tensor<8x16x1xi32, #blocked2>
    %a_27 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked2}>}>>
    %a_28 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>>
    %a_29 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_30 = tt.expand_dims %a_27 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked2}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_31 = tt.expand_dims %a_28 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_32 = tt.expand_dims %a_29 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_33 = tt.expand_dims %a_30 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<1x1x32xi32, #blocked2>
    %a_34 = tt.expand_dims %a_31 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<1x1x32xi32, #blocked3>
    %a_35 = tt.broadcast %a_26 : tensor<8x16x1x!tt.ptr<bf16>, #blocked2> -> tensor<8x16x32x!tt.ptr<bf16>, #blocked2>
    %a_36 = tt.broadcast %a_33 : tensor<1x1x32xi32, #blocked2> -> tensor<8x16x32xi32, #blocked2>
    %a_37 = tt.broadcast %a_34 : tensor<1x1x32xi32, #blocked3> -> tensor<8x16x32xi32, #blocked3>
    %a_38 = tt.addptr %a_35, %a_36 : tensor<8x16x32x!tt.ptr<bf16>, #blocked2>, tensor<8x16x32xi32, #blocked2>
    %a_39 = tt.load %a_38 : tensor<8x16x32x!tt.ptr<bf16>, #blocked2>
    %b = tt.splat %B : !tt.ptr<bf16> -> tensor<8x1x1x!tt.ptr<bf16>, #blocked1>
    %b_40 = tt.addptr %b, %a_10 : tensor<8x1x1x!tt.ptr<bf16>, #blocked1>, tensor<8x1x1xi32, #blocked1>
    %b_41 = tt.expand_dims %a_32 {axis = 2 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<1x32x1xi32, #blocked2>
    %b_42 = tt.splat %s : i32 -> tensor<1x32x1xi32, #blocked2>
    %b_43 = arith.muli %b_41, %b_42 : tensor<1x32x1xi32, #blocked2>
    %b_44 = tt.broadcast %b_40 : tensor<8x1x1x!tt.ptr<bf16>, #blocked1> -> tensor<8x32x1x!tt.ptr<bf16>, #blocked2>
    %b_45 = tt.broadcast %b_43 : tensor<1x32x1xi32, #blocked2> -> tensor<8x32x1xi32, #blocked2>
    %b_46 = tt.addptr %b_44, %b_45 : tensor<8x32x1x!tt.ptr<bf16>, #blocked2>, tensor<8x32x1xi32, #blocked2>
    %b_47 = tt.broadcast %b_46 : tensor<8x32x1x!tt.ptr<bf16>, #blocked2> -> tensor<8x32x32x!tt.ptr<bf16>, #blocked2>
    %b_48 = tt.broadcast %a_33 : tensor<1x1x32xi32, #blocked2> -> tensor<8x32x32xi32, #blocked2>
    %b_49 = tt.addptr %b_47, %b_48 : tensor<8x32x32x!tt.ptr<bf16>, #blocked2>, tensor<8x32x32xi32, #blocked2>
    %b_50 = tt.load %b_49 : tensor<8x32x32x!tt.ptr<bf16>, #blocked2>
    %0 = tt.splat %C : !tt.ptr<f32> -> tensor<8x1x1x!tt.ptr<f32>, #blocked1>
    %1 = tt.addptr %0, %a_9 : tensor<8x1x1x!tt.ptr<f32>, #blocked1>, tensor<8x1x1xi32, #blocked1>
    %2 = tt.broadcast %1 : tensor<8x1x1x!tt.ptr<f32>, #blocked1> -> tensor<8x16x1x!tt.ptr<f32>, #blocked3>
    %3 = tt.addptr %2, %a_25 : tensor<8x16x1x!tt.ptr<f32>, #blocked3>, tensor<8x16x1xi32, #blocked3>
    %4 = tt.broadcast %3 : tensor<8x16x1x!tt.ptr<f32>, #blocked3> -> tensor<8x16x32x!tt.ptr<f32>, #blocked3>
    %5 = tt.addptr %4, %a_37 : tensor<8x16x32x!tt.ptr<f32>, #blocked3>, tensor<8x16x32xi32, #blocked3>
    %a_51 = ttg.convert_layout %a_39 : tensor<8x16x32xbf16, #blocked2> -> tensor<8x16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_52 = ttg.convert_layout %b_50 : tensor<8x32x32xbf16, #blocked2> -> tensor<8x32x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %6 = tt.dot %a_51, %b_52, %cst : tensor<8x16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<8x32x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<8x16x32xf32, #blocked>
    %7 = ttg.convert_layout %6 : tensor<8x16x32xf32, #blocked> -> tensor<8x16x32xf32, #blocked3>
    tt.store %5, %7 : tensor<8x16x32x!tt.ptr<f32>, #blocked3>
    tt.return
  }
}
