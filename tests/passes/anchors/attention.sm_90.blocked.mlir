#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %sk: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %l = arith.constant dense<0.000000e+00> : tensor<128xf32, #blocked>
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked1>
    %m = arith.constant dense<-1.000000e+30> : tensor<128xf32, #blocked>
    %rm = arith.constant 128 : i32
    %pm = tt.get_program_id x : i32
    %rm_0 = arith.muli %pm, %rm : i32
    %rm_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %rm_2 = tt.splat %rm_0 : i32 -> tensor<128xi32, #blocked>
    %rm_3 = arith.addi %rm_2, %rm_1 : tensor<128xi32, #blocked>
    %rd = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %q = ttg.convert_layout %rm_3 : tensor<128xi32, #blocked> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %q_4 = tt.expand_dims %q {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %q_5 = ttg.convert_layout %q_4 : tensor<128x1xi32, #blocked2> -> tensor<128x1xi32, #blocked3>
    %q_6 = tt.splat %sq : i32 -> tensor<128x1xi32, #blocked3>
    %q_7 = arith.muli %q_5, %q_6 : tensor<128x1xi32, #blocked3>
    %q_8 = tt.splat %Q : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked3>
    %q_9 = tt.addptr %q_8, %q_7 : tensor<128x1x!tt.ptr<f16>, #blocked3>, tensor<128x1xi32, #blocked3>
    %q_10 = ttg.convert_layout %rd : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %q_11 = tt.expand_dims %q_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x64xi32, #blocked4>
    %k = ttg.convert_layout %q_11 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked1>
    %q_12 = ttg.convert_layout %q_11 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked1>
    %q_13 = tt.broadcast %q_9 : tensor<128x1x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked3>
    %q_14 = ttg.convert_layout %q_13 : tensor<128x64x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %q_15 = tt.broadcast %q_12 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %q_16 = tt.addptr %q_14, %q_15 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %q_17 = tt.load %q_16 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    %acc:3 = scf.for %n = %c0_i32 to %N step %c64_i32 iter_args(%m_18 = %m, %l_19 = %l, %acc_20 = %cst) -> (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>, tensor<128x64xf32, #blocked1>)  : i32 {
      %k_21 = tt.splat %n : i32 -> tensor<64xi32, #blocked>
      %k_22 = arith.addi %k_21, %rd : tensor<64xi32, #blocked>
      %k_23 = ttg.convert_layout %k_22 : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_24 = tt.expand_dims %k_23 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
      %k_25 = ttg.convert_layout %k_24 : tensor<64x1xi32, #blocked2> -> tensor<64x1xi32, #blocked3>
      %k_26 = tt.splat %sk : i32 -> tensor<64x1xi32, #blocked3>
      %k_27 = arith.muli %k_25, %k_26 : tensor<64x1xi32, #blocked3>
      %k_28 = tt.splat %K : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
      %k_29 = tt.addptr %k_28, %k_27 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
      %k_30 = tt.broadcast %k_29 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked3>
      %k_31 = ttg.convert_layout %k_30 : tensor<64x64x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %k_32 = tt.broadcast %k : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %k_33 = tt.addptr %k_31, %k_32 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %k_34 = tt.load %k_33 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %s = tt.trans %k_34 {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked5>
      %s_35 = ttg.convert_layout %s : tensor<64x64xf16, #blocked5> -> tensor<64x64xf16, #blocked1>
      %q_36 = ttg.convert_layout %q_17 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>>
      %s_37 = ttg.convert_layout %s_35 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>>
      %12 = ttg.convert_layout %cst : tensor<128x64xf32, #blocked1> -> tensor<128x64xf32, #blocked6>
      %s_38 = tt.dot %q_36, %s_37, %12, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>> -> tensor<128x64xf32, #blocked6>
      %s_39 = ttg.convert_layout %s_38 : tensor<128x64xf32, #blocked6> -> tensor<128x64xf32, #blocked1>
      %s_40 = tt.splat %scale : f32 -> tensor<128x64xf32, #blocked1>
      %s_41 = arith.mulf %s_39, %s_40 : tensor<128x64xf32, #blocked1>
      %mn = "tt.reduce"(%s_41) <{axis = 1 : i32}> ({
      ^bb0(%mn_71: f32, %mn_72: f32):
        %mn_73 = arith.maxnumf %mn_71, %mn_72 : f32
        tt.reduce.return %mn_73 : f32
      }) : (tensor<128x64xf32, #blocked1>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %mn_42 = ttg.convert_layout %mn : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128xf32, #blocked>
      %mn_43 = arith.maxnumf %m_18, %mn_42 : tensor<128xf32, #blocked>
      %p = ttg.convert_layout %mn_43 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %p_44 = tt.expand_dims %p {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
      %p_45 = ttg.convert_layout %p_44 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
      %p_46 = tt.broadcast %p_45 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
      %p_47 = ttg.convert_layout %p_46 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
      %p_48 = arith.subf %s_41, %p_47 : tensor<128x64xf32, #blocked1>
      %p_49 = math.exp %p_48 : tensor<128x64xf32, #blocked1>
      %al = arith.subf %m_18, %mn_43 : tensor<128xf32, #blocked>
      %al_50 = math.exp %al : tensor<128xf32, #blocked>
      %l_51 = arith.mulf %l_19, %al_50 : tensor<128xf32, #blocked>
      %l_52 = "tt.reduce"(%p_49) <{axis = 1 : i32}> ({
      ^bb0(%l_71: f32, %l_72: f32):
        %l_73 = arith.addf %l_71, %l_72 : f32
        tt.reduce.return %l_73 : f32
      }) : (tensor<128x64xf32, #blocked1>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %l_53 = ttg.convert_layout %l_52 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128xf32, #blocked>
      %l_54 = arith.addf %l_51, %l_53 : tensor<128xf32, #blocked>
      %acc_55 = ttg.convert_layout %al_50 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %acc_56 = tt.expand_dims %acc_55 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
      %acc_57 = ttg.convert_layout %acc_56 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
      %acc_58 = tt.broadcast %acc_57 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
      %acc_59 = ttg.convert_layout %acc_58 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
      %acc_60 = arith.mulf %acc_20, %acc_59 : tensor<128x64xf32, #blocked1>
      %v = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
      %v_61 = tt.addptr %v, %k_27 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
      %v_62 = tt.broadcast %v_61 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked3>
      %v_63 = ttg.convert_layout %v_62 : tensor<64x64x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %v_64 = tt.addptr %v_63, %k_32 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %v_65 = tt.load %v_64 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %acc_66 = arith.truncf %p_49 : tensor<128x64xf32, #blocked1> to tensor<128x64xf16, #blocked1>
      %acc_67 = ttg.convert_layout %acc_66 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>>
      %v_68 = ttg.convert_layout %v_65 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>>
      %acc_69 = ttg.convert_layout %acc_60 : tensor<128x64xf32, #blocked1> -> tensor<128x64xf32, #blocked6>
      %acc_70 = tt.dot %acc_67, %v_68, %acc_69, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>> -> tensor<128x64xf32, #blocked6>
      %13 = ttg.convert_layout %acc_70 : tensor<128x64xf32, #blocked6> -> tensor<128x64xf32, #blocked1>
      scf.yield %mn_43, %l_54, %13 : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>, tensor<128x64xf32, #blocked1>
    }
    %0 = tt.splat %O : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked3>
    %1 = tt.addptr %0, %q_7 : tensor<128x1x!tt.ptr<f16>, #blocked3>, tensor<128x1xi32, #blocked3>
    %2 = tt.broadcast %1 : tensor<128x1x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked3>
    %3 = ttg.convert_layout %2 : tensor<128x64x!tt.ptr<f16>, #blocked3> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %4 = tt.addptr %3, %q_15 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %5 = ttg.convert_layout %acc#1 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %6 = tt.expand_dims %5 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
    %7 = ttg.convert_layout %6 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
    %8 = tt.broadcast %7 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
    %9 = ttg.convert_layout %8 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
    %10 = arith.divf %acc#2, %9 : tensor<128x64xf32, #blocked1>
    %11 = arith.truncf %10 : tensor<128x64xf32, #blocked1> to tensor<128x64xf16, #blocked1>
    tt.store %4, %11 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
