module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %bias: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}, %sc: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c128_i32 = arith.constant 128 : i32
    %m = tt.get_program_id x : i32
    %m_0 = arith.muli %m, %c128_i32 : i32
    %m_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %m_2 = tt.splat %m_0 : i32 -> tensor<128xi32>
    %m_3 = arith.addi %m_2, %m_1 : tensor<128xi32>
    %n = tt.get_program_id y : i32
    %n_4 = arith.muli %n, %c128_i32 : i32
    %n_5 = tt.splat %n_4 : i32 -> tensor<128xi32>
    %n_6 = arith.addi %n_5, %m_1 : tensor<128xi32>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc = scf.for %o = %c0_i32 to %K step %c32_i32 iter_args(%acc_14 = %cst) -> (tensor<128x128xf32>)  : i32 {
      %a = tt.expand_dims %m_3 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %a_15 = tt.splat %sa : i32 -> tensor<128x1xi32>
      %a_16 = arith.muli %a, %a_15 : tensor<128x1xi32>
      %a_17 = tt.splat %A : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %a_18 = tt.addptr %a_17, %a_16 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %a_19 = tt.splat %o : i32 -> tensor<32xi32>
      %a_20 = arith.addi %a_19, %k : tensor<32xi32>
      %a_21 = tt.expand_dims %a_20 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %a_22 = tt.broadcast %a_18 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x32x!tt.ptr<f16>>
      %a_23 = tt.broadcast %a_21 : tensor<1x32xi32> -> tensor<128x32xi32>
      %a_24 = tt.addptr %a_22, %a_23 : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
      %a_25 = tt.load %a_24 : tensor<128x32x!tt.ptr<f16>>
      %b = tt.expand_dims %a_20 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %b_26 = tt.splat %sb : i32 -> tensor<32x1xi32>
      %b_27 = arith.muli %b, %b_26 : tensor<32x1xi32>
      %b_28 = tt.splat %B : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
      %b_29 = tt.addptr %b_28, %b_27 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
      %b_30 = tt.expand_dims %n_6 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %b_31 = tt.broadcast %b_29 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x128x!tt.ptr<f16>>
      %b_32 = tt.broadcast %b_30 : tensor<1x128xi32> -> tensor<32x128xi32>
      %b_33 = tt.addptr %b_31, %b_32 : tensor<32x128x!tt.ptr<f16>>, tensor<32x128xi32>
      %b_34 = tt.load %b_33 : tensor<32x128x!tt.ptr<f16>>
      %acc_35 = tt.dot %a_25, %b_34, %acc_14, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
      scf.yield %acc_35 : tensor<128x128xf32>
    }
    %acc_7 = tt.splat %bias : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %acc_8 = tt.addptr %acc_7, %n_6 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %acc_9 = tt.load %acc_8 : tensor<128x!tt.ptr<f32>>
    %acc_10 = tt.expand_dims %acc_9 {axis = 0 : i32} : tensor<128xf32> -> tensor<1x128xf32>
    %acc_11 = tt.broadcast %acc_10 : tensor<1x128xf32> -> tensor<128x128xf32>
    %acc_12 = arith.addf %acc, %acc_11 : tensor<128x128xf32>
    %acc_13 = arith.maxnumf %acc_12, %cst : tensor<128x128xf32>
    %0 = tt.expand_dims %m_3 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %1 = tt.splat %sc : i32 -> tensor<128x1xi32>
    %2 = arith.muli %0, %1 : tensor<128x1xi32>
    %3 = tt.splat %C : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %4 = tt.addptr %3, %2 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %5 = tt.expand_dims %n_6 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %6 = tt.broadcast %4 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
    %7 = tt.broadcast %5 : tensor<1x128xi32> -> tensor<128x128xi32>
    %8 = tt.addptr %6, %7 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %9 = arith.truncf %acc_13 : tensor<128x128xf32> to tensor<128x128xf16>
    tt.store %8, %9 : tensor<128x128x!tt.ptr<f16>>
    tt.return
  }
}
