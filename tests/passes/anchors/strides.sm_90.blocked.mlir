#blocked = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [2, 16, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [32, 1, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [32, 1, 1], warpsPerCTA = [4, 1, 1], order = [0, 1, 2]}>
#blocked7 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked8 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked9 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [2, 16, 1], warpsPerCTA = [4, 1, 1], order = [0, 1, 2]}>
#blocked10 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked11 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [4, 1, 1], order = [0, 1, 2]}>
#blocked12 = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @strides(%X: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %Y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<16> : tensor<1x1x32xi32, #blocked>
    %z = arith.constant dense<3> : tensor<1x1x32xi32, #blocked>
    %z_0 = arith.constant dense<4> : tensor<1x16x1xi32, #blocked1>
    %cst_1 = arith.constant dense<8> : tensor<8x1x1xi32, #blocked2>
    %y = arith.constant dense<128> : tensor<1x1x32xi32, #blocked>
    %y_2 = arith.constant dense<8> : tensor<1x16x1xi32, #blocked1>
    %x = arith.constant dense<32> : tensor<1x16x1xi32, #blocked1>
    %x_3 = arith.constant dense<512> : tensor<8x1x1xi32, #blocked2>
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #blocked3>
    %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked3>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked3>
    %x_4 = ttg.convert_layout %i : tensor<8xi32, #blocked3> -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %x_5 = tt.expand_dims %x_4 {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<8x1xi32, #blocked4>
    %x_6 = ttg.convert_layout %x_5 : tensor<8x1xi32, #blocked4> -> tensor<8x1xi32, #blocked5>
    %x_7 = ttg.convert_layout %x_6 : tensor<8x1xi32, #blocked5> -> tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked6}>>
    %x_8 = tt.expand_dims %x_7 {axis = 2 : i32} : tensor<8x1xi32, #ttg.slice<{dim = 2, parent = #blocked6}>> -> tensor<8x1x1xi32, #blocked6>
    %z_9 = ttg.convert_layout %x_8 : tensor<8x1x1xi32, #blocked6> -> tensor<8x1x1xi32, #blocked2>
    %y_10 = ttg.convert_layout %x_8 : tensor<8x1x1xi32, #blocked6> -> tensor<8x1x1xi32, #blocked2>
    %x_11 = ttg.convert_layout %x_8 : tensor<8x1x1xi32, #blocked6> -> tensor<8x1x1xi32, #blocked2>
    %x_12 = arith.muli %x_11, %x_3 : tensor<8x1x1xi32, #blocked2>
    %x_13 = tt.splat %X : !tt.ptr<f16> -> tensor<8x1x1x!tt.ptr<f16>, #blocked2>
    %x_14 = tt.addptr %x_13, %x_12 : tensor<8x1x1x!tt.ptr<f16>, #blocked2>, tensor<8x1x1xi32, #blocked2>
    %x_15 = ttg.convert_layout %j : tensor<16xi32, #blocked3> -> tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked7}>>
    %x_16 = tt.expand_dims %x_15 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked7}>> -> tensor<1x16xi32, #blocked7>
    %x_17 = ttg.convert_layout %x_16 : tensor<1x16xi32, #blocked7> -> tensor<1x16xi32, #blocked8>
    %x_18 = ttg.convert_layout %x_17 : tensor<1x16xi32, #blocked8> -> tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked9}>>
    %x_19 = tt.expand_dims %x_18 {axis = 2 : i32} : tensor<1x16xi32, #ttg.slice<{dim = 2, parent = #blocked9}>> -> tensor<1x16x1xi32, #blocked9>
    %0 = ttg.convert_layout %x_19 : tensor<1x16x1xi32, #blocked9> -> tensor<1x16x1xi32, #blocked1>
    %z_20 = ttg.convert_layout %x_19 : tensor<1x16x1xi32, #blocked9> -> tensor<1x16x1xi32, #blocked1>
    %y_21 = ttg.convert_layout %x_19 : tensor<1x16x1xi32, #blocked9> -> tensor<1x16x1xi32, #blocked1>
    %x_22 = ttg.convert_layout %x_19 : tensor<1x16x1xi32, #blocked9> -> tensor<1x16x1xi32, #blocked1>
    %x_23 = arith.muli %x_22, %x : tensor<1x16x1xi32, #blocked1>
    %x_24 = tt.broadcast %x_14 : tensor<8x1x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked2>
    %x_25 = ttg.convert_layout %x_24 : tensor<8x16x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked1>
    %x_26 = tt.broadcast %x_23 : tensor<1x16x1xi32, #blocked1> -> tensor<8x16x1xi32, #blocked1>
    %x_27 = tt.addptr %x_25, %x_26 : tensor<8x16x1x!tt.ptr<f16>, #blocked1>, tensor<8x16x1xi32, #blocked1>
    %x_28 = ttg.convert_layout %k : tensor<32xi32, #blocked3> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked7}>>
    %x_29 = tt.expand_dims %x_28 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked7}>> -> tensor<1x32xi32, #blocked7>
    %x_30 = ttg.convert_layout %x_29 : tensor<1x32xi32, #blocked7> -> tensor<1x32xi32, #blocked10>
    %x_31 = ttg.convert_layout %x_30 : tensor<1x32xi32, #blocked10> -> tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked11}>>
    %x_32 = tt.expand_dims %x_31 {axis = 1 : i32} : tensor<1x32xi32, #ttg.slice<{dim = 1, parent = #blocked11}>> -> tensor<1x1x32xi32, #blocked11>
    %1 = ttg.convert_layout %x_32 : tensor<1x1x32xi32, #blocked11> -> tensor<1x1x32xi32, #blocked>
    %z_33 = ttg.convert_layout %x_32 : tensor<1x1x32xi32, #blocked11> -> tensor<1x1x32xi32, #blocked>
    %y_34 = ttg.convert_layout %x_32 : tensor<1x1x32xi32, #blocked11> -> tensor<1x1x32xi32, #blocked>
    %x_35 = ttg.convert_layout %x_32 : tensor<1x1x32xi32, #blocked11> -> tensor<1x1x32xi32, #blocked>
    %x_36 = tt.broadcast %x_27 : tensor<8x16x1x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked1>
    %x_37 = ttg.convert_layout %x_36 : tensor<8x16x32x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %x_38 = tt.broadcast %x_35 : tensor<1x1x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked>
    %x_39 = ttg.convert_layout %x_38 : tensor<8x16x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked12>
    %x_40 = tt.addptr %x_37, %x_39 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>, tensor<8x16x32xi32, #blocked12>
    %x_41 = tt.load %x_40 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %y_42 = tt.splat %Y : !tt.ptr<f16> -> tensor<8x1x1x!tt.ptr<f16>, #blocked2>
    %y_43 = tt.addptr %y_42, %y_10 : tensor<8x1x1x!tt.ptr<f16>, #blocked2>, tensor<8x1x1xi32, #blocked2>
    %y_44 = arith.muli %y_21, %y_2 : tensor<1x16x1xi32, #blocked1>
    %y_45 = tt.broadcast %y_43 : tensor<8x1x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked2>
    %y_46 = ttg.convert_layout %y_45 : tensor<8x16x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked1>
    %y_47 = tt.broadcast %y_44 : tensor<1x16x1xi32, #blocked1> -> tensor<8x16x1xi32, #blocked1>
    %y_48 = tt.addptr %y_46, %y_47 : tensor<8x16x1x!tt.ptr<f16>, #blocked1>, tensor<8x16x1xi32, #blocked1>
    %y_49 = arith.muli %y_34, %y : tensor<1x1x32xi32, #blocked>
    %y_50 = tt.broadcast %y_48 : tensor<8x16x1x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked1>
    %y_51 = ttg.convert_layout %y_50 : tensor<8x16x32x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %y_52 = tt.broadcast %y_49 : tensor<1x1x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked>
    %y_53 = ttg.convert_layout %y_52 : tensor<8x16x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked12>
    %y_54 = tt.addptr %y_51, %y_53 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>, tensor<8x16x32xi32, #blocked12>
    %y_55 = tt.load %y_54 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %z_56 = tt.splat %s : i32 -> tensor<8x1x1xi32, #blocked2>
    %z_57 = arith.muli %z_9, %z_56 : tensor<8x1x1xi32, #blocked2>
    %z_58 = arith.divsi %z_57, %cst_1 : tensor<8x1x1xi32, #blocked2>
    %z_59 = arith.muli %z_58, %cst_1 : tensor<8x1x1xi32, #blocked2>
    %z_60 = tt.addptr %y_42, %z_59 : tensor<8x1x1x!tt.ptr<f16>, #blocked2>, tensor<8x1x1xi32, #blocked2>
    %z_61 = arith.muli %z_20, %z_0 : tensor<1x16x1xi32, #blocked1>
    %z_62 = tt.broadcast %z_60 : tensor<8x1x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked2>
    %z_63 = ttg.convert_layout %z_62 : tensor<8x16x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked1>
    %z_64 = tt.broadcast %z_61 : tensor<1x16x1xi32, #blocked1> -> tensor<8x16x1xi32, #blocked1>
    %z_65 = tt.addptr %z_63, %z_64 : tensor<8x16x1x!tt.ptr<f16>, #blocked1>, tensor<8x16x1xi32, #blocked1>
    %z_66 = arith.andi %z_33, %z : tensor<1x1x32xi32, #blocked>
    %z_67 = tt.broadcast %z_65 : tensor<8x16x1x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked1>
    %z_68 = ttg.convert_layout %z_67 : tensor<8x16x32x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %z_69 = tt.broadcast %z_66 : tensor<1x1x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked>
    %z_70 = ttg.convert_layout %z_69 : tensor<8x16x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked12>
    %z_71 = tt.addptr %z_68, %z_70 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>, tensor<8x16x32xi32, #blocked12>
    %z_72 = tt.load %z_71 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %2 = tt.addptr %y_42, %z_57 : tensor<8x1x1x!tt.ptr<f16>, #blocked2>, tensor<8x1x1xi32, #blocked2>
    %3 = tt.broadcast %2 : tensor<8x1x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked2>
    %4 = ttg.convert_layout %3 : tensor<8x16x1x!tt.ptr<f16>, #blocked2> -> tensor<8x16x1x!tt.ptr<f16>, #blocked1>
    %5 = tt.broadcast %0 : tensor<1x16x1xi32, #blocked1> -> tensor<8x16x1xi32, #blocked1>
    %6 = tt.addptr %4, %5 : tensor<8x16x1x!tt.ptr<f16>, #blocked1>, tensor<8x16x1xi32, #blocked1>
    %7 = arith.muli %1, %cst : tensor<1x1x32xi32, #blocked>
    %8 = tt.broadcast %6 : tensor<8x16x1x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked1>
    %9 = ttg.convert_layout %8 : tensor<8x16x32x!tt.ptr<f16>, #blocked1> -> tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    %10 = tt.broadcast %7 : tensor<1x1x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked>
    %11 = ttg.convert_layout %10 : tensor<8x16x32xi32, #blocked> -> tensor<8x16x32xi32, #blocked12>
    %12 = tt.addptr %9, %11 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>, tensor<8x16x32xi32, #blocked12>
    %13 = arith.addf %x_41, %y_55 : tensor<8x16x32xf16, #blocked12>
    %14 = arith.addf %13, %z_72 : tensor<8x16x32xf16, #blocked12>
    tt.store %12, %14 : tensor<8x16x32x!tt.ptr<f16>, #blocked12>
    tt.return
  }
}
