#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled_blocks(%A: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %SA: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %SB: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %a = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %a_0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_2 = tt.expand_dims %a {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %a_3 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_1 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %a_5 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked>
    %a_6 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked1>
    %a_7 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked2>
    %a_8 = arith.muli %a_2, %a_5 : tensor<128x1xi32, #blocked>
    %a_9 = arith.muli %a_3, %a_6 : tensor<128x1xi32, #blocked1>
    %a_10 = arith.muli %a_4, %a_7 : tensor<128x1xi32, #blocked2>
    %a_11 = tt.splat %A : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked>
    %a_12 = tt.addptr %a_11, %a_8 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x1xi32, #blocked>
    %a_13 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_14 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_15 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %a_16 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x128xi32, #blocked1>
    %a_17 = tt.broadcast %a_12 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked> -> tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %a_18 = tt.broadcast %a_15 : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %a_19 = tt.broadcast %a_16 : tensor<1x128xi32, #blocked1> -> tensor<128x128xi32, #blocked1>
    %a_20 = tt.addptr %a_17, %a_18 : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x128xi32, #blocked>
    %a_21 = tt.load %a_20 : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %a_22 = ttg.convert_layout %a_21 : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #blocked3>
    %b = tt.splat %B : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked>
    %b_23 = tt.addptr %b, %a_8 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x1xi32, #blocked>
    %b_24 = tt.broadcast %b_23 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked> -> tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %b_25 = tt.addptr %b_24, %a_18 : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x128xi32, #blocked>
    %b_26 = tt.load %b_25 : tensor<128x128x!tt.ptr<f8E4M3FN>, #blocked>
    %b_27 = ttg.convert_layout %b_26 : tensor<128x128xf8E4M3FN, #blocked> -> tensor<128x128xf8E4M3FN, #blocked3>
    %sa = tt.splat %SA : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>, #blocked2>
    %sa_28 = tt.addptr %sa, %a_10 : tensor<128x1x!tt.ptr<i8>, #blocked2>, tensor<128x1xi32, #blocked2>
    %sa_29 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %sa_30 = tt.expand_dims %sa_29 {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x4xi32, #blocked2>
    %sa_31 = tt.broadcast %sa_28 : tensor<128x1x!tt.ptr<i8>, #blocked2> -> tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sa_32 = tt.broadcast %sa_30 : tensor<1x4xi32, #blocked2> -> tensor<128x4xi32, #blocked2>
    %sa_33 = tt.addptr %sa_31, %sa_32 : tensor<128x4x!tt.ptr<i8>, #blocked2>, tensor<128x4xi32, #blocked2>
    %sa_34 = tt.load %sa_33 : tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sa_35 = ttg.convert_layout %sa_34 : tensor<128x4xi8, #blocked2> -> tensor<128x4xi8, #blocked4>
    %sb = tt.splat %SB : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>, #blocked2>
    %sb_36 = tt.addptr %sb, %a_10 : tensor<128x1x!tt.ptr<i8>, #blocked2>, tensor<128x1xi32, #blocked2>
    %sb_37 = tt.broadcast %sb_36 : tensor<128x1x!tt.ptr<i8>, #blocked2> -> tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sb_38 = tt.addptr %sb_37, %sa_32 : tensor<128x4x!tt.ptr<i8>, #blocked2>, tensor<128x4xi32, #blocked2>
    %sb_39 = tt.load %sb_38 : tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sb_40 = ttg.convert_layout %sb_39 : tensor<128x4xi8, #blocked2> -> tensor<128x4xi8, #blocked4>
    %c = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked>
    %c_41 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked1>
    %c_42 = tt.addptr %c, %a_8 : tensor<128x1x!tt.ptr<f32>, #blocked>, tensor<128x1xi32, #blocked>
    %c_43 = tt.addptr %c_41, %a_9 : tensor<128x1x!tt.ptr<f32>, #blocked1>, tensor<128x1xi32, #blocked1>
    %c_44 = tt.broadcast %c_42 : tensor<128x1x!tt.ptr<f32>, #blocked> -> tensor<128x128x!tt.ptr<f32>, #blocked>
    %c_45 = tt.broadcast %c_43 : tensor<128x1x!tt.ptr<f32>, #blocked1> -> tensor<128x128x!tt.ptr<f32>, #blocked1>
    %c_46 = tt.addptr %c_44, %a_18 : tensor<128x128x!tt.ptr<f32>, #blocked>, tensor<128x128xi32, #blocked>
    %c_47 = tt.addptr %c_45, %a_19 : tensor<128x128x!tt.ptr<f32>, #blocked1>, tensor<128x128xi32, #blocked1>
    %c_48 = tt.load %c_46 : tensor<128x128x!tt.ptr<f32>, #blocked>
    %c_49 = ttg.convert_layout %c_48 : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #blocked3>
    %0 = tt.dot_scaled %a_22 scale %sa_35, %b_27 scale %sb_40, %c_49 lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<128x128xf8E4M3FN, #blocked3>, tensor<128x4xi8, #blocked4> * tensor<128x128xf8E4M3FN, #blocked3>, tensor<128x4xi8, #blocked4> -> tensor<128x128xf32, #blocked3>
    %1 = ttg.convert_layout %0 : tensor<128x128xf32, #blocked3> -> tensor<128x128xf32, #blocked1>
    tt.store %c_47, %1 : tensor<128x128x!tt.ptr<f32>, #blocked1>
    tt.return
  }
}
