#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %bias: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}, %sc: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c128_i32 = arith.constant 128 : i32
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #mma>
    %m = tt.get_program_id x : i32
    %m_0 = arith.muli %m, %c128_i32 : i32
    %m_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %m_3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %m_4 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked2>
    %m_5 = tt.splat %m_0 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m_6 = tt.splat %m_0 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %m_7 = arith.addi %m_5, %m_1 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %m_8 = arith.addi %m_6, %m_3 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %n = tt.get_program_id y : i32
    %n_9 = arith.muli %n, %c128_i32 : i32
    %n_10 = tt.splat %n_9 : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %n_11 = tt.splat %n_9 : i32 -> tensor<128xi32, #blocked2>
    %n_12 = arith.addi %n_10, %m_2 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %n_13 = arith.addi %n_11, %m_4 : tensor<128xi32, #blocked2>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %k_14 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %acc = scf.for %o = %c0_i32 to %K step %c32_i32 iter_args(%acc_24 = %cst) -> (tensor<128x128xf32, #mma>)  : i32 {
      %a = tt.expand_dims %m_7 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
      %a_25 = tt.splat %sa : i32 -> tensor<128x1xi32, #blocked>
      %a_26 = arith.muli %a, %a_25 : tensor<128x1xi32, #blocked>
      %a_27 = tt.splat %A : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked>
      %a_28 = tt.addptr %a_27, %a_26 : tensor<128x1x!tt.ptr<f16>, #blocked>, tensor<128x1xi32, #blocked>
      %a_29 = tt.splat %o : i32 -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
      %a_30 = tt.splat %o : i32 -> tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %a_31 = arith.addi %a_29, %k : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
      %a_32 = arith.addi %a_30, %k_14 : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %a_33 = tt.expand_dims %a_31 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
      %a_34 = tt.broadcast %a_28 : tensor<128x1x!tt.ptr<f16>, #blocked> -> tensor<128x32x!tt.ptr<f16>, #blocked>
      %a_35 = tt.broadcast %a_33 : tensor<1x32xi32, #blocked> -> tensor<128x32xi32, #blocked>
      %a_36 = tt.addptr %a_34, %a_35 : tensor<128x32x!tt.ptr<f16>, #blocked>, tensor<128x32xi32, #blocked>
      %a_37 = tt.load %a_36 : tensor<128x32x!tt.ptr<f16>, #blocked>
      %b = tt.expand_dims %a_32 {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<32x1xi32, #blocked1>
      %b_38 = tt.splat %sb : i32 -> tensor<32x1xi32, #blocked1>
      %b_39 = arith.muli %b, %b_38 : tensor<32x1xi32, #blocked1>
      %b_40 = tt.splat %B : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>, #blocked1>
      %b_41 = tt.addptr %b_40, %b_39 : tensor<32x1x!tt.ptr<f16>, #blocked1>, tensor<32x1xi32, #blocked1>
      %b_42 = tt.expand_dims %n_12 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x128xi32, #blocked1>
      %b_43 = tt.broadcast %b_41 : tensor<32x1x!tt.ptr<f16>, #blocked1> -> tensor<32x128x!tt.ptr<f16>, #blocked1>
      %b_44 = tt.broadcast %b_42 : tensor<1x128xi32, #blocked1> -> tensor<32x128xi32, #blocked1>
      %b_45 = tt.addptr %b_43, %b_44 : tensor<32x128x!tt.ptr<f16>, #blocked1>, tensor<32x128xi32, #blocked1>
      %b_46 = tt.load %b_45 : tensor<32x128x!tt.ptr<f16>, #blocked1>
      %a_47 = ttg.convert_layout %a_37 : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %b_48 = ttg.convert_layout %b_46 : tensor<32x128xf16, #blocked1> -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
      %acc_49 = tt.dot %a_47, %b_48, %acc_24, inputPrecision = tf32 : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>> -> tensor<128x128xf32, #mma>
      scf.yield %acc_49 : tensor<128x128xf32, #mma>
    }
    %acc_15 = tt.splat %bias : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked2>
    %acc_16 = tt.addptr %acc_15, %n_13 : tensor<128x!tt.ptr<f32>, #blocked2>, tensor<128xi32, #blocked2>
    %acc_17 = tt.load %acc_16 : tensor<128x!tt.ptr<f32>, #blocked2>
    %acc_18 = ttg.convert_layout %acc_17 : tensor<128xf32, #blocked2> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %acc_19 = tt.expand_dims %acc_18 {axis = 0 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x128xf32, #blocked3>
    %acc_20 = tt.broadcast %acc_19 : tensor<1x128xf32, #blocked3> -> tensor<128x128xf32, #blocked3>
    %acc_21 = ttg.convert_layout %acc_20 : tensor<128x128xf32, #blocked3> -> tensor<128x128xf32, #mma>
    %acc_22 = arith.addf %acc, %acc_21 : tensor<128x128xf32, #mma>
    %acc_23 = arith.maxnumf %acc_22, %cst : tensor<128x128xf32, #mma>
    %0 = tt.expand_dims %m_8 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %1 = tt.splat %sc : i32 -> tensor<128x1xi32, #blocked1>
    %2 = arith.muli %0, %1 : tensor<128x1xi32, #blocked1>
    %3 = tt.splat %C : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %4 = tt.addptr %3, %2 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %5 = tt.expand_dims %n_12 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x128xi32, #blocked1>
    %6 = tt.broadcast %4 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x128x!tt.ptr<f16>, #blocked1>
    %7 = tt.broadcast %5 : tensor<1x128xi32, #blocked1> -> tensor<128x128xi32, #blocked1>
    %8 = tt.addptr %6, %7 : tensor<128x128x!tt.ptr<f16>, #blocked1>, tensor<128x128xi32, #blocked1>
    %9 = arith.truncf %acc_23 : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
    %10 = ttg.convert_layout %9 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked1>
    tt.store %8, %10 : tensor<128x128x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
