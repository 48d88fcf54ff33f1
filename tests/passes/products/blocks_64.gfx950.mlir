#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [2, 4], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [32, 2], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @scaled_blocks(%A: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %SA: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %SB: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %a = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %a_0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_2 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %a_3 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %a_4 = tt.expand_dims %a_1 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %a_5 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked>
    %a_6 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked1>
    %a_7 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked2>
    %a_8 = arith.muli %a_2, %a_5 : tensor<64x1xi32, #blocked>
    %a_9 = arith.muli %a_3, %a_6 : tensor<64x1xi32, #blocked1>
    %a_10 = arith.muli %a_4, %a_7 : tensor<64x1xi32, #blocked2>
    %a_11 = tt.splat %A : !tt.ptr<f8E5M2> -> tensor<64x1x!tt.ptr<f8E5M2>, #blocked>
    %a_12 = tt.addptr %a_11, %a_8 : tensor<64x1x!tt.ptr<f8E5M2>, #blocked>, tensor<64x1xi32, #blocked>
    %a_13 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_14 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x256xi32, #blocked>
    %a_15 = tt.broadcast %a_12 : tensor<64x1x!tt.ptr<f8E5M2>, #blocked> -> tensor<64x256x!tt.ptr<f8E5M2>, #blocked>
    %a_16 = tt.broadcast %a_14 : tensor<1x256xi32, #blocked> -> tensor<64x256xi32, #blocked>
    %a_17 = tt.addptr %a_15, %a_16 : tensor<64x256x!tt.ptr<f8E5M2>, #blocked>, tensor<64x256xi32, #blocked>
    %a_18 = tt.load %a_17 : tensor<64x256x!tt.ptr<f8E5M2>, #blocked>
    %a_19 = ttg.convert_layout %a_18 : tensor<64x256xf8E5M2, #blocked> -> tensor<64x256xf8E5M2, #blocked3>
    %b = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %b_20 = tt.expand_dims %b {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<256x1xi32, #blocked4>
    %b_21 = tt.splat %s : i32 -> tensor<256x1xi32, #blocked4>
    %b_22 = arith.muli %b_20, %b_21 : tensor<256x1xi32, #blocked4>
    %b_23 = tt.splat %B : !tt.ptr<f8E4M3FN> -> tensor<256x1x!tt.ptr<f8E4M3FN>, #blocked4>
    %b_24 = tt.addptr %b_23, %b_22 : tensor<256x1x!tt.ptr<f8E4M3FN>, #blocked4>, tensor<256x1xi32, #blocked4>
    %b_25 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %b_26 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %b_27 = tt.expand_dims %b_25 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x32xi32, #blocked4>
    %b_28 = tt.expand_dims %b_26 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x32xi32, #blocked2>
    %b_29 = tt.broadcast %b_24 : tensor<256x1x!tt.ptr<f8E4M3FN>, #blocked4> -> tensor<256x32x!tt.ptr<f8E4M3FN>, #blocked4>
    %b_30 = tt.broadcast %b_27 : tensor<1x32xi32, #blocked4> -> tensor<256x32xi32, #blocked4>
    %b_31 = tt.addptr %b_29, %b_30 : tensor<256x32x!tt.ptr<f8E4M3FN>, #blocked4>, tensor<256x32xi32, #blocked4>
    %b_32 = tt.load %b_31 : tensor<256x32x!tt.ptr<f8E4M3FN>, #blocked4>
    %b_33 = ttg.convert_layout %b_32 : tensor<256x32xf8E4M3FN, #blocked4> -> tensor<256x32xf8E4M3FN, #blocked5>
    %sa = tt.splat %SA : !tt.ptr<i8> -> tensor<64x1x!tt.ptr<i8>, #blocked1>
    %sa_34 = tt.addptr %sa, %a_9 : tensor<64x1x!tt.ptr<i8>, #blocked1>, tensor<64x1xi32, #blocked1>
    %sa_35 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %sa_36 = tt.expand_dims %sa_35 {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x8xi32, #blocked1>
    %sa_37 = tt.broadcast %sa_34 : tensor<64x1x!tt.ptr<i8>, #blocked1> -> tensor<64x8x!tt.ptr<i8>, #blocked1>
    %sa_38 = tt.broadcast %sa_36 : tensor<1x8xi32, #blocked1> -> tensor<64x8xi32, #blocked1>
    %sa_39 = tt.addptr %sa_37, %sa_38 : tensor<64x8x!tt.ptr<i8>, #blocked1>, tensor<64x8xi32, #blocked1>
    %sa_40 = tt.load %sa_39 : tensor<64x8x!tt.ptr<i8>, #blocked1>
    %sb = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %sb_41 = tt.expand_dims %sb {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<32x1xi32, #blocked1>
    %sb_42 = tt.splat %s : i32 -> tensor<32x1xi32, #blocked1>
    %sb_43 = arith.muli %sb_41, %sb_42 : tensor<32x1xi32, #blocked1>
    %sb_44 = tt.splat %SB : !tt.ptr<i8> -> tensor<32x1x!tt.ptr<i8>, #blocked1>
    %sb_45 = tt.addptr %sb_44, %sb_43 : tensor<32x1x!tt.ptr<i8>, #blocked1>, tensor<32x1xi32, #blocked1>
    %sb_46 = tt.broadcast %sb_45 : tensor<32x1x!tt.ptr<i8>, #blocked1> -> tensor<32x8x!tt.ptr<i8>, #blocked1>
    %sb_47 = tt.broadcast %sa_36 : tensor<1x8xi32, #blocked1> -> tensor<32x8xi32, #blocked1>
    %sb_48 = tt.addptr %sb_46, %sb_47 : tensor<32x8x!tt.ptr<i8>, #blocked1>, tensor<32x8xi32, #blocked1>
    %sb_49 = tt.load %sb_48 : tensor<32x8x!tt.ptr<i8>, #blocked1>
    %c = tt.splat %C : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>, #blocked2>
    %c_50 = tt.addptr %c, %a_10 : tensor<64x1x!tt.ptr<f32>, #blocked2>, tensor<64x1xi32, #blocked2>
    %c_51 = tt.broadcast %c_50 : tensor<64x1x!tt.ptr<f32>, #blocked2> -> tensor<64x32x!tt.ptr<f32>, #blocked2>
    %c_52 = tt.broadcast %b_28 : tensor<1x32xi32, #blocked2> -> tensor<64x32xi32, #blocked2>
    %c_53 = tt.addptr %c_51, %c_52 : tensor<64x32x!tt.ptr<f32>, #blocked2>, tensor<64x32xi32, #blocked2>
    %c_54 = tt.load %c_53 : tensor<64x32x!tt.ptr<f32>, #blocked2>
    %c_55 = ttg.convert_layout %c_54 : tensor<64x32xf32, #blocked2> -> tensor<64x32xf32, #blocked5>
    %0 = tt.dot_scaled %a_19 scale %sa_40, %b_33 scale %sb_49, %c_55 lhs = e5m2 rhs = e4m3 {fastMath = false} : tensor<64x256xf8E5M2, #blocked3>, tensor<64x8xi8, #blocked1> * tensor<256x32xf8E4M3FN, #blocked5>, tensor<32x8xi8, #blocked1> -> tensor<64x32xf32, #blocked5>
    %1 = ttg.convert_layout %0 : tensor<64x32xf32, #blocked5> -> tensor<64x32xf32, #blocked2>
    tt.store %c_53, %1 : tensor<64x32x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
