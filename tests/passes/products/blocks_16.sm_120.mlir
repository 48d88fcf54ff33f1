#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled_blocks(%A: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %SA: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %SB: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %a = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %a_0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_2 = tt.expand_dims %a {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xi32, #blocked>
    %a_3 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_1 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
    %a_5 = tt.splat %s : i32 -> tensor<16x1xi32, #blocked>
    %a_6 = tt.splat %s : i32 -> tensor<16x1xi32, #blocked1>
    %a_7 = tt.splat %s : i32 -> tensor<16x1xi32, #blocked2>
    %a_8 = arith.muli %a_2, %a_5 : tensor<16x1xi32, #blocked>
    %a_9 = arith.muli %a_3, %a_6 : tensor<16x1xi32, #blocked1>
    %a_10 = arith.muli %a_4, %a_7 : tensor<16x1xi32, #blocked2>
    %a_11 = tt.splat %A : !tt.ptr<f8E4M3FN> -> tensor<16x1x!tt.ptr<f8E4M3FN>, #blocked>
    %a_12 = tt.addptr %a_11, %a_8 : tensor<16x1x!tt.ptr<f8E4M3FN>, #blocked>, tensor<16x1xi32, #blocked>
    %a_13 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_14 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %a_15 = tt.broadcast %a_12 : tensor<16x1x!tt.ptr<f8E4M3FN>, #blocked> -> tensor<16x128x!tt.ptr<f8E4M3FN>, #blocked>
    %a_16 = tt.broadcast %a_14 : tensor<1x128xi32, #blocked> -> tensor<16x128xi32, #blocked>
    %a_17 = tt.addptr %a_15, %a_16 : tensor<16x128x!tt.ptr<f8E4M3FN>, #blocked>, tensor<16x128xi32, #blocked>
    %a_18 = tt.load %a_17 : tensor<16x128x!tt.ptr<f8E4M3FN>, #blocked>
    %a_19 = ttg.convert_layout %a_18 : tensor<16x128xf8E4M3FN, #blocked> -> tensor<16x128xf8E4M3FN, #blocked3>
    %b = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %b_20 = tt.expand_dims %b {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<128x1xi32, #blocked4>
    %b_21 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked4>
    %b_22 = arith.muli %b_20, %b_21 : tensor<128x1xi32, #blocked4>
    %b_23 = tt.splat %B : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4>
    %b_24 = tt.addptr %b_23, %b_22 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4>, tensor<128x1xi32, #blocked4>
    %b_25 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %b_26 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %b_27 = tt.expand_dims %b_25 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x16xi32, #blocked4>
    %b_28 = tt.expand_dims %b_26 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x16xi32, #blocked2>
    %b_29 = tt.broadcast %b_24 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked4> -> tensor<128x16x!tt.ptr<f8E4M3FN>, #blocked4>
    %b_30 = tt.broadcast %b_27 : tensor<1x16xi32, #blocked4> -> tensor<128x16xi32, #blocked4>
    %b_31 = tt.addptr %b_29, %b_30 : tensor<128x16x!tt.ptr<f8E4M3FN>, #blocked4>, tensor<128x16xi32, #blocked4>
    %b_32 = tt.load %b_31 : tensor<128x16x!tt.ptr<f8E4M3FN>, #blocked4>
    %b_33 = ttg.convert_layout %b_32 : tensor<128x16xf8E4M3FN, #blocked4> -> tensor<128x16xf8E4M3FN, #blocked5>
    %sa = tt.splat %SA : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>, #blocked1>
    %sa_34 = tt.addptr %sa, %a_9 : tensor<16x1x!tt.ptr<i8>, #blocked1>, tensor<16x1xi32, #blocked1>
    %sa_35 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %sa_36 = tt.expand_dims %sa_35 {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x4xi32, #blocked1>
    %sa_37 = tt.broadcast %sa_34 : tensor<16x1x!tt.ptr<i8>, #blocked1> -> tensor<16x4x!tt.ptr<i8>, #blocked1>
    %sa_38 = tt.broadcast %sa_36 : tensor<1x4xi32, #blocked1> -> tensor<16x4xi32, #blocked1>
    %sa_39 = tt.addptr %sa_37, %sa_38 : tensor<16x4x!tt.ptr<i8>, #blocked1>, tensor<16x4xi32, #blocked1>
    %sa_40 = tt.load %sa_39 : tensor<16x4x!tt.ptr<i8>, #blocked1>
    %sa_41 = ttg.convert_layout %sa_40 : tensor<16x4xi8, #blocked1> -> tensor<16x4xi8, #blocked6>
    %sb = tt.splat %SB : !tt.ptr<i8> -> tensor<16x1x!tt.ptr<i8>, #blocked1>
    %sb_42 = tt.addptr %sb, %a_9 : tensor<16x1x!tt.ptr<i8>, #blocked1>, tensor<16x1xi32, #blocked1>
    %sb_43 = tt.broadcast %sb_42 : tensor<16x1x!tt.ptr<i8>, #blocked1> -> tensor<16x4x!tt.ptr<i8>, #blocked1>
    %sb_44 = tt.addptr %sb_43, %sa_38 : tensor<16x4x!tt.ptr<i8>, #blocked1>, tensor<16x4xi32, #blocked1>
    %sb_45 = tt.load %sb_44 : tensor<16x4x!tt.ptr<i8>, #blocked1>
    %sb_46 = ttg.convert_layout %sb_45 : tensor<16x4xi8, #blocked1> -> tensor<16x4xi8, #blocked6>
    %c = tt.splat %C : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>, #blocked2>
    %c_47 = tt.addptr %c, %a_10 : tensor<16x1x!tt.ptr<f32>, #blocked2>, tensor<16x1xi32, #blocked2>
    %c_48 = tt.broadcast %c_47 : tensor<16x1x!tt.ptr<f32>, #blocked2> -> tensor<16x16x!tt.ptr<f32>, #blocked2>
    %c_49 = tt.broadcast %b_28 : tensor<1x16xi32, #blocked2> -> tensor<16x16xi32, #blocked2>
    %c_50 = tt.addptr %c_48, %c_49 : tensor<16x16x!tt.ptr<f32>, #blocked2>, tensor<16x16xi32, #blocked2>
    %c_51 = tt.load %c_50 : tensor<16x16x!tt.ptr<f32>, #blocked2>
    %c_52 = ttg.convert_layout %c_51 : tensor<16x16xf32, #blocked2> -> tensor<16x16xf32, #blocked5>
    %0 = tt.dot_scaled %a_19 scale %sa_41, %b_33 scale %sb_46, %c_52 lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x128xf8E4M3FN, #blocked3>, tensor<16x4xi8, #blocked6> * tensor<128x16xf8E4M3FN, #blocked5>, tensor<16x4xi8, #blocked6> -> tensor<16x16xf32, #blocked5>
    %1 = ttg.convert_layout %0 : tensor<16x16xf32, #blocked5> -> tensor<16x16xf32, #blocked2>
    tt.store %c_50, %1 : tensor<16x16x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
