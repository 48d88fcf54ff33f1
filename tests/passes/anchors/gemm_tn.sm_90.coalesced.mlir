#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked7 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked8 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked9 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm_tn(%A: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sak: i32 {tt.divisibility = 16 : i32}, %sbn: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x32xbf16, #blocked1>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<32> : tensor<32x64xi32, #blocked>
    %c32_i32 = arith.constant 32 : i32
    %rn = arith.constant 64 : i32
    %rm = arith.constant 128 : i32
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_1 = arith.muli %pm, %rm : i32
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked2>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<128xi32, #blocked2>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<128xi32, #blocked2>
    %rn_5 = arith.muli %pn, %rn : i32
    %rn_6 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked2>
    %rn_7 = tt.splat %rn_5 : i32 -> tensor<64xi32, #blocked2>
    %rn_8 = arith.addi %rn_7, %rn_6 : tensor<64xi32, #blocked2>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked2>
    %a = ttg.convert_layout %rm_4 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_9 = tt.expand_dims %a {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %0 = ttg.convert_layout %a_9 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %a_10 = ttg.convert_layout %a_9 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %a_11 = tt.splat %A : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>, #blocked4>
    %a_12 = tt.addptr %a_11, %a_10 : tensor<128x1x!tt.ptr<bf16>, #blocked4>, tensor<128x1xi32, #blocked4>
    %a_13 = ttg.convert_layout %rk : tensor<32xi32, #blocked2> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %a_14 = tt.expand_dims %a_13 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x32xi32, #blocked5>
    %acc_15 = ttg.convert_layout %a_14 : tensor<1x32xi32, #blocked5> -> tensor<1x32xi32, #blocked1>
    %a_16 = ttg.convert_layout %a_14 : tensor<1x32xi32, #blocked5> -> tensor<1x32xi32, #blocked1>
    %a_17 = tt.splat %sak : i32 -> tensor<1x32xi32, #blocked1>
    %a_18 = arith.muli %a_16, %a_17 : tensor<1x32xi32, #blocked1>
    %a_19 = tt.broadcast %a_12 : tensor<128x1x!tt.ptr<bf16>, #blocked4> -> tensor<128x32x!tt.ptr<bf16>, #blocked4>
    %a_20 = ttg.convert_layout %a_19 : tensor<128x32x!tt.ptr<bf16>, #blocked4> -> tensor<128x32x!tt.ptr<bf16>, #blocked1>
    %a_21 = tt.broadcast %a_18 : tensor<1x32xi32, #blocked1> -> tensor<128x32xi32, #blocked1>
    %a_22 = tt.addptr %a_20, %a_21 : tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<128x32xi32, #blocked1>
    %b = ttg.convert_layout %rk : tensor<32xi32, #blocked2> -> tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_23 = tt.expand_dims %b {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<32x1xi32, #blocked3>
    %b_24 = ttg.convert_layout %b_23 : tensor<32x1xi32, #blocked3> -> tensor<32x1xi32, #blocked4>
    %b_25 = tt.splat %B : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>, #blocked4>
    %b_26 = tt.addptr %b_25, %b_24 : tensor<32x1x!tt.ptr<bf16>, #blocked4>, tensor<32x1xi32, #blocked4>
    %b_27 = ttg.convert_layout %rn_8 : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %b_28 = tt.expand_dims %b_27 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x64xi32, #blocked5>
    %1 = ttg.convert_layout %b_28 : tensor<1x64xi32, #blocked5> -> tensor<1x64xi32, #blocked>
    %b_29 = ttg.convert_layout %b_28 : tensor<1x64xi32, #blocked5> -> tensor<1x64xi32, #blocked>
    %b_30 = tt.splat %sbn : i32 -> tensor<1x64xi32, #blocked>
    %b_31 = arith.muli %b_29, %b_30 : tensor<1x64xi32, #blocked>
    %b_32 = tt.broadcast %b_26 : tensor<32x1x!tt.ptr<bf16>, #blocked4> -> tensor<32x64x!tt.ptr<bf16>, #blocked4>
    %b_33 = ttg.convert_layout %b_32 : tensor<32x64x!tt.ptr<bf16>, #blocked4> -> tensor<32x64x!tt.ptr<bf16>, #blocked>
    %b_34 = tt.broadcast %b_31 : tensor<1x64xi32, #blocked> -> tensor<32x64xi32, #blocked>
    %b_35 = tt.addptr %b_33, %b_34 : tensor<32x64x!tt.ptr<bf16>, #blocked>, tensor<32x64xi32, #blocked>
    %acc_36:3 = scf.for %k = %c0_i32 to %K step %c32_i32 iter_args(%a_37 = %a_22, %b_38 = %b_35, %acc_39 = %acc) -> (tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<32x64x!tt.ptr<bf16>, #blocked>, tensor<128x64xf32, #blocked>)  : i32 {
      %acc_40 = arith.subi %K, %k : i32
      %acc_41 = tt.splat %acc_40 : i32 -> tensor<1x32xi32, #blocked1>
      %acc_42 = arith.cmpi slt, %acc_15, %acc_41 : tensor<1x32xi32, #blocked1>
      %acc_43 = tt.broadcast %acc_42 : tensor<1x32xi1, #blocked1> -> tensor<128x32xi1, #blocked1>
      %acc_44 = ttg.convert_layout %a_37 : tensor<128x32x!tt.ptr<bf16>, #blocked1> -> tensor<128x32x!tt.ptr<bf16>, #blocked6>
      %acc_45 = ttg.convert_layout %acc_43 : tensor<128x32xi1, #blocked1> -> tensor<128x32xi1, #blocked6>
      %acc_46 = ttg.convert_layout %cst : tensor<128x32xbf16, #blocked1> -> tensor<128x32xbf16, #blocked6>
      %acc_47 = tt.load %acc_44, %acc_45, %acc_46 : tensor<128x32x!tt.ptr<bf16>, #blocked6>
      %acc_48 = ttg.convert_layout %acc_47 : tensor<128x32xbf16, #blocked6> -> tensor<128x32xbf16, #blocked1>
      %acc_49 = ttg.convert_layout %b_38 : tensor<32x64x!tt.ptr<bf16>, #blocked> -> tensor<32x64x!tt.ptr<bf16>, #blocked7>
      %acc_50 = tt.load %acc_49 : tensor<32x64x!tt.ptr<bf16>, #blocked7>
      %acc_51 = ttg.convert_layout %acc_50 : tensor<32x64xbf16, #blocked7> -> tensor<32x64xbf16, #blocked>
      %acc_52 = ttg.convert_layout %acc_48 : tensor<128x32xbf16, #blocked1> -> tensor<128x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked8}>>
      %acc_53 = ttg.convert_layout %acc_51 : tensor<32x64xbf16, #blocked> -> tensor<32x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked8}>>
      %acc_54 = ttg.convert_layout %acc_39 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #blocked8>
      %acc_55 = tt.dot %acc_52, %acc_53, %acc_54, inputPrecision = tf32 : tensor<128x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked8}>> * tensor<32x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked8}>> -> tensor<128x64xf32, #blocked8>
      %12 = ttg.convert_layout %acc_55 : tensor<128x64xf32, #blocked8> -> tensor<128x64xf32, #blocked>
      %a_56 = arith.muli %sak, %c32_i32 : i32
      %a_57 = tt.splat %a_56 : i32 -> tensor<128x32xi32, #blocked1>
      %a_58 = tt.addptr %a_37, %a_57 : tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<128x32xi32, #blocked1>
      %b_59 = tt.addptr %b_38, %cst_0 : tensor<32x64x!tt.ptr<bf16>, #blocked>, tensor<32x64xi32, #blocked>
      scf.yield %a_58, %b_59, %12 : tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<32x64x!tt.ptr<bf16>, #blocked>, tensor<128x64xf32, #blocked>
    }
    %2 = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked4>
    %3 = arith.muli %0, %2 : tensor<128x1xi32, #blocked4>
    %4 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked4>
    %5 = tt.addptr %4, %3 : tensor<128x1x!tt.ptr<f32>, #blocked4>, tensor<128x1xi32, #blocked4>
    %6 = tt.broadcast %5 : tensor<128x1x!tt.ptr<f32>, #blocked4> -> tensor<128x64x!tt.ptr<f32>, #blocked4>
    %7 = ttg.convert_layout %6 : tensor<128x64x!tt.ptr<f32>, #blocked4> -> tensor<128x64x!tt.ptr<f32>, #blocked>
    %8 = tt.broadcast %1 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %9 = tt.addptr %7, %8 : tensor<128x64x!tt.ptr<f32>, #blocked>, tensor<128x64xi32, #blocked>
    %10 = ttg.convert_layout %9 : tensor<128x64x!tt.ptr<f32>, #blocked> -> tensor<128x64x!tt.ptr<f32>, #blocked9>
    %11 = ttg.convert_layout %acc_36#2 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #blocked9>
    tt.store %10, %11 : tensor<128x64x!tt.ptr<f32>, #blocked9>
    tt.return
  }
}
