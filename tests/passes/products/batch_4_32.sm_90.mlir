#blocked = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 2, 2], order = [2, 1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @batched(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<4x32x64xf32, #blocked>
    %a = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_1 = tt.expand_dims %a {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<4x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_2 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<4x1xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_3 = tt.expand_dims %a_1 {axis = 2 : i32} : tensor<4x1xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<4x1x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_2 {axis = 2 : i32} : tensor<4x1xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<4x1x1xi32, #blocked2>
    %a_5 = tt.splat %s : i32 -> tensor<4x1x1xi32, #blocked1>
    %a_6 = tt.splat %s : i32 -> tensor<4x1x1xi32, #blocked2>
    %a_7 = arith.muli %a_3, %a_5 : tensor<4x1x1xi32, #blocked1>
    %a_8 = arith.muli %a_4, %a_6 : tensor<4x1x1xi32, #blocked2>
    %a_9 = arith.muli %a_7, %a_5 : tensor<4x1x1xi32, #blocked1>
    %a_10 = arith.muli %a_8, %a_6 : tensor<4x1x1xi32, #blocked2>
    %a_11 = tt.splat %A : !tt.ptr<f16> -> tensor<4x1x1x!tt.ptr<f16>, #blocked1>
    %a_12 = tt.addptr %a_11, %a_9 : tensor<4x1x1x!tt.ptr<f16>, #blocked1>, tensor<4x1x1xi32, #blocked1>
    %a_13 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>>
    %a_14 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked4}>}>>
    %a_15 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked5}>}>>
    %a_16 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>>
    %a_17 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked3}>>
    %a_18 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked4}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked4}>>
    %a_19 = tt.expand_dims %a_15 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked5}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked5}>>
    %a_20 = tt.expand_dims %a_16 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_21 = tt.expand_dims %a_17 {axis = 2 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked3}>> -> tensor<1x32x1xi32, #blocked3>
    %a_22 = tt.expand_dims %a_18 {axis = 2 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked4}>> -> tensor<1x32x1xi32, #blocked4>
    %a_23 = tt.expand_dims %a_19 {axis = 2 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked5}>> -> tensor<1x32x1xi32, #blocked5>
    %a_24 = tt.splat %s : i32 -> tensor<1x32x1xi32, #blocked3>
    %a_25 = tt.splat %s : i32 -> tensor<1x32x1xi32, #blocked4>
    %a_26 = tt.splat %s : i32 -> tensor<1x32x1xi32, #blocked5>
    %a_27 = arith.muli %a_21, %a_24 : tensor<1x32x1xi32, #blocked3>
    %a_28 = arith.muli %a_22, %a_25 : tensor<1x32x1xi32, #blocked4>
    %a_29 = arith.muli %a_23, %a_26 : tensor<1x32x1xi32, #blocked5>
    %a_30 = tt.broadcast %a_12 : tensor<4x1x1x!tt.ptr<f16>, #blocked1> -> tensor<4x32x1x!tt.ptr<f16>, #blocked3>
    %a_31 = tt.broadcast %a_27 : tensor<1x32x1xi32, #blocked3> -> tensor<4x32x1xi32, #blocked3>
    %a_32 = tt.broadcast %a_28 : tensor<1x32x1xi32, #blocked4> -> tensor<4x32x1xi32, #blocked4>
    %a_33 = tt.broadcast %a_29 : tensor<1x32x1xi32, #blocked5> -> tensor<4x32x1xi32, #blocked5>
    %a_34 = tt.addptr %a_30, %a_31 : tensor<4x32x1x!tt.ptr<f16>, #blocked3>, tensor<4x32x1xi32, #blocked3>
    %a_35 = tt.expand_dims %a_20 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<1x1x32xi32, #blocked3>
    %a_36 = tt.broadcast %a_34 : tensor<4x32x1x!tt.ptr<f16>, #blocked3> -> tensor<4x32x32x!tt.ptr<f16>, #blocked3>
    %a_37 = tt.broadcast %a_35 : tensor<1x1x32xi32, #blocked3> -> tensor<4x32x32xi32, #blocked3>
    %a_38 = tt.addptr %a_36, %a_37 : tensor<4x32x32x!tt.ptr<f16>, #blocked3>, tensor<4x32x32xi32, #blocked3>
    %a_39 = tt.load %a_38 : tensor<4x32x32x!tt.ptr<f16>, #blocked3>
    %b = tt.splat %B : !tt.ptr<f16> -> tensor<4x1x1x!tt.ptr<f16>, #blocked2>
    %b_40 = tt.addptr %b, %a_10 : tensor<4x1x1x!tt.ptr<f16>, #blocked2>, tensor<4x1x1xi32, #blocked2>
    %b_41 = tt.broadcast %b_40 : tensor<4x1x1x!tt.ptr<f16>, #blocked2> -> tensor<4x32x1x!tt.ptr<f16>, #blocked4>
    %b_42 = tt.addptr %b_41, %a_32 : tensor<4x32x1x!tt.ptr<f16>, #blocked4>, tensor<4x32x1xi32, #blocked4>
    %b_43 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked4}>}>>
    %b_44 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked5}>}>>
    %b_45 = tt.expand_dims %b_43 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked4}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %b_46 = tt.expand_dims %b_44 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked5}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked5}>>
    %b_47 = tt.expand_dims %b_45 {axis = 1 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<1x1x64xi32, #blocked4>
    %b_48 = tt.expand_dims %b_46 {axis = 1 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked5}>> -> tensor<1x1x64xi32, #blocked5>
    %b_49 = tt.broadcast %b_42 : tensor<4x32x1x!tt.ptr<f16>, #blocked4> -> tensor<4x32x64x!tt.ptr<f16>, #blocked4>
    %b_50 = tt.broadcast %b_47 : tensor<1x1x64xi32, #blocked4> -> tensor<4x32x64xi32, #blocked4>
    %b_51 = tt.broadcast %b_48 : tensor<1x1x64xi32, #blocked5> -> tensor<4x32x64xi32, #blocked5>
    %b_52 = tt.addptr %b_49, %b_50 : tensor<4x32x64x!tt.ptr<f16>, #blocked4>, tensor<4x32x64xi32, #blocked4>
    %b_53 = tt.load %b_52 : tensor<4x32x64x!tt.ptr<f16>, #blocked4>
    %0 = tt.splat %C : !tt.ptr<f32> -> tensor<4x1x1x!tt.ptr<f32>, #blocked2>
    %1 = tt.addptr %0, %a_10 : tensor<4x1x1x!tt.ptr<f32>, #blocked2>, tensor<4x1x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<4x1x1x!tt.ptr<f32>, #blocked2> -> tensor<4x32x1x!tt.ptr<f32>, #blocked5>
    %3 = tt.addptr %2, %a_33 : tensor<4x32x1x!tt.ptr<f32>, #blocked5>, tensor<4x32x1xi32, #blocked5>
    %4 = tt.broadcast %3 : tensor<4x32x1x!tt.ptr<f32>, #blocked5> -> tensor<4x32x64x!tt.ptr<f32>, #blocked5>
    %5 = tt.addptr %4, %b_51 : tensor<4x32x64x!tt.ptr<f32>, #blocked5>, tensor<4x32x64xi32, #blocked5>
    %a_54 = ttg.convert_layout %a_39 : tensor<4x32x32xf16, #blocked3> -> tensor<4x32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_55 = ttg.convert_layout %b_53 : tensor<4x32x64xf16, #blocked4> -> tensor<4x32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %6 = tt.dot %a_54, %b_55, %cst, inputPrecision = tf32 : tensor<4x32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<4x32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<4x32x64xf32, #blocked>
    %7 = ttg.convert_layout %6 : tensor<4x32x64xf32, #blocked> -> tensor<4x32x64xf32, #blocked5>
    tt.store %5, %7 : tensor<4x32x64x!tt.ptr<f32>, #blocked5>
    tt.return
  }
}
