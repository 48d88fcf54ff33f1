#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked6 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
#blocked7 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
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
    %q_17 = ttg.convert_layout %q_16 : tensor<128x64x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked5>
    %q_18 = tt.load %q_17 : tensor<128x64x!tt.ptr<f16>, #blocked5>
    %q_19 = ttg.convert_layout %q_18 : tensor<128x64xf16, #blocked5> -> tensor<128x64xf16, #blocked1>
    %acc:3 = scf.for %n = %c0_i32 to %N step %c64_i32 iter_args(%m_20 = %m, %l_21 = %l, %acc_22 = %cst) -> (tensor<128xf32, #blocked>, tensor<128xf32, #blocked>, tensor<128x64xf32, #blocked1>)  : i32 {
      %k_23 = tt.splat %n : i32 -> tensor<64xi32, #blocked>
      %k_24 = arith.addi %k_23, %rd : tensor<64xi32, #blocked>
      %k_25 = ttg.convert_layout %k_24 : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_26 = tt.expand_dims %k_25 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
      %k_27 = ttg.convert_layout %k_26 : tensor<64x1xi32, #blocked2> -> tensor<64x1xi32, #blocked3>
      %k_28 = tt.splat %sk : i32 -> tensor<64x1xi32, #blocked3>
      %k_29 = arith.muli %k_27, %k_28 : tensor<64x1xi32, #blocked3>
      %k_30 = tt.splat %K : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
      %k_31 = tt.addptr %k_30, %k_29 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
      %k_32 = tt.broadcast %k_31 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked3>
      %k_33 = ttg.convert_layout %k_32 : tensor<64x64x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %k_34 = tt.broadcast %k : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %k_35 = tt.addptr %k_33, %k_34 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %k_36 = ttg.convert_layout %k_35 : tensor<64x64x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked5>
      %k_37 = tt.load %k_36 : tensor<64x64x!tt.ptr<f16>, #blocked5>
      %k_38 = ttg.convert_layout %k_37 : tensor<64x64xf16, #blocked5> -> tensor<64x64xf16, #blocked1>
      %s = tt.trans %k_38 {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #blocked6>
      %s_39 = ttg.convert_layout %s : tensor<64x64xf16, #blocked6> -> tensor<64x64xf16, #blocked1>
      %q_40 = ttg.convert_layout %q_19 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>>
      %s_41 = ttg.convert_layout %s_39 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>>
      %14 = ttg.convert_layout %cst : tensor<128x64xf32, #blocked1> -> tensor<128x64xf32, #blocked7>
      %s_42 = tt.dot %q_40, %s_41, %14, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>> -> tensor<128x64xf32, #blocked7>
      %s_43 = ttg.convert_layout %s_42 : tensor<128x64xf32, #blocked7> -> tensor<128x64xf32, #blocked1>
      %s_44 = tt.splat %scale : f32 -> tensor<128x64xf32, #blocked1>
      %s_45 = arith.mulf %s_43, %s_44 : tensor<128x64xf32, #blocked1>
      %mn = "tt.reduce"(%s_45) <{axis = 1 : i32}> ({
      ^bb0(%mn_77: f32, %mn_78: f32):
        %mn_79 = arith.maxnumf %mn_77, %mn_78 : f32
        tt.reduce.return %mn_79 : f32
      }) : (tensor<128x64xf32, #blocked1>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %mn_46 = ttg.convert_layout %mn : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128xf32, #blocked>
      %mn_47 = arith.maxnumf %m_20, %mn_46 : tensor<128xf32, #blocked>
      %p = ttg.convert_layout %mn_47 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %p_48 = tt.expand_dims %p {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
      %p_49 = ttg.convert_layout %p_48 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
      %p_50 = tt.broadcast %p_49 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
      %p_51 = ttg.convert_layout %p_50 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
      %p_52 = arith.subf %s_45, %p_51 : tensor<128x64xf32, #blocked1>
      %p_53 = math.exp %p_52 : tensor<128x64xf32, #blocked1>
      %al = arith.subf %m_20, %mn_47 : tensor<128xf32, #blocked>
      %al_54 = math.exp %al : tensor<128xf32, #blocked>
      %l_55 = arith.mulf %l_21, %al_54 : tensor<128xf32, #blocked>
      %l_56 = "tt.reduce"(%p_53) <{axis = 1 : i32}> ({
      ^bb0(%l_77: f32, %l_78: f32):
        %l_79 = arith.addf %l_77, %l_78 : f32
        tt.reduce.return %l_79 : f32
      }) : (tensor<128x64xf32, #blocked1>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %l_57 = ttg.convert_layout %l_56 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128xf32, #blocked>
      %l_58 = arith.addf %l_55, %l_57 : tensor<128xf32, #blocked>
      %acc_59 = ttg.convert_layout %al_54 : tensor<128xf32, #blocked> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %acc_60 = tt.expand_dims %acc_59 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xf32, #blocked2>
      %acc_61 = ttg.convert_layout %acc_60 : tensor<128x1xf32, #blocked2> -> tensor<128x1xf32, #blocked3>
      %acc_62 = tt.broadcast %acc_61 : tensor<128x1xf32, #blocked3> -> tensor<128x64xf32, #blocked3>
      %acc_63 = ttg.convert_layout %acc_62 : tensor<128x64xf32, #blocked3> -> tensor<128x64xf32, #blocked1>
      %acc_64 = arith.mulf %acc_22, %acc_63 : tensor<128x64xf32, #blocked1>
      %v = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked3>
      %v_65 = tt.addptr %v, %k_29 : tensor<64x1x!tt.ptr<f16>, #blocked3>, tensor<64x1xi32, #blocked3>
      %v_66 = tt.broadcast %v_65 : tensor<64x1x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked3>
      %v_67 = ttg.convert_layout %v_66 : tensor<64x64x!tt.ptr<f16>, #blocked3> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %v_68 = tt.addptr %v_67, %k_34 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %v_69 = ttg.convert_layout %v_68 : tensor<64x64x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked5>
      %v_70 = tt.load %v_69 : tensor<64x64x!tt.ptr<f16>, #blocked5>
      %v_71 = ttg.convert_layout %v_70 : tensor<64x64xf16, #blocked5> -> tensor<64x64xf16, #blocked1>
      %acc_72 = arith.truncf %p_53 : tensor<128x64xf32, #blocked1> to tensor<128x64xf16, #blocked1>
      %acc_73 = ttg.convert_layout %acc_72 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>>
      %v_74 = ttg.convert_layout %v_71 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>>
      %acc_75 = ttg.convert_layout %acc_64 : tensor<128x64xf32, #blocked1> -> tensor<128x64xf32, #blocked7>
      %acc_76 = tt.dot %acc_73, %v_74, %acc_75, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>> -> tensor<128x64xf32, #blocked7>
      %15 = ttg.convert_layout %acc_76 : tensor<128x64xf32, #blocked7> -> tensor<128x64xf32, #blocked1>
      scf.yield %mn_47, %l_58, %15 : tensor<128xf32, #blocked>, tensor<128xf32, #blocked>, tensor<128x64xf32, #blocked1>
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
    %12 = ttg.convert_layout %4 : tensor<128x64x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked5>
    %13 = ttg.convert_layout %11 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #blocked5>
    tt.store %12, %13 : tensor<128x64x!tt.ptr<f16>, #blocked5>
    tt.return
  }
}
