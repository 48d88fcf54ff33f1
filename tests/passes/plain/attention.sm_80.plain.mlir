module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %li = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %mi = arith.constant dense<0xFF800000> : tensor<64xf32>
    %c64_i32 = arith.constant 64 : i32
    %m = tt.get_program_id x : i32
    %m_0 = arith.muli %m, %c64_i32 : i32
    %m_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %m_2 = tt.splat %m_0 : i32 -> tensor<64xi32>
    %m_3 = arith.addi %m_2, %m_1 : tensor<64xi32>
    %q = tt.expand_dims %m_3 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %q_4 = tt.splat %sq : i32 -> tensor<64x1xi32>
    %q_5 = arith.muli %q, %q_4 : tensor<64x1xi32>
    %q_6 = tt.splat %Q : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %q_7 = tt.addptr %q_6, %q_5 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %q_8 = tt.expand_dims %m_1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %q_9 = tt.broadcast %q_7 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %q_10 = tt.broadcast %q_8 : tensor<1x64xi32> -> tensor<64x64xi32>
    %q_11 = tt.addptr %q_9, %q_10 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %q_12 = tt.load %q_11 : tensor<64x64x!tt.ptr<f16>>
    %acc:3 = scf.for %o = %c0_i32 to %n step %c64_i32 iter_args(%mi_13 = %mi, %li_14 = %li, %acc_15 = %cst) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>)  : i32 {
      %k = tt.splat %o : i32 -> tensor<64xi32>
      %k_16 = arith.addi %k, %m_1 : tensor<64xi32>
      %k_17 = tt.expand_dims %k_16 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %k_18 = arith.muli %k_17, %q_4 : tensor<64x1xi32>
      %k_19 = tt.splat %K : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %k_20 = tt.addptr %k_19, %k_18 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %k_21 = tt.broadcast %k_20 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %k_22 = tt.addptr %k_21, %q_10 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %k_23 = tt.load %k_22 : tensor<64x64x!tt.ptr<f16>>
      %v = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %v_24 = tt.addptr %v, %k_18 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %v_25 = tt.broadcast %v_24 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %v_26 = tt.addptr %v_25, %q_10 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %v_27 = tt.load %v_26 : tensor<64x64x!tt.ptr<f16>>
      %qk = tt.trans %k_23 {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %qk_28 = tt.dot %q_12, %qk, %cst, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %qk_29 = tt.splat %scale : f32 -> tensor<64x64xf32>
      %qk_30 = arith.mulf %qk_28, %qk_29 : tensor<64x64xf32>
      %mn = "tt.reduce"(%qk_30) <{axis = 1 : i32}> ({
      ^bb0(%mn_44: f32, %mn_45: f32):
        %mn_46 = arith.maxnumf %mn_44, %mn_45 : f32
        tt.reduce.return %mn_46 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %mn_31 = arith.maxnumf %mi_13, %mn : tensor<64xf32>
      %p = tt.expand_dims %mn_31 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %p_32 = tt.broadcast %p : tensor<64x1xf32> -> tensor<64x64xf32>
      %p_33 = arith.subf %qk_30, %p_32 : tensor<64x64xf32>
      %p_34 = math.exp2 %p_33 : tensor<64x64xf32>
      %al = arith.subf %mi_13, %mn_31 : tensor<64xf32>
      %al_35 = math.exp2 %al : tensor<64xf32>
      %li_36 = arith.mulf %li_14, %al_35 : tensor<64xf32>
      %li_37 = "tt.reduce"(%p_34) <{axis = 1 : i32}> ({
      ^bb0(%li_44: f32, %li_45: f32):
        %li_46 = arith.addf %li_44, %li_45 : f32
        tt.reduce.return %li_46 : f32
      }) : (tensor<64x64xf32>) -> tensor<64xf32>
      %li_38 = arith.addf %li_36, %li_37 : tensor<64xf32>
      %acc_39 = tt.expand_dims %al_35 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %acc_40 = tt.broadcast %acc_39 : tensor<64x1xf32> -> tensor<64x64xf32>
      %acc_41 = arith.mulf %acc_15, %acc_40 : tensor<64x64xf32>
      %acc_42 = arith.truncf %p_34 : tensor<64x64xf32> to tensor<64x64xf16>
      %acc_43 = tt.dot %acc_42, %v_27, %acc_41, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %mn_31, %li_38, %acc_43 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
    }
    %0 = tt.splat %O : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %1 = tt.addptr %0, %q_5 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %2 = tt.broadcast %1 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %3 = tt.addptr %2, %q_10 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %4 = tt.expand_dims %acc#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %5 = tt.broadcast %4 : tensor<64x1xf32> -> tensor<64x64xf32>
    %6 = arith.divf %acc#2, %5 : tensor<64x64xf32>
    %7 = arith.truncf %6 : tensor<64x64xf32> to tensor<64x64xf16>
    tt.store %3, %7 : tensor<64x64x!tt.ptr<f16>>
    tt.return
  }
}
