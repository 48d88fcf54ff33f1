#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %sk: i32 {tt.divisibility = 16 : i32}, %L: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %rm = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %l = arith.constant dense<0.000000e+00> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %m = arith.constant dense<0xFF800000> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rd = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rd_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %q = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %q_6 = tt.splat %sq : i32 -> tensor<128x1xi32, #blocked1>
    %q_7 = arith.muli %q, %q_6 : tensor<128x1xi32, #blocked1>
    %q_8 = tt.splat %Q : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %q_9 = tt.addptr %q_8, %q_7 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %q_10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %q_11 = tt.expand_dims %q_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %q_12 = tt.broadcast %q_9 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %q_13 = tt.broadcast %q_11 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %q_14 = tt.addptr %q_12, %q_13 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %q_15 = tt.load %q_14 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    %acc:3 = scf.for %n = %c0_i32 to %L step %c64_i32 iter_args(%m_16 = %m, %l_17 = %l, %acc_18 = %cst) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>)  : i32 {
      %k = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
      %k_19 = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %k_20 = arith.addi %k, %rd : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
      %k_21 = arith.addi %k_19, %rd_5 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %k_22 = tt.expand_dims %k_20 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
      %k_23 = tt.splat %sk : i32 -> tensor<1x64xi32, #blocked2>
      %k_24 = arith.muli %k_22, %k_23 : tensor<1x64xi32, #blocked2>
      %k_25 = tt.splat %K : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>, #blocked2>
      %k_26 = tt.addptr %k_25, %k_24 : tensor<1x64x!tt.ptr<f16>, #blocked2>, tensor<1x64xi32, #blocked2>
      %k_27 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_28 = tt.expand_dims %k_27 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
      %k_29 = tt.broadcast %k_26 : tensor<1x64x!tt.ptr<f16>, #blocked2> -> tensor<64x64x!tt.ptr<f16>, #blocked2>
      %k_30 = tt.broadcast %k_28 : tensor<64x1xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
      %k_31 = tt.addptr %k_29, %k_30 : tensor<64x64x!tt.ptr<f16>, #blocked2>, tensor<64x64xi32, #blocked2>
      %k_32 = tt.load %k_31 : tensor<64x64x!tt.ptr<f16>, #blocked2>
      %q_33 = ttg.convert_layout %q_15 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %k_34 = ttg.convert_layout %k_32 : tensor<64x64xf16, #blocked2> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %s = tt.dot %q_33, %k_34, %cst, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
      %s_35 = tt.splat %scale : f32 -> tensor<128x64xf32, #blocked>
      %s_36 = arith.mulf %s, %s_35 : tensor<128x64xf32, #blocked>
      %mn = "tt.reduce"(%s_36) <{axis = 1 : i32}> ({
      ^bb0(%mn_60: f32, %mn_61: f32):
        %mn_62 = arith.maxnumf %mn_60, %mn_61 : f32
        tt.reduce.return %mn_62 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %mn_37 = arith.maxnumf %m_16, %mn : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %p = tt.expand_dims %mn_37 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %p_38 = tt.broadcast %p : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %p_39 = arith.subf %s_36, %p_38 : tensor<128x64xf32, #blocked>
      %p_40 = math.exp2 %p_39 : tensor<128x64xf32, #blocked>
      %al = arith.subf %m_16, %mn_37 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %al_41 = math.exp2 %al : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_42 = arith.mulf %l_17, %al_41 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_43 = "tt.reduce"(%p_40) <{axis = 1 : i32}> ({
      ^bb0(%l_60: f32, %l_61: f32):
        %l_62 = arith.addf %l_60, %l_61 : f32
        tt.reduce.return %l_62 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_44 = arith.addf %l_42, %l_43 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %v = tt.expand_dims %k_21 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
      %v_45 = tt.splat %sk : i32 -> tensor<64x1xi32, #blocked1>
      %v_46 = arith.muli %v, %v_45 : tensor<64x1xi32, #blocked1>
      %v_47 = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
      %v_48 = tt.addptr %v_47, %v_46 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
      %v_49 = tt.broadcast %v_48 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %v_50 = tt.broadcast %q_11 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %v_51 = tt.addptr %v_49, %v_50 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %v_52 = tt.load %v_51 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %acc_53 = tt.expand_dims %al_41 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %acc_54 = tt.broadcast %acc_53 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %acc_55 = arith.mulf %acc_18, %acc_54 : tensor<128x64xf32, #blocked>
      %acc_56 = arith.truncf %p_40 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
      %acc_57 = ttg.convert_layout %acc_56 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %v_58 = ttg.convert_layout %v_52 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_59 = tt.dot %acc_57, %v_58, %acc_55, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
      scf.yield %mn_37, %l_44, %acc_59 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>
    }
    %0 = tt.splat %O : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %1 = tt.addptr %0, %q_7 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %2 = tt.broadcast %1 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %3 = tt.addptr %2, %q_13 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %4 = tt.expand_dims %acc#1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
    %5 = tt.broadcast %4 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
    %6 = arith.divf %acc#2, %5 : tensor<128x64xf32, #blocked>
    %7 = arith.truncf %6 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked1>
    tt.store %3, %8 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
