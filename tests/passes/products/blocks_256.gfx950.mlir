#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked7 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @scaled_blocks(%A: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %SA: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %SB: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %a = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %a_0 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %a_1 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_2 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_3 = tt.expand_dims %a {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<256x1xi32, #blocked>
    %a_4 = tt.expand_dims %a_0 {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<256x1xi32, #blocked1>
    %a_5 = tt.expand_dims %a_1 {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<256x1xi32, #blocked2>
    %a_6 = tt.expand_dims %a_2 {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<256x1xi32, #blocked3>
    %a_7 = tt.splat %s : i32 -> tensor<256x1xi32, #blocked>
    %a_8 = tt.splat %s : i32 -> tensor<256x1xi32, #blocked1>
    %a_9 = tt.splat %s : i32 -> tensor<256x1xi32, #blocked2>
    %a_10 = tt.splat %s : i32 -> tensor<256x1xi32, #blocked3>
    %a_11 = arith.muli %a_3, %a_7 : tensor<256x1xi32, #blocked>
    %a_12 = arith.muli %a_4, %a_8 : tensor<256x1xi32, #blocked1>
    %a_13 = arith.muli %a_5, %a_9 : tensor<256x1xi32, #blocked2>
    %a_14 = arith.muli %a_6, %a_10 : tensor<256x1xi32, #blocked3>
    %a_15 = tt.splat %A : !tt.ptr<f8E5M2> -> tensor<256x1x!tt.ptr<f8E5M2>, #blocked>
    %a_16 = tt.addptr %a_15, %a_11 : tensor<256x1x!tt.ptr<f8E5M2>, #blocked>, tensor<256x1xi32, #blocked>
    %a_17 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %a_18 = tt.expand_dims %a_17 {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x256xi32, #blocked>
    %a_19 = tt.broadcast %a_16 : tensor<256x1x!tt.ptr<f8E5M2>, #blocked> -> tensor<256x256x!tt.ptr<f8E5M2>, #blocked>
    %a_20 = tt.broadcast %a_18 : tensor<1x256xi32, #blocked> -> tensor<256x256xi32, #blocked>
    %a_21 = tt.addptr %a_19, %a_20 : tensor<256x256x!tt.ptr<f8E5M2>, #blocked>, tensor<256x256xi32, #blocked>
    %a_22 = tt.load %a_21 : tensor<256x256x!tt.ptr<f8E5M2>, #blocked>
    %a_23 = ttg.convert_layout %a_22 : tensor<256x256xf8E5M2, #blocked> -> tensor<256x256xf8E5M2, #blocked4>
    %b = tt.splat %B : !tt.ptr<f8E5M2> -> tensor<256x1x!tt.ptr<f8E5M2>, #blocked1>
    %b_24 = tt.addptr %b, %a_12 : tensor<256x1x!tt.ptr<f8E5M2>, #blocked1>, tensor<256x1xi32, #blocked1>
    %b_25 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %b_26 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %b_27 = tt.expand_dims %b_25 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %b_28 = tt.expand_dims %b_26 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
    %b_29 = tt.broadcast %b_24 : tensor<256x1x!tt.ptr<f8E5M2>, #blocked1> -> tensor<256x64x!tt.ptr<f8E5M2>, #blocked1>
    %b_30 = tt.broadcast %b_27 : tensor<1x64xi32, #blocked1> -> tensor<256x64xi32, #blocked1>
    %b_31 = tt.broadcast %b_28 : tensor<1x64xi32, #blocked2> -> tensor<256x64xi32, #blocked2>
    %b_32 = tt.addptr %b_29, %b_30 : tensor<256x64x!tt.ptr<f8E5M2>, #blocked1>, tensor<256x64xi32, #blocked1>
    %b_33 = tt.load %b_32 : tensor<256x64x!tt.ptr<f8E5M2>, #blocked1>
    %b_34 = ttg.convert_layout %b_33 : tensor<256x64xf8E5M2, #blocked1> -> tensor<256x64xf8E5M2, #blocked5>
    %sa = tt.splat %SA : !tt.ptr<i8> -> tensor<256x1x!tt.ptr<i8>, #blocked3>
    %sa_35 = tt.addptr %sa, %a_14 : tensor<256x1x!tt.ptr<i8>, #blocked3>, tensor<256x1xi32, #blocked3>
    %sa_36 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %sa_37 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked6}>>
    %sa_38 = tt.expand_dims %sa_36 {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x8xi32, #blocked3>
    %sa_39 = tt.expand_dims %sa_37 {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked6}>> -> tensor<1x8xi32, #blocked6>
    %sa_40 = tt.broadcast %sa_35 : tensor<256x1x!tt.ptr<i8>, #blocked3> -> tensor<256x8x!tt.ptr<i8>, #blocked3>
    %sa_41 = tt.broadcast %sa_38 : tensor<1x8xi32, #blocked3> -> tensor<256x8xi32, #blocked3>
    %sa_42 = tt.addptr %sa_40, %sa_41 : tensor<256x8x!tt.ptr<i8>, #blocked3>, tensor<256x8xi32, #blocked3>
    %sa_43 = tt.load %sa_42 : tensor<256x8x!tt.ptr<i8>, #blocked3>
    %sa_44 = ttg.convert_layout %sa_43 : tensor<256x8xi8, #blocked3> -> tensor<256x8xi8, #blocked7>
    %sb = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked6}>>
    %sb_45 = tt.expand_dims %sb {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked6}>> -> tensor<64x1xi32, #blocked6>
    %sb_46 = tt.splat %s : i32 -> tensor<64x1xi32, #blocked6>
    %sb_47 = arith.muli %sb_45, %sb_46 : tensor<64x1xi32, #blocked6>
    %sb_48 = tt.splat %SB : !tt.ptr<i8> -> tensor<64x1x!tt.ptr<i8>, #blocked6>
    %sb_49 = tt.addptr %sb_48, %sb_47 : tensor<64x1x!tt.ptr<i8>, #blocked6>, tensor<64x1xi32, #blocked6>
    %sb_50 = tt.broadcast %sb_49 : tensor<64x1x!tt.ptr<i8>, #blocked6> -> tensor<64x8x!tt.ptr<i8>, #blocked6>
    %sb_51 = tt.broadcast %sa_39 : tensor<1x8xi32, #blocked6> -> tensor<64x8xi32, #blocked6>
    %sb_52 = tt.addptr %sb_50, %sb_51 : tensor<64x8x!tt.ptr<i8>, #blocked6>, tensor<64x8xi32, #blocked6>
    %sb_53 = tt.load %sb_52 : tensor<64x8x!tt.ptr<i8>, #blocked6>
    %sb_54 = ttg.convert_layout %sb_53 : tensor<64x8xi8, #blocked6> -> tensor<64x8xi8, #blocked7>
    %c = tt.splat %C : !tt.ptr<f32> -> tensor<256x1x!tt.ptr<f32>, #blocked1>
    %c_55 = tt.splat %C : !tt.ptr<f32> -> tensor<256x1x!tt.ptr<f32>, #blocked2>
    %c_56 = tt.addptr %c, %a_12 : tensor<256x1x!tt.ptr<f32>, #blocked1>, tensor<256x1xi32, #blocked1>
    %c_57 = tt.addptr %c_55, %a_13 : tensor<256x1x!tt.ptr<f32>, #blocked2>, tensor<256x1xi32, #blocked2>
    %c_58 = tt.broadcast %c_56 : tensor<256x1x!tt.ptr<f32>, #blocked1> -> tensor<256x64x!tt.ptr<f32>, #blocked1>
    %c_59 = tt.broadcast %c_57 : tensor<256x1x!tt.ptr<f32>, #blocked2> -> tensor<256x64x!tt.ptr<f32>, #blocked2>
    %c_60 = tt.addptr %c_58, %b_30 : tensor<256x64x!tt.ptr<f32>, #blocked1>, tensor<256x64xi32, #blocked1>
    %c_61 = tt.addptr %c_59, %b_31 : tensor<256x64x!tt.ptr<f32>, #blocked2>, tensor<256x64xi32, #blocked2>
    %c_62 = tt.load %c_60 : tensor<256x64x!tt.ptr<f32>, #blocked1>
    %c_63 = ttg.convert_layout %c_62 : tensor<256x64xf32, #blocked1> -> tensor<256x64xf32, #blocked5>
    %0 = tt.dot_scaled %a_23 scale %sa_44, %b_34 scale %sb_54, %c_63 lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<256x256xf8E5M2, #blocked4>, tensor<256x8xi8, #blocked7> * tensor<256x64xf8E5M2, #blocked5>, tensor<64x8xi8, #blocked7> -> tensor<256x64xf32, #blocked5>
    %1 = ttg.convert_layout %0 : tensor<256x64xf32, #blocked5> -> tensor<256x64xf32, #blocked2>
    tt.store %c_61, %1 : tensor<256x64x!tt.ptr<f32>, #blocked2>
    tt.return
  }
}
