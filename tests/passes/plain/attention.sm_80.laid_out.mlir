#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 8], [0, 16], [0, 32], [8, 0], [16, 0], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %li = arith.constant dense<0.000000e+00> : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %mi = arith.constant dense<0xFF800000> : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
    %m = tt.get_program_id x : i32
    %m_0 = arith.muli %m, %c64_i32 : i32
    %m_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m_2 = tt.splat %m_0 : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m_3 = arith.addi %m_2, %m_1 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %q = tt.expand_dims %m_3 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %q_4 = tt.splat %sq : i32 -> tensor<64x1xi32, #blocked>
    %q_5 = arith.muli %q, %q_4 : tensor<64x1xi32, #blocked>
    %q_6 = tt.splat %Q : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
    %q_7 = tt.addptr %q_6, %q_5 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
    %q_8 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %q_9 = tt.expand_dims %q_8 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %q_10 = tt.broadcast %q_7 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %q_11 = tt.broadcast %q_9 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %q_12 = tt.addptr %q_10, %q_11 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %q_13 = tt.load %q_12 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %acc:3 = scf.for %o = %c0_i32 to %n step %c64_i32 iter_args(%mi_14 = %mi, %li_15 = %li, %acc_16 = %cst) -> (tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64x64xf32, #mma>)  : i32 {
      %k = tt.splat %o : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %k_17 = arith.addi %k, %m_1 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %k_18 = tt.expand_dims %k_17 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
      %k_19 = arith.muli %k_18, %q_4 : tensor<64x1xi32, #blocked>
      %k_20 = tt.splat %K : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
      %k_21 = tt.addptr %k_20, %k_19 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
      %k_22 = tt.broadcast %k_21 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
      %k_23 = tt.addptr %k_22, %q_11 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %k_24 = tt.load %k_23 : tensor<64x64x!tt.ptr<f16>, #blocked>
      %qk = ttg.convert_layout %k_24 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #linear>
      %v = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
      %v_25 = tt.addptr %v, %k_19 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
      %v_26 = tt.broadcast %v_25 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
      %v_27 = tt.addptr %v_26, %q_11 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      %v_28 = tt.load %v_27 : tensor<64x64x!tt.ptr<f16>, #blocked>
      %qk_29 = tt.trans %qk {order = array<i32: 1, 0>} : tensor<64x64xf16, #linear> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
      %q_30 = ttg.convert_layout %q_13 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %qk_31 = tt.dot %q_30, %qk_29, %cst, inputPrecision = tf32 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
      %qk_32 = tt.splat %scale : f32 -> tensor<64x64xf32, #mma>
      %qk_33 = arith.mulf %qk_31, %qk_32 : tensor<64x64xf32, #mma>
      %mn = "tt.reduce"(%qk_33) <{axis = 1 : i32}> ({
      ^bb0(%mn_49: f32, %mn_50: f32):
        %mn_51 = arith.maxnumf %mn_49, %mn_50 : f32
        tt.reduce.return %mn_51 : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %mn_34 = arith.maxnumf %mi_14, %mn : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %p = tt.expand_dims %mn_34 {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
      %p_35 = tt.broadcast %p : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %p_36 = arith.subf %qk_33, %p_35 : tensor<64x64xf32, #mma>
      %p_37 = math.exp2 %p_36 : tensor<64x64xf32, #mma>
      %al = arith.subf %mi_14, %mn_34 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %al_38 = math.exp2 %al : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %li_39 = arith.mulf %li_15, %al_38 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %li_40 = "tt.reduce"(%p_37) <{axis = 1 : i32}> ({
      ^bb0(%li_49: f32, %li_50: f32):
        %li_51 = arith.addf %li_49, %li_50 : f32
        tt.reduce.return %li_51 : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %li_41 = arith.addf %li_39, %li_40 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %acc_42 = tt.expand_dims %al_38 {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
      %acc_43 = tt.broadcast %acc_42 : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %acc_44 = arith.mulf %acc_16, %acc_43 : tensor<64x64xf32, #mma>
      %acc_45 = arith.truncf %p_37 : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %acc_46 = ttg.convert_layout %acc_45 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %v_47 = ttg.convert_layout %v_28 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
      %acc_48 = tt.dot %acc_46, %v_47, %acc_44, inputPrecision = tf32 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<64x64xf32, #mma>
      scf.yield %mn_34, %li_41, %acc_48 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<64x64xf32, #mma>
    }
    %0 = tt.splat %O : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked>
    %1 = tt.addptr %0, %q_5 : tensor<64x1x!tt.ptr<f16>, #blocked>, tensor<64x1xi32, #blocked>
    %2 = tt.broadcast %1 : tensor<64x1x!tt.ptr<f16>, #blocked> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %3 = tt.addptr %2, %q_11 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %4 = tt.expand_dims %acc#1 {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
    %5 = tt.broadcast %4 : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
    %6 = arith.divf %acc#2, %5 : tensor<64x64xf32, #mma>
    %7 = arith.truncf %6 : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %8 = ttg.convert_layout %7 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.store %3, %8 : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
