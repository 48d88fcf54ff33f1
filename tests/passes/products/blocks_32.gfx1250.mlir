#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [16, 2], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 2], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled_blocks(%A: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %SA: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %SB: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %a = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %a_0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_2 = tt.expand_dims %a {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32x1xi32, #blocked>
    %a_3 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<32x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_1 {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<32x1xi32, #blocked2>
    %a_5 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked>
    %a_6 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked1>
    %a_7 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked2>
    %a_8 = arith.muli %a_2, %a_5 : tensor<32x1xi32, #blocked>
    %a_9 = arith.muli %a_3, %a_6 : tensor<32x1xi32, #blocked1>
    %a_10 = arith.muli %a_4, %a_7 : tensor<32x1xi32, #blocked2>
    %a_11 = tt.splat %A : !tt.ptr<f8E4M3FN> -> tensor<32x1x!tt.ptr<f8E4M3FN>, #blocked>
    %a_12 = tt.addptr %a_11, %a_8 : tensor<32x1x!tt.ptr<f8E4M3FN>, #blocked>, tensor<32x1xi32, #blocked>
    %a_13 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_14 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %a_15 = tt.broadcast %a_12 : tensor<32x1x!tt.ptr<f8E4M3FN>, #blocked> -> tensor<32x128x!tt.ptr<f8E4M3FN>, #blocked>
    %a_16 = tt.broadcast %a_14 : tensor<1x128xi32, #blocked> -> tensor<32x128xi32, #blocked>
    %a_17 = tt.addptr %a_15, %a_16 : tensor<32x128x!tt.ptr<f8E4M3FN>, #blocked>, tensor<32x128xi32, #blocked>
    %a_18 = tt.load %a_17 : tensor<32x128x!tt.ptr<f8E4M3FN>, #blocked>
    %a_19 = ttg.convert_layout %a_18 : tensor<32x128xf8E4M3FN, #blocked> -> tensor<32x128xf8E4M3FN, #blocked3>
    %b = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %b_20 = tt.expand_dims %b {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<128x1xi32, #blocked4>
    %b_21 = tt.splat %s : i32 -> tensor<128x1xi32, #blocked4>
    %b_22 = arith.muli %b_20, %b_21 : tensor<128x1xi32, #blocked4>
    %b_23 = tt.splat %B : !tt.ptr<f8E5M2> -> tensor<128x1x!tt.ptr<f8E5M2>, #blocked4>
    %b_24 = tt.addptr %b_23, %b_22 : tensor<128x1x!tt.ptr<f8E5M2>, #blocked4>, tensor<128x1xi32, #blocked4>
    %b_25 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %b_26 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %b_27 = tt.expand_dims %b_25 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x64xi32, #blocked4>
    %b_28 = tt.expand_dims %b_26 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %b_29 = tt.broadcast %b_24 : tensor<128x1x!tt.ptr<f8E5M2>, #blocked4> -> tensor<128x64x!tt.ptr<f8E5M2>, #blocked4>
    %b_30 = tt.broadcast %b_27 : tensor<1x64xi32, #blocked4> -> tensor<128x64xi32, #blocked4>
    %b_31 = tt.addptr %b_29, %b_30 : tensor<128x64x!tt.ptr<f8E5M2>, #blocked4>, tensor<128x64xi32, #blocked4>
    %b_32 = tt.load %b_31 : tensor<128x64x!tt.ptr<f8E5M2>, #blocked4>
    %b_33 = ttg.convert_layout %b_32 : tensor<128x64xf8E5M2, #blocked4> -> tensor<128x64xf8E5M2, #blocked3>
    %sa = tt.splat %SA : !tt.ptr<i8> -> tensor<32x1x!tt.ptr<i8>, #blocked2>
    %sa_34 = tt.addptr %sa, %a_10 : tensor<32x1x!tt.ptr<i8>, #blocked2>, tensor<32x1xi32, #blocked2>
    %sa_35 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %sa_36 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %sa_37 = tt.expand_dims %sa_35 {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x4xi32, #blocked2>
    %sa_38 = tt.expand_dims %sa_36 {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x4xi32, #blocked5>
    %sa_39 = tt.broadcast %sa_34 : tensor<32x1x!tt.ptr<i8>, #blocked2> -> tensor<32x4x!tt.ptr<i8>, #blocked2>
    %sa_40 = tt.broadcast %sa_37 : tensor<1x4xi32, #blocked2> -> tensor<32x4xi32, #blocked2>
    %sa_41 = tt.addptr %sa_39, %sa_40 : tensor<32x4x!tt.ptr<i8>, #blocked2>, tensor<32x4xi32, #blocked2>
    %sa_42 = tt.load %sa_41 : tensor<32x4x!tt.ptr<i8>, #blocked2>
    %sa_43 = ttg.convert_layout %sa_42 : tensor<32x4xi8, #blocked2> -> tensor<32x4xi8, #blocked6>
    %sb = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked5}>>
    %sb_44 = tt.expand_dims %sb {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked5}>> -> tensor<64x1xi32, #blocked5>
    %sb_45 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked5>
    %sb_46 = arith.muli %sb_44, %sb_45 : tensor<64x1xi32, #blocked5>
    %sb_47 = tt.splat %SB : !tt.ptr<i8> -> tensor<64x1x!tt.ptr<i8>, #blocked5>
    %sb_48 = tt.addptr %sb_47, %sb_46 : tensor<64x1x!tt.ptr<i8>, #blocked5>, tensor<64x1xi32, #blocked5>
    %sb_49 = tt.broadcast %sb_48 : tensor<64x1x!tt.ptr<i8>, #blocked5> -> tensor<64x4x!tt.ptr<i8>, #blocked5>
    %sb_50 = tt.broadcast %sa_38 : tensor<1x4xi32, #blocked5> -> tensor<64x4xi32, #blocked5>
    %sb_51 = tt.addptr %sb_49, %sb_50 : tensor<64x4x!tt.ptr<i8>, #blocked5>, tensor<64x4xi32, #blocked5>
    %sb_52 = tt.load %sb_51 : tensor<64x4x!tt.ptr<i8>, #blocked5>
    %sb_53 = ttg.convert_layout %sb_52 : tensor<64x4xi8, #blocked5> -> tensor<64x4xi8, #blocked6>
    %c = tt.splat %C : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>, #blocked1>
    %c_54 = tt.addptr %c, %a_9 : tensor<32x1x!tt.ptr<f32>, #blocked1>, tensor<32x1xi32, #blocked1>
    %c_55 = tt.broadcast %c_54 : tensor<32x1x!tt.ptr<f32>, #blocked1> -> tensor<32x64x!tt.ptr<f32>, #blocked1>
    %c_56 = tt.broadcast %b_28 : tensor<1x64xi32, #blocked1> -> tensor<32x64xi32, #blocked1>
    %c_57 = tt.addptr %c_55, %c_56 : tensor<32x64x!tt.ptr<f32>, #blocked1>, tensor<32x64xi32, #blocked1>
    %c_58 = tt.load %c_57 : tensor<32x64x!tt.ptr<f32>, #blocked1>
    %c_59 = ttg.convert_layout %c_58 : tensor<32x64xf32, #blocked1> -> tensor<32x64xf32, #blocked3>
    %0 = tt.dot_scaled %a_19 scale %sa_43, %b_33 scale %sb_53, %c_59 lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<32x128xf8E4M3FN, #blocked3>, tensor<32x4xi8, #blocked6> * tensor<128x64xf8E5M2, #blocked3>, tensor<64x4xi8, #blocked6> -> tensor<32x64xf32, #blocked3>
    %1 = ttg.convert_layout %0 : tensor<32x64xf32, #blocked3> -> tensor<32x64xf32, #blocked1>
    tt.store %c_57, %1 : tensor<32x64x!tt.ptr<f32>, #blocked1>
    tt.return
  }
}
