#blocked = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [2, 4, 8], warpsPerCTA = [2, 1, 1], order = [2, 1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 16, 4], warpsPerCTA = [2, 1, 1], order = [2, 1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 2, 32], warpsPerCTA = [1, 2, 1], order = [2, 1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 8, 8], warpsPerCTA = [1, 2, 1], order = [2, 1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 16, 4], warpsPerCTA = [1, 2, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @batched(%A: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<8x16x32xf32, #blocked>
    %a = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_2 = tt.expand_dims %a {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_3 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_4 = tt.expand_dims %a_1 {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_5 = tt.expand_dims %a_2 {axis = 2 : i32} : tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<8x1x1xi32, #blocked1>
    %a_6 = tt.expand_dims %a_3 {axis = 2 : i32} : tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<8x1x1xi32, #blocked2>
    %a_7 = tt.expand_dims %a_4 {axis = 2 : i32} : tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<8x1x1xi32, #blocked2>
    %a_8 = tt.splat %s : i32 -> tensor<8x1x1xi32, #blocked1>
    %a_9 = tt.splat %s : i32 -> tensor<8x1x1xi32, #blocked2>
    %a_10 = tt.splat %s : i32 -> tensor<8x1x1xi32, #blocked2>
    %a_11 = arith.muli %a_5, %a_8 : tensor<8x1x1xi32, #blocked1>
    %a_12 = arith.muli %a_6, %a_9 : tensor<8x1x1xi32, #blocked2>
    %a_13 = arith.muli %a_7, %a_10 : tensor<8x1x1xi32, #blocked2>
    %a_14 = arith.muli %a_11, %a_8 : tensor<8x1x1xi32, #blocked1>
    %a_15 = arith.muli %a_12, %a_9 : tensor<8x1x1xi32, #blocked2>
    %a_16 = arith.muli %a_13, %a_10 : tensor<8x1x1xi32, #blocked2>
    %a_17 = tt.splat %A : !tt.ptr<bf16> -> tensor<8x1x1x!tt.ptr<bf16>, #blocked1>
    %a_18 = tt.addptr %a_17, %a_14 : tensor<8x1x1x!tt.ptr<bf16>, #blocked1>, tensor<8x1x1xi32, #blocked1>
    %a_19 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_20 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>>
    %a_21 = tt.expand_dims %a_19 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_22 = tt.expand_dims %a_20 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>> -> tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked3}>>
    %a_23 = tt.expand_dims %a_21 {axis = 2 : i32} : tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<1x16x1xi32, #blocked1>
    %a_24 = tt.expand_dims %a_22 {axis = 2 : i32} : tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked3}>> -> tensor<1x16x1xi32, #blocked3>
    %a_25 = tt.splat %s : i32 -> tensor<1x16x1xi32, #blocked1>
    %a_26 = tt.splat %s : i32 -> tensor<1x16x1xi32, #blocked3>
    %a_27 = arith.muli %a_23, %a_25 : tensor<1x16x1xi32, #blocked1>
    %a_28 = arith.muli %a_24, %a_26 : tensor<1x16x1xi32, #blocked3>
    %a_29 = tt.broadcast %a_18 : tensor<8x1x1x!tt.ptr<bf16>, #blocked1> -> tensor<8x16x1x!tt.ptr<bf16>, #blocked1>
    %a_30 = tt.broadcast %a_27 : tensor<1x16x1xi32, #blocked1> -> tensor<8x16x1xi32, #blocked1>
    %a_31 = tt.broadcast %a_28 : tensor<1x16x1xi32, #blocked3> -> tensor<8x16x1xi32, #blocked3>
    %a_32 = tt.addptr %a_29, %a_30 : tensor<8x16x1x!tt.ptr<bf16>, #blocked1>, tensor<8x16x1xi32, #blocked1>
    %a_33 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked1}>}>>
    %a_34 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked4}>}>>
    %a_35 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>>
    %a_36 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked4}>}>>
    %a_37 = tt.expand_dims %a_33 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked1}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_38 = tt.expand_dims %a_34 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked4}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %a_39 = tt.expand_dims %a_35 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_40 = tt.expand_dims %a_36 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked4}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked4}>>
    %a_41 = tt.expand_dims %a_37 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<1x1x32xi32, #blocked1>
    %a_42 = tt.expand_dims %a_38 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<1x1x32xi32, #blocked4>
    %a_43 = tt.expand_dims %a_39 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<1x1x32xi32, #blocked3>
    %a_44 = tt.broadcast %a_32 : tensor<8x16x1x!tt.ptr<bf16>, #blocked1> -> tensor<8x16x32x!tt.ptr<bf16>, #blocked1>
    %a_45 = tt.broadcast %a_41 : tensor<1x1x32xi32, #blocked1> -> tensor<8x16x32xi32, #blocked1>
    %a_46 = tt.broadcast %a_43 : tensor<1x1x32xi32, #blocked3> -> tensor<8x16x32xi32, #blocked3>
    %a_47 = tt.addptr %a_44, %a_45 : tensor<8x16x32x!tt.ptr<bf16>, #blocked1>, tensor<8x16x32xi32, #blocked1>
    %a_48 = tt.load %a_47 : tensor<8x16x32x!tt.ptr<bf16>, #blocked1>
    %b = tt.splat %B : !tt.ptr<bf16> -> tensor<8x1x1x!tt.ptr<bf16>, #blocked2>
    %b_49 = tt.addptr %b, %a_16 : tensor<8x1x1x!tt.ptr<bf16>, #blocked2>, tensor<8x1x1xi32, #blocked2>
    %b_50 = tt.expand_dims %a_40 {axis = 2 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked4}>> -> tensor<1x32x1xi32, #blocked4>
    %b_51 = tt.splat %s : i32 -> tensor<1x32x1xi32, #blocked4>
    %b_52 = arith.muli %b_50, %b_51 : tensor<1x32x1xi32, #blocked4>
    %b_53 = tt.broadcast %b_49 : tensor<8x1x1x!tt.ptr<bf16>, #blocked2> -> tensor<8x32x1x!tt.ptr<bf16>, #blocked4>
    %b_54 = tt.broadcast %b_52 : tensor<1x32x1xi32, #blocked4> -> tensor<8x32x1xi32, #blocked4>
    %b_55 = tt.addptr %b_53, %b_54 : tensor<8x32x1x!tt.ptr<bf16>, #blocked4>, tensor<8x32x1xi32, #blocked4>
    %b_56 = tt.broadcast %b_55 : tensor<8x32x1x!tt.ptr<bf16>, #blocked4> -> tensor<8x32x32x!tt.ptr<bf16>, #blocked4>
    %b_57 = tt.broadcast %a_42 : tensor<1x1x32xi32, #blocked4> -> tensor<8x32x32xi32, #blocked4>
    %b_58 = tt.addptr %b_56, %b_57 : tensor<8x32x32x!tt.ptr<bf16>, #blocked4>, tensor<8x32x32xi32, #blocked4>
    %b_59 = tt.load %b_58 : tensor<8x32x32x!tt.ptr<bf16>, #blocked4>
    %0 = tt.splat %C : !tt.ptr<f32> -> tensor<8x1x1x!tt.ptr<f32>, #blocked2>
    %1 = tt.addptr %0, %a_15 : tensor<8x1x1x!tt.ptr<f32>, #blocked2>, tensor<8x1x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<8x1x1x!tt.ptr<f32>, #blocked2> -> tensor<8x16x1x!tt.ptr<f32>, #blocked3>
    %3 = tt.addptr %2, %a_31 : tensor<8x16x1x!tt.ptr<f32>, #blocked3>, tensor<8x16x1xi32, #blocked3>
    %4 = tt.broadcast %3 : tensor<8x16x1x!tt.ptr<f32>, #blocked3> -> tensor<8x16x32x!tt.ptr<f32>, #blocked3>
    %5 = tt.addptr %4, %a_46 : tensor<8x16x32x!tt.ptr<f32>, #blocked3>, tensor<8x16x32xi32, #blocked3>
    %a_60 = ttg.convert_layout %a_48 : tensor<8x16x32xbf16, #blocked1> -> tensor<8x16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_61 = ttg.convert_layout %b_59 : tensor<8x32x32xbf16, #blocked4> -> tensor<8x32x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %6 = tt.dot %a_60, %b_61, %cst, inputPrecision = tf32 : tensor<8x16x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<8x32x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<8x16x32xf32, #blocked>
    %7 = ttg.convert_layout %6 : tensor<8x16x32xf32, #blocked> -> tensor<8x16x32xf32, #blocked3>
    tt.store %5, %7 : tensor<8x16x32x!tt.ptr<f32>, #blocked3>
    tt.return
  }
}
