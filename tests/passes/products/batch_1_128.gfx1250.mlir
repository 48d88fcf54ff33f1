#blocked = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 8, 1], order = [2, 1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [1, 8, 1], order = [2, 1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 8, 1], order = [2, 1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 8, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @batched(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x128x64xf32, #blocked>
    %a = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>>
    %a_0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>>
    %a_1 = tt.expand_dims %a {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked1}>}>> -> tensor<1x128xi32, #ttg.slice<{dim = 2, parent = #blocked1}>>
    %a_2 = tt.expand_dims %a_0 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked2}>}>> -> tensor<1x128xi32, #ttg.slice<{dim = 2, parent = #blocked2}>>
    %a_3 = tt.expand_dims %a_1 {axis = 2 : i32} : tensor<1x128xi32, #ttg.slice<{dim = 2, parent = #blocked1}>> -> tensor<1x128x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_2 {axis = 2 : i32} : tensor<1x128xi32, #ttg.slice<{dim = 2, parent = #blocked2}>> -> tensor<1x128x1xi32, #blocked2>
    %a_5 = tt.splat %s : i32 -> tensor<1x128x1xi32, #blocked1>
    %a_6 = tt.splat %s : i32 -> tensor<1x128x1xi32, #blocked2>
    %a_7 = arith.muli %a_3, %a_5 : tensor<1x128x1xi32, #blocked1>
    %a_8 = arith.muli %a_4, %a_6 : tensor<1x128x1xi32, #blocked2>
    %a_9 = tt.splat %A : !tt.ptr<f16> -> tensor<1x128x1x!tt.ptr<f16>, #blocked1>
    %a_10 = tt.addptr %a_9, %a_7 : tensor<1x128x1x!tt.ptr<f16>, #blocked1>, tensor<1x128x1xi32, #blocked1>
    %a_11 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked1}>}>>
    %a_12 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>>
    %a_13 = tt.expand_dims %a_11 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked1}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_14 = tt.expand_dims %a_12 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #blocked3}>}>> -> tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked3}>>
    %a_15 = tt.expand_dims %a_13 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<1x1x32xi32, #blocked1>
    %a_16 = tt.broadcast %a_10 : tensor<1x128x1x!tt.ptr<f16>, #blocked1> -> tensor<1x128x32x!tt.ptr<f16>, #blocked1>
    %a_17 = tt.broadcast %a_15 : tensor<1x1x32xi32, #blocked1> -> tensor<1x128x32xi32, #blocked1>
    %a_18 = tt.addptr %a_16, %a_17 : tensor<1x128x32x!tt.ptr<f16>, #blocked1>, tensor<1x128x32xi32, #blocked1>
    %a_19 = tt.load %a_18 : tensor<1x128x32x!tt.ptr<f16>, #blocked1>
    %b = tt.expand_dims %a_14 {axis = 2 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 2, parent = #blocked3}>> -> tensor<1x32x1xi32, #blocked3>
    %b_20 = tt.splat %s : i32 -> tensor<1x32x1xi32, #blocked3>
    %b_21 = arith.muli %b, %b_20 : tensor<1x32x1xi32, #blocked3>
    %b_22 = tt.splat %B : !tt.ptr<f16> -> tensor<1x32x1x!tt.ptr<f16>, #blocked3>
    %b_23 = tt.addptr %b_22, %b_21 : tensor<1x32x1x!tt.ptr<f16>, #blocked3>, tensor<1x32x1xi32, #blocked3>
    %b_24 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>>
    %b_25 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked2}>}>>
    %b_26 = tt.expand_dims %b_24 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked3}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_27 = tt.expand_dims %b_25 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 1, parent = #blocked2}>}>> -> tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_28 = tt.expand_dims %b_26 {axis = 1 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<1x1x64xi32, #blocked3>
    %b_29 = tt.expand_dims %b_27 {axis = 1 : i32} : tensor<1x64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<1x1x64xi32, #blocked2>
    %b_30 = tt.broadcast %b_23 : tensor<1x32x1x!tt.ptr<f16>, #blocked3> -> tensor<1x32x64x!tt.ptr<f16>, #blocked3>
    %b_31 = tt.broadcast %b_28 : tensor<1x1x64xi32, #blocked3> -> tensor<1x32x64xi32, #blocked3>
    %b_32 = tt.addptr %b_30, %b_31 : tensor<1x32x64x!tt.ptr<f16>, #blocked3>, tensor<1x32x64xi32, #blocked3>
    %b_33 = tt.load %b_32 : tensor<1x32x64x!tt.ptr<f16>, #blocked3>
    %0 = tt.splat %C : !tt.ptr<f32> -> tensor<1x128x1x!tt.ptr<f32>, #blocked2>
    %1 = tt.addptr %0, %a_8 : tensor<1x128x1x!tt.ptr<f32>, #blocked2>, tensor<1x128x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<1x128x1x!tt.ptr<f32>, #blocked2> -> tensor<1x128x64x!tt.ptr<f32>, #blocked2>
    %3 = tt.broadcast %b_29 : tensor<1x1x64xi32, #blocked2> -> tensor<1x128x64xi32, #blocked2>
    %4 = tt.addptr %2, %3 : tensor<1x128x64x!tt.ptr<f32>, #blocked2>, tensor<1x128x64xi32, #blocked2>
    %a_34 = ttg.convert_layout %a_19 : tensor<1x128x32xf16, #blocked1> -> tensor<1x128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %b_35 = ttg.convert_layout %b_33 : tensor<1x32x64xf16, #blocked3> -> tensor<1x32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %5 = tt.dot %a_34, %b_35, %cst : tensor<1x128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<1x32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<1x128x64xf32, #blocked>
    %6 = ttg.convert_layout %5 : tensor<1x128x64xf32, #blocked> -> tensor<1x128x64xf32, #blocked2>
    tt.store %4, %6 : tensor<1x128x64x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
