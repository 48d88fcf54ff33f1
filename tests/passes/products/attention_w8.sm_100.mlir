#blocked = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 8], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%Q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %sk: i32 {tt.divisibility = 16 : i32}, %L: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x32xf32, #blocked>
    %rm = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %c32_i32 = arith.constant 32 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<64x128xf32, #blocked1>
    %l = arith.constant dense<0.000000e+00> : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m = arith.constant dense<0xFF800000> : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_5 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %q = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %q_6 = tt.splat %sq : i32 -> tensor<64x1xi32, #blocked2>
    %q_7 = arith.muli %q, %q_6 : tensor<64x1xi32, #blocked2>
    %q_8 = tt.splat %Q : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>, #blocked2>
    %q_9 = tt.addptr %q_8, %q_7 : tensor<64x1x!tt.ptr<bf16>, #blocked2>, tensor<64x1xi32, #blocked2>
    %q_10 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %q_11 = tt.expand_dims %q_10 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %q_12 = tt.broadcast %q_9 : tensor<64x1x!tt.ptr<bf16>, #blocked2> -> tensor<64x128x!tt.ptr<bf16>, #blocked2>
    %q_13 = tt.broadcast %q_11 : tensor<1x128xi32, #blocked2> -> tensor<64x128xi32, #blocked2>
    %q_14 = tt.addptr %q_12, %q_13 : tensor<64x128x!tt.ptr<bf16>, #blocked2>, tensor<64x128xi32, #blocked2>
    %q_15 = tt.load %q_14 : tensor<64x128x!tt.ptr<bf16>, #blocked2>
    %acc_16:3 = scf.for %n = %c0_i32 to %L step %c32_i32 iter_args(%m_17 = %m, %l_18 = %l, %acc_19 = %acc) -> (tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<64x128xf32, #blocked1>)  : i32 {
      %k = tt.splat %n : i32 -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
      %k_20 = tt.splat %n : i32 -> tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_21 = arith.addi %k, %rn : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
      %k_22 = arith.addi %k_20, %rn_5 : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_23 = tt.expand_dims %k_21 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x32xi32, #blocked3>
      %k_24 = tt.splat %sk : i32 -> tensor<1x32xi32, #blocked3>
      %k_25 = arith.muli %k_23, %k_24 : tensor<1x32xi32, #blocked3>
      %k_26 = tt.splat %K : !tt.ptr<bf16> -> tensor<1x32x!tt.ptr<bf16>, #blocked3>
      %k_27 = tt.addptr %k_26, %k_25 : tensor<1x32x!tt.ptr<bf16>, #blocked3>, tensor<1x32xi32, #blocked3>
      %k_28 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
      %k_29 = tt.expand_dims %k_28 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
      %k_30 = tt.broadcast %k_27 : tensor<1x32x!tt.ptr<bf16>, #blocked3> -> tensor<128x32x!tt.ptr<bf16>, #blocked3>
      %k_31 = tt.broadcast %k_29 : tensor<128x1xi32, #blocked3> -> tensor<128x32xi32, #blocked3>
      %k_32 = tt.addptr %k_30, %k_31 : tensor<128x32x!tt.ptr<bf16>, #blocked3>, tensor<128x32xi32, #blocked3>
      %k_33 = tt.load %k_32 : tensor<128x32x!tt.ptr<bf16>, #blocked3>
      %q_34 = ttg.convert_layout %q_15 : tensor<64x128xbf16, #blocked2> -> tensor<64x128xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %k_35 = ttg.convert_layout %k_33 : tensor<128x32xbf16, #blocked3> -> tensor<128x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %s = tt.dot %q_34, %k_35, %cst, inputPrecision = tf32 : tensor<64x128xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<128x32xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<64x32xf32, #blocked>
      %s_36 = tt.splat %scale : f32 -> tensor<64x32xf32, #blocked>
      %s_37 = arith.mulf %s, %s_36 : tensor<64x32xf32, #blocked>
      %mn = "tt.reduce"(%s_37) <{axis = 1 : i32}> ({
      ^bb0(%mn_62: f32, %mn_63: f32):
        %mn_64 = arith.maxnumf %mn_62, %mn_63 : f32
        tt.reduce.return %mn_64 : f32
      }) : (tensor<64x32xf32, #blocked>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %mn_38 = arith.maxnumf %m_17, %mn : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %p = tt.expand_dims %mn_38 {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xf32, #blocked>
      %p_39 = tt.broadcast %p : tensor<64x1xf32, #blocked> -> tensor<64x32xf32, #blocked>
      %p_40 = arith.subf %s_37, %p_39 : tensor<64x32xf32, #blocked>
      %p_41 = math.exp2 %p_40 : tensor<64x32xf32, #blocked>
      %al = arith.subf %m_17, %mn_38 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %al_42 = math.exp2 %al : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_43 = arith.mulf %l_18, %al_42 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_44 = "tt.reduce"(%p_41) <{axis = 1 : i32}> ({
      ^bb0(%l_62: f32, %l_63: f32):
        %l_64 = arith.addf %l_62, %l_63 : f32
        tt.reduce.return %l_64 : f32
      }) : (tensor<64x32xf32, #blocked>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_45 = arith.addf %l_43, %l_44 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %v = tt.expand_dims %k_22 {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<32x1xi32, #blocked2>
      %v_46 = tt.splat %sk : i32 -> tensor<32x1xi32, #blocked2>
      %v_47 = arith.muli %v, %v_46 : tensor<32x1xi32, #blocked2>
      %v_48 = tt.splat %V : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>, #blocked2>
      %v_49 = tt.addptr %v_48, %v_47 : tensor<32x1x!tt.ptr<bf16>, #blocked2>, tensor<32x1xi32, #blocked2>
      %v_50 = tt.broadcast %v_49 : tensor<32x1x!tt.ptr<bf16>, #blocked2> -> tensor<32x128x!tt.ptr<bf16>, #blocked2>
      %v_51 = tt.broadcast %q_11 : tensor<1x128xi32, #blocked2> -> tensor<32x128xi32, #blocked2>
      %v_52 = tt.addptr %v_50, %v_51 : tensor<32x128x!tt.ptr<bf16>, #blocked2>, tensor<32x128xi32, #blocked2>
      %v_53 = tt.load %v_52 : tensor<32x128x!tt.ptr<bf16>, #blocked2>
      %acc_54 = tt.expand_dims %al_42 {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xf32, #blocked>
      %acc_55 = ttg.convert_layout %acc_54 : tensor<64x1xf32, #blocked> -> tensor<64x1xf32, #blocked1>
      %acc_56 = tt.broadcast %acc_55 : tensor<64x1xf32, #blocked1> -> tensor<64x128xf32, #blocked1>
      %acc_57 = arith.mulf %acc_19, %acc_56 : tensor<64x128xf32, #blocked1>
      %acc_58 = arith.truncf %p_41 : tensor<64x32xf32, #blocked> to tensor<64x32xbf16, #blocked>
      %acc_59 = ttg.convert_layout %acc_58 : tensor<64x32xbf16, #blocked> -> tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked1}>>
      %v_60 = ttg.convert_layout %v_53 : tensor<32x128xbf16, #blocked2> -> tensor<32x128xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked1}>>
      %acc_61 = tt.dot %acc_59, %v_60, %acc_57, inputPrecision = tf32 : tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked1}>> * tensor<32x128xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked1}>> -> tensor<64x128xf32, #blocked1>
      scf.yield %mn_38, %l_45, %acc_61 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<64x128xf32, #blocked1>
    }
    %0 = tt.splat %O : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>, #blocked2>
    %1 = tt.addptr %0, %q_7 : tensor<64x1x!tt.ptr<bf16>, #blocked2>, tensor<64x1xi32, #blocked2>
    %2 = tt.broadcast %1 : tensor<64x1x!tt.ptr<bf16>, #blocked2> -> tensor<64x128x!tt.ptr<bf16>, #blocked2>
    %3 = tt.addptr %2, %q_13 : tensor<64x128x!tt.ptr<bf16>, #blocked2>, tensor<64x128xi32, #blocked2>
    %4 = tt.expand_dims %acc_16#1 {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xf32, #blocked>
    %5 = ttg.convert_layout %4 : tensor<64x1xf32, #blocked> -> tensor<64x1xf32, #blocked1>
    %6 = tt.broadcast %5 : tensor<64x1xf32, #blocked1> -> tensor<64x128xf32, #blocked1>
    %7 = arith.divf %acc_16#2, %6 : tensor<64x128xf32, #blocked1>
    %8 = arith.truncf %7 : tensor<64x128xf32, #blocked1> to tensor<64x128xbf16, #blocked1>
    %9 = ttg.convert_layout %8 : tensor<64x128xbf16, #blocked1> -> tensor<64x128xbf16, #blocked2>
    tt.store %3, %9 : tensor<64x128x!tt.ptr<bf16>, #blocked2>
    tt.return
  }
}
