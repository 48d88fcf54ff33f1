#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @scaled_blocks(%A: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %B: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %SA: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %SB: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
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
    %a_11 = tt.splat %A : !tt.ptr<f8E5M2> -> tensor<128x1x!tt.ptr<f8E5M2>, #blocked>
    %a_12 = tt.addptr %a_11, %a_8 : tensor<128x1x!tt.ptr<f8E5M2>, #blocked>, tensor<128x1xi32, #blocked>
    %a_13 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_14 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_15 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %a_16 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x128xi32, #blocked1>
    %a_17 = tt.broadcast %a_12 : tensor<128x1x!tt.ptr<f8E5M2>, #blocked> -> tensor<128x128x!tt.ptr<f8E5M2>, #blocked>
    %a_18 = tt.broadcast %a_15 : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %a_19 = tt.broadcast %a_16 : tensor<1x128xi32, #blocked1> -> tensor<128x128xi32, #blocked1>
    %a_20 = tt.addptr %a_17, %a_18 : tensor<128x128x!tt.ptr<f8E5M2>, #blocked>, tensor<128x128xi32, #blocked>
    %a_21 = tt.load %a_20 : tensor<128x128x!tt.ptr<f8E5M2>, #blocked>
    %a_22 = ttg.convert_layout %a_21 : tensor<128x128xf8E5M2, #blocked> -> tensor<128x128xf8E5M2, #blocked3>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %b_23 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %b_24 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked>
    %b_25 = arith.muli %b_23, %b_24 : tensor<64x1xi32, #blocked>
    %b_26 = tt.splat %B : !tt.ptr<i8> -> tensor<64x1x!tt.ptr<i8>, #blocked>
    %b_27 = tt.addptr %b_26, %b_25 : tensor<64x1x!tt.ptr<i8>, #blocked>, tensor<64x1xi32, #blocked>
    %b_28 = tt.broadcast %b_27 : tensor<64x1x!tt.ptr<i8>, #blocked> -> tensor<64x128x!tt.ptr<i8>, #blocked>
    %b_29 = tt.broadcast %a_15 : tensor<1x128xi32, #blocked> -> tensor<64x128xi32, #blocked>
    %b_30 = tt.addptr %b_28, %b_29 : tensor<64x128x!tt.ptr<i8>, #blocked>, tensor<64x128xi32, #blocked>
    %b_31 = tt.load %b_30 : tensor<64x128x!tt.ptr<i8>, #blocked>
    %b_32 = ttg.convert_layout %b_31 : tensor<64x128xi8, #blocked> -> tensor<64x128xi8, #blocked3>
    %sa = tt.splat %SA : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>, #blocked2>
    %sa_33 = tt.addptr %sa, %a_10 : tensor<128x1x!tt.ptr<i8>, #blocked2>, tensor<128x1xi32, #blocked2>
    %sa_34 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %sa_35 = tt.expand_dims %sa_34 {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x4xi32, #blocked2>
    %sa_36 = tt.broadcast %sa_33 : tensor<128x1x!tt.ptr<i8>, #blocked2> -> tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sa_37 = tt.broadcast %sa_35 : tensor<1x4xi32, #blocked2> -> tensor<128x4xi32, #blocked2>
    %sa_38 = tt.addptr %sa_36, %sa_37 : tensor<128x4x!tt.ptr<i8>, #blocked2>, tensor<128x4xi32, #blocked2>
    %sa_39 = tt.load %sa_38 : tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sa_40 = ttg.convert_layout %sa_39 : tensor<128x4xi8, #blocked2> -> tensor<128x4xi8, #blocked4>
    %sb = tt.splat %SB : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>, #blocked2>
    %sb_41 = tt.addptr %sb, %a_10 : tensor<128x1x!tt.ptr<i8>, #blocked2>, tensor<128x1xi32, #blocked2>
    %sb_42 = tt.broadcast %sb_41 : tensor<128x1x!tt.ptr<i8>, #blocked2> -> tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sb_43 = tt.addptr %sb_42, %sa_37 : tensor<128x4x!tt.ptr<i8>, #blocked2>, tensor<128x4xi32, #blocked2>
    %sb_44 = tt.load %sb_43 : tensor<128x4x!tt.ptr<i8>, #blocked2>
    %sb_45 = ttg.convert_layout %sb_44 : tensor<128x4xi8, #blocked2> -> tensor<128x4xi8, #blocked4>
    %c = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked>
    %c_46 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked1>
    %c_47 = tt.addptr %c, %a_8 : tensor<128x1x!tt.ptr<f32>, #blocked>, tensor<128x1xi32, #blocked>
    %c_48 = tt.addptr %c_46, %a_9 : tensor<128x1x!tt.ptr<f32>, #blocked1>, tensor<128x1xi32, #blocked1>
    %c_49 = tt.broadcast %c_47 : tensor<128x1x!tt.ptr<f32>, #blocked> -> tensor<128x128x!tt.ptr<f32>, #blocked>
    %c_50 = tt.broadcast %c_48 : tensor<128x1x!tt.ptr<f32>, #blocked1> -> tensor<128x128x!tt.ptr<f32>, #blocked1>
    %c_51 = tt.addptr %c_49, %a_18 : tensor<128x128x!tt.ptr<f32>, #blocked>, tensor<128x128xi32, #blocked>
    %c_52 = tt.addptr %c_50, %a_19 : tensor<128x128x!tt.ptr<f32>, #blocked1>, tensor<128x128xi32, #blocked1>
    %c_53 = tt.load %c_51 : tensor<128x128x!tt.ptr<f32>, #blocked>
    %c_54 = ttg.convert_layout %c_53 : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #blocked3>
    %0 = tt.dot_scaled %a_22 scale %sa_40, %b_32 scale %sb_45, %c_54 lhs = e5m2 rhs = e2m1 {fastMath = false} : tensor<128x128xf8E5M2, #blocked3>, tensor<128x4xi8, #blocked4> * tensor<64x128xi8, #blocked3>, tensor<128x4xi8, #blocked4> -> tensor<128x128xf32, #blocked3>
    %1 = ttg.convert_layout %0 : tensor<128x128xf32, #blocked3> -> tensor<128x128xf32, #blocked1>
    tt.store %c_52, %1 : tensor<128x128x!tt.ptr<f32>, #blocked1>
    tt.return
  }
}
