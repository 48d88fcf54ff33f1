#blocked = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @attention(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %sk: i32 {tt.divisibility = 16 : i32}, %L: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x64xf32, #blocked>
    %rm = arith.constant 16 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<16x128xf32, #blocked1>
    %l = arith.constant dense<0.000000e+00> : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m = arith.constant dense<0xFF800000> : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rn = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %q = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
    %q_6 = tt.splat %sq : i32 -> tensor<16x1xi32, #blocked2>
    %q_7 = arith.muli %q, %q_6 : tensor<16x1xi32, #blocked2>
    %q_8 = tt.splat %Q : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked2>
    %q_9 = tt.addptr %q_8, %q_7 : tensor<16x1x!tt.ptr<f16>, #blocked2>, tensor<16x1xi32, #blocked2>
    %q_10 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %q_11 = tt.expand_dims %q_10 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %q_12 = tt.broadcast %q_9 : tensor<16x1x!tt.ptr<f16>, #blocked2> -> tensor<16x128x!tt.ptr<f16>, #blocked2>
    %q_13 = tt.broadcast %q_11 : tensor<1x128xi32, #blocked2> -> tensor<16x128xi32, #blocked2>
    %q_14 = tt.addptr %q_12, %q_13 : tensor<16x128x!tt.ptr<f16>, #blocked2>, tensor<16x128xi32, #blocked2>
    %q_15 = tt.load %q_14 : tensor<16x128x!tt.ptr<f16>, #blocked2>
    %k = tt.splat %sk : i32 -> tensor<1x64xi32, #blocked3>
    %k_16 = tt.splat %K : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>, #blocked3>
    %k_17 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %k_18 = tt.expand_dims %k_17 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %k_19 = tt.broadcast %k_18 : tensor<128x1xi32, #blocked3> -> tensor<128x64xi32, #blocked3>
    %s = tt.splat %scale : f32 -> tensor<16x64xf32, #blocked>
    %v = tt.splat %sk : i32 -> tensor<64x1xi32, #blocked2>
    %v_20 = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked2>
    %v_21 = tt.broadcast %q_11 : tensor<1x128xi32, #blocked2> -> tensor<64x128xi32, #blocked2>
    %acc_22:3 = scf.for %n = %c0_i32 to %L step %c64_i32 iter_args(%m_23 = %m, %l_24 = %l, %acc_25 = %acc) -> (tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<16x128xf32, #blocked1>)  : i32 {
      %k_26 = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
      %k_27 = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_28 = arith.addi %k_26, %rn : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
      %k_29 = arith.addi %k_27, %rn_5 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_30 = tt.expand_dims %k_28 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x64xi32, #blocked3>
      %k_31 = arith.muli %k_30, %k : tensor<1x64xi32, #blocked3>
      %k_32 = tt.addptr %k_16, %k_31 : tensor<1x64x!tt.ptr<f16>, #blocked3>, tensor<1x64xi32, #blocked3>
      %k_33 = tt.broadcast %k_32 : tensor<1x64x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked3>
      %k_34 = tt.addptr %k_33, %k_19 : tensor<128x64x!tt.ptr<f16>, #blocked3>, tensor<128x64xi32, #blocked3>
      %k_35 = tt.load %k_34 : tensor<128x64x!tt.ptr<f16>, #blocked3>
      %q_36 = ttg.convert_layout %q_15 : tensor<16x128xf16, #blocked2> -> tensor<16x128xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %k_37 = ttg.convert_layout %k_35 : tensor<128x64xf16, #blocked3> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %s_38 = tt.dot %q_36, %k_37, %cst, inputPrecision = tf32 : tensor<16x128xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<128x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<16x64xf32, #blocked>
      %s_39 = arith.mulf %s_38, %s : tensor<16x64xf32, #blocked>
      %mn = "tt.reduce"(%s_39) <{axis = 1 : i32}> ({
      ^bb0(%mn_62: f32, %mn_63: f32):
        %mn_64 = arith.maxnumf %mn_62, %mn_63 : f32
        tt.reduce.return %mn_64 : f32
      }) : (tensor<16x64xf32, #blocked>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %mn_40 = arith.maxnumf %m_23, %mn : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %p = tt.expand_dims %mn_40 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xf32, #blocked>
      %p_41 = tt.broadcast %p : tensor<16x1xf32, #blocked> -> tensor<16x64xf32, #blocked>
      %p_42 = arith.subf %s_39, %p_41 : tensor<16x64xf32, #blocked>
      %p_43 = math.exp2 %p_42 : tensor<16x64xf32, #blocked>
      %al = arith.subf %m_23, %mn_40 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %al_44 = math.exp2 %al : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_45 = arith.mulf %l_24, %al_44 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_46 = "tt.reduce"(%p_43) <{axis = 1 : i32}> ({
      ^bb0(%l_62: f32, %l_63: f32):
        %l_64 = arith.addf %l_62, %l_63 : f32
        tt.reduce.return %l_64 : f32
      }) : (tensor<16x64xf32, #blocked>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_47 = arith.addf %l_45, %l_46 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %v_48 = tt.expand_dims %k_29 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
      %v_49 = arith.muli %v_48, %v : tensor<64x1xi32, #blocked2>
      %v_50 = tt.addptr %v_20, %v_49 : tensor<64x1x!tt.ptr<f16>, #blocked2>, tensor<64x1xi32, #blocked2>
      %v_51 = tt.broadcast %v_50 : tensor<64x1x!tt.ptr<f16>, #blocked2> -> tensor<64x128x!tt.ptr<f16>, #blocked2>
      %v_52 = tt.addptr %v_51, %v_21 : tensor<64x128x!tt.ptr<f16>, #blocked2>, tensor<64x128xi32, #blocked2>
      %v_53 = tt.load %v_52 : tensor<64x128x!tt.ptr<f16>, #blocked2>
      %acc_54 = tt.expand_dims %al_44 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xf32, #blocked>
      %acc_55 = ttg.convert_layout %acc_54 : tensor<16x1xf32, #blocked> -> tensor<16x1xf32, #blocked1>
      %acc_56 = tt.broadcast %acc_55 : tensor<16x1xf32, #blocked1> -> tensor<16x128xf32, #blocked1>
      %acc_57 = arith.mulf %acc_25, %acc_56 : tensor<16x128xf32, #blocked1>
      %acc_58 = arith.truncf %p_43 : tensor<16x64xf32, #blocked> to tensor<16x64xf16, #blocked>
      %acc_59 = ttg.convert_layout %acc_58 : tensor<16x64xf16, #blocked> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked1}>>
      %v_60 = ttg.convert_layout %v_53 : tensor<64x128xf16, #blocked2> -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked1}>>
      %acc_61 = tt.dot %acc_59, %v_60, %acc_57, inputPrecision = tf32 : tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked1}>> * tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked1}>> -> tensor<16x128xf32, #blocked1>
      scf.yield %mn_40, %l_47, %acc_61 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<16x128xf32, #blocked1>
    }
    %0 = tt.splat %O : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked2>
    %1 = tt.addptr %0, %q_7 : tensor<16x1x!tt.ptr<f16>, #blocked2>, tensor<16x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<16x1x!tt.ptr<f16>, #blocked2> -> tensor<16x128x!tt.ptr<f16>, #blocked2>
    %3 = tt.addptr %2, %q_13 : tensor<16x128x!tt.ptr<f16>, #blocked2>, tensor<16x128xi32, #blocked2>
    %4 = tt.expand_dims %acc_22#1 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xf32, #blocked>
    %5 = ttg.convert_layout %4 : tensor<16x1xf32, #blocked> -> tensor<16x1xf32, #blocked1>
    %6 = tt.broadcast %5 : tensor<16x1xf32, #blocked1> -> tensor<16x128xf32, #blocked1>
    %7 = arith.divf %acc_22#2, %6 : tensor<16x128xf32, #blocked1>
    %8 = arith.truncf %7 : tensor<16x128xf32, #blocked1> to tensor<16x128xf16, #blocked1>
    %9 = ttg.convert_layout %8 : tensor<16x128xf16, #blocked1> -> tensor<16x128xf16, #blocked2>
    tt.store %3, %9 : tensor<16x128x!tt.ptr<f16>, #blocked2>
    tt.return
  }
}
