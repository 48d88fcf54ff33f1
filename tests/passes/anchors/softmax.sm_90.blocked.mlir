#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @softmax(%X: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %Y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sx: i32 {tt.divisibility = 16 : i32}, %sy: i32 {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
    %x = arith.constant -1.000000e+30 : f32
    %r = arith.constant 16 : i32
    %r_0 = tt.get_program_id x : i32
    %r_1 = arith.muli %r_0, %r : i32
    %r_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked>
    %r_3 = tt.splat %r_1 : i32 -> tensor<16xi32, #blocked>
    %r_4 = arith.addi %r_3, %r_2 : tensor<16xi32, #blocked>
    %c = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %x_5 = ttg.convert_layout %c : tensor<256xi32, #blocked> -> tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %x_6 = tt.expand_dims %x_5 {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x256xi32, #blocked1>
    %x_7 = ttg.convert_layout %x_6 : tensor<1x256xi32, #blocked1> -> tensor<1x256xi32, #blocked2>
    %x_8 = ttg.convert_layout %x_6 : tensor<1x256xi32, #blocked1> -> tensor<1x256xi32, #blocked2>
    %x_9 = tt.splat %n : i32 -> tensor<1x256xi32, #blocked2>
    %x_10 = arith.cmpi slt, %x_8, %x_9 : tensor<1x256xi32, #blocked2>
    %x_11 = ttg.convert_layout %r_4 : tensor<16xi32, #blocked> -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %x_12 = tt.expand_dims %x_11 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<16x1xi32, #blocked3>
    %0 = ttg.convert_layout %x_12 : tensor<16x1xi32, #blocked3> -> tensor<16x1xi32, #blocked4>
    %x_13 = ttg.convert_layout %x_12 : tensor<16x1xi32, #blocked3> -> tensor<16x1xi32, #blocked4>
    %x_14 = tt.splat %sx : i32 -> tensor<16x1xi32, #blocked4>
    %x_15 = arith.muli %x_13, %x_14 : tensor<16x1xi32, #blocked4>
    %x_16 = tt.splat %X : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked4>
    %x_17 = tt.addptr %x_16, %x_15 : tensor<16x1x!tt.ptr<f16>, #blocked4>, tensor<16x1xi32, #blocked4>
    %x_18 = tt.broadcast %x_17 : tensor<16x1x!tt.ptr<f16>, #blocked4> -> tensor<16x256x!tt.ptr<f16>, #blocked4>
    %x_19 = ttg.convert_layout %x_18 : tensor<16x256x!tt.ptr<f16>, #blocked4> -> tensor<16x256x!tt.ptr<f16>, #blocked2>
    %x_20 = tt.broadcast %x_7 : tensor<1x256xi32, #blocked2> -> tensor<16x256xi32, #blocked2>
    %x_21 = tt.addptr %x_19, %x_20 : tensor<16x256x!tt.ptr<f16>, #blocked2>, tensor<16x256xi32, #blocked2>
    %x_22 = tt.broadcast %x_10 : tensor<1x256xi1, #blocked2> -> tensor<16x256xi1, #blocked2>
    %x_23 = arith.truncf %x : f32 to f16
    %x_24 = tt.splat %x_23 : f16 -> tensor<16x256xf16, #blocked2>
    %x_25 = tt.load %x_21, %x_22, %x_24 : tensor<16x256x!tt.ptr<f16>, #blocked2>
    %x_26 = arith.extf %x_25 : tensor<16x256xf16, #blocked2> to tensor<16x256xf32, #blocked2>
    %x_27 = "tt.reduce"(%x_26) <{axis = 1 : i32}> ({
    ^bb0(%x_43: f32, %x_44: f32):
      %x_45 = arith.maxnumf %x_43, %x_44 : f32
      tt.reduce.return %x_45 : f32
    }) : (tensor<16x256xf32, #blocked2>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %x_28 = ttg.convert_layout %x_27 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16xf32, #blocked>
    %x_29 = ttg.convert_layout %x_28 : tensor<16xf32, #blocked> -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %x_30 = tt.expand_dims %x_29 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<16x1xf32, #blocked3>
    %x_31 = ttg.convert_layout %x_30 : tensor<16x1xf32, #blocked3> -> tensor<16x1xf32, #blocked4>
    %x_32 = tt.broadcast %x_31 : tensor<16x1xf32, #blocked4> -> tensor<16x256xf32, #blocked4>
    %x_33 = ttg.convert_layout %x_32 : tensor<16x256xf32, #blocked4> -> tensor<16x256xf32, #blocked2>
    %x_34 = arith.subf %x_26, %x_33 : tensor<16x256xf32, #blocked2>
    %e = math.exp %x_34 : tensor<16x256xf32, #blocked2>
    %e_35 = "tt.reduce"(%e) <{axis = 1 : i32}> ({
    ^bb0(%e_43: f32, %e_44: f32):
      %e_45 = arith.addf %e_43, %e_44 : f32
      tt.reduce.return %e_45 : f32
    }) : (tensor<16x256xf32, #blocked2>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %e_36 = ttg.convert_layout %e_35 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16xf32, #blocked>
    %e_37 = ttg.convert_layout %e_36 : tensor<16xf32, #blocked> -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %e_38 = tt.expand_dims %e_37 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<16x1xf32, #blocked3>
    %e_39 = ttg.convert_layout %e_38 : tensor<16x1xf32, #blocked3> -> tensor<16x1xf32, #blocked4>
    %e_40 = tt.broadcast %e_39 : tensor<16x1xf32, #blocked4> -> tensor<16x256xf32, #blocked4>
    %e_41 = ttg.convert_layout %e_40 : tensor<16x256xf32, #blocked4> -> tensor<16x256xf32, #blocked2>
    %e_42 = arith.divf %e, %e_41 : tensor<16x256xf32, #blocked2>
    %1 = tt.splat %sy : i32 -> tensor<16x1xi32, #blocked4>
    %2 = arith.muli %0, %1 : tensor<16x1xi32, #blocked4>
    %3 = tt.splat %Y : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked4>
    %4 = tt.addptr %3, %2 : tensor<16x1x!tt.ptr<f16>, #blocked4>, tensor<16x1xi32, #blocked4>
    %5 = tt.broadcast %4 : tensor<16x1x!tt.ptr<f16>, #blocked4> -> tensor<16x256x!tt.ptr<f16>, #blocked4>
    %6 = ttg.convert_layout %5 : tensor<16x256x!tt.ptr<f16>, #blocked4> -> tensor<16x256x!tt.ptr<f16>, #blocked2>
    %7 = tt.addptr %6, %x_20 : tensor<16x256x!tt.ptr<f16>, #blocked2>, tensor<16x256xi32, #blocked2>
    %8 = arith.truncf %e_42 : tensor<16x256xf32, #blocked2> to tensor<16x256xf16, #blocked2>
    tt.store %7, %8, %x_22 : tensor<16x256x!tt.ptr<f16>, #blocked2>
    tt.return
  }
}
