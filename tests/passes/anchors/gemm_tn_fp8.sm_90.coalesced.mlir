#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked5 = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked7 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked8 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm_tn(%A: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sak: i32 {tt.divisibility = 16 : i32}, %sbn: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf8E4M3FN, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %c64_i32 = arith.constant 64 : i32
    %rm = arith.constant 128 : i32
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_1 = arith.muli %pm, %rm : i32
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked1>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<128xi32, #blocked1>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<128xi32, #blocked1>
    %rn = arith.muli %pn, %c64_i32 : i32
    %rn_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked1>
    %rn_6 = tt.splat %rn : i32 -> tensor<64xi32, #blocked1>
    %rn_7 = arith.addi %rn_6, %rn_5 : tensor<64xi32, #blocked1>
    %a = ttg.convert_layout %rm_4 : tensor<128xi32, #blocked1> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %a_8 = tt.expand_dims %a {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %0 = ttg.convert_layout %a_8 : tensor<128x1xi32, #blocked2> -> tensor<128x1xi32, #blocked3>
    %a_9 = ttg.convert_layout %a_8 : tensor<128x1xi32, #blocked2> -> tensor<128x1xi32, #blocked3>
    %a_10 = tt.splat %A : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked3>
    %a_11 = tt.addptr %a_10, %a_9 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked3>, tensor<128x1xi32, #blocked3>
    %a_12 = ttg.convert_layout %rn_5 : tensor<64xi32, #blocked1> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %a_13 = tt.expand_dims %a_12 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x64xi32, #blocked4>
    %acc_14 = ttg.convert_layout %a_13 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked>
    %a_15 = ttg.convert_layout %a_13 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked>
    %a_16 = tt.splat %sak : i32 -> tensor<1x64xi32, #blocked>
    %a_17 = arith.muli %a_15, %a_16 : tensor<1x64xi32, #blocked>
    %a_18 = tt.broadcast %a_11 : tensor<128x1x!tt.ptr<f8E4M3FN>, #blocked3> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked3>
    %a_19 = ttg.convert_layout %a_18 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked3> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked>
    %a_20 = tt.broadcast %a_17 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %a_21 = tt.addptr %a_19, %a_20 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x64xi32, #blocked>
    %b = ttg.convert_layout %rn_5 : tensor<64xi32, #blocked1> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_22 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %b_23 = ttg.convert_layout %b_22 : tensor<64x1xi32, #blocked2> -> tensor<64x1xi32, #blocked3>
    %b_24 = tt.splat %B : !tt.ptr<f8E4M3FN> -> tensor<64x1x!tt.ptr<f8E4M3FN>, #blocked3>
    %b_25 = tt.addptr %b_24, %b_23 : tensor<64x1x!tt.ptr<f8E4M3FN>, #blocked3>, tensor<64x1xi32, #blocked3>
    %b_26 = ttg.convert_layout %rn_7 : tensor<64xi32, #blocked1> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>>
    %b_27 = tt.expand_dims %b_26 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked4}>> -> tensor<1x64xi32, #blocked4>
    %1 = ttg.convert_layout %b_27 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked>
    %b_28 = ttg.convert_layout %b_27 : tensor<1x64xi32, #blocked4> -> tensor<1x64xi32, #blocked>
    %b_29 = tt.splat %sbn : i32 -> tensor<1x64xi32, #blocked>
    %b_30 = arith.muli %b_28, %b_29 : tensor<1x64xi32, #blocked>
    %b_31 = tt.broadcast %b_25 : tensor<64x1x!tt.ptr<f8E4M3FN>, #blocked3> -> tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked3>
    %b_32 = ttg.convert_layout %b_31 : tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked3> -> tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked>
    %b_33 = tt.broadcast %b_30 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %b_34 = tt.addptr %b_32, %b_33 : tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<64x64xi32, #blocked>
    %acc_35:3 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%a_36 = %a_21, %b_37 = %b_34, %acc_38 = %acc) -> (tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x64xf32, #blocked>)  : i32 {
      %acc_39 = arith.subi %K, %k : i32
      %acc_40 = tt.splat %acc_39 : i32 -> tensor<1x64xi32, #blocked>
      %acc_41 = arith.cmpi slt, %acc_14, %acc_40 : tensor<1x64xi32, #blocked>
      %acc_42 = tt.broadcast %acc_41 : tensor<1x64xi1, #blocked> -> tensor<128x64xi1, #blocked>
      %acc_43 = ttg.convert_layout %a_36 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked> -> tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked5>
      %acc_44 = ttg.convert_layout %acc_42 : tensor<128x64xi1, #blocked> -> tensor<128x64xi1, #blocked5>
      %acc_45 = ttg.convert_layout %cst : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #blocked5>
      %acc_46 = tt.load %acc_43, %acc_44, %acc_45 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked5>
      %acc_47 = ttg.convert_layout %acc_46 : tensor<128x64xf8E4M3FN, #blocked5> -> tensor<128x64xf8E4M3FN, #blocked>
      %acc_48 = ttg.convert_layout %b_37 : tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked> -> tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked6>
      %acc_49 = tt.load %acc_48 : tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked6>
      %acc_50 = ttg.convert_layout %acc_49 : tensor<64x64xf8E4M3FN, #blocked6> -> tensor<64x64xf8E4M3FN, #blocked>
      %acc_51 = ttg.convert_layout %acc_47 : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>>
      %acc_52 = ttg.convert_layout %acc_50 : tensor<64x64xf8E4M3FN, #blocked> -> tensor<64x64xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>>
      %acc_53 = ttg.convert_layout %acc_38 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #blocked7>
      %acc_54 = tt.dot %acc_51, %acc_52, %acc_53, inputPrecision = tf32 {maxNumImpreciseAcc = 1073741824 : i32} : tensor<128x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #blocked7}>> * tensor<64x64xf8E4M3FN, #ttg.dot_op<{opIdx = 1, parent = #blocked7}>> -> tensor<128x64xf32, #blocked7>
      %12 = ttg.convert_layout %acc_54 : tensor<128x64xf32, #blocked7> -> tensor<128x64xf32, #blocked>
      %a_55 = arith.muli %sak, %c64_i32 : i32
      %a_56 = tt.splat %a_55 : i32 -> tensor<128x64xi32, #blocked>
      %a_57 = tt.addptr %a_36, %a_56 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x64xi32, #blocked>
      %b_58 = tt.addptr %b_37, %cst_0 : tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %a_57, %b_58, %12 : tensor<128x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<64x64x!tt.ptr<f8E4M3FN>, #blocked>, tensor<128x64xf32, #blocked>
    }
    %2 = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked3>
    %3 = arith.muli %0, %2 : tensor<128x1xi32, #blocked3>
    %4 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked3>
    %5 = tt.addptr %4, %3 : tensor<128x1x!tt.ptr<f32>, #blocked3>, tensor<128x1xi32, #blocked3>
    %6 = tt.broadcast %5 : tensor<128x1x!tt.ptr<f32>, #blocked3> -> tensor<128x64x!tt.ptr<f32>, #blocked3>
    %7 = ttg.convert_layout %6 : tensor<128x64x!tt.ptr<f32>, #blocked3> -> tensor<128x64x!tt.ptr<f32>, #blocked>
    %8 = tt.broadcast %1 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %9 = tt.addptr %7, %8 : tensor<128x64x!tt.ptr<f32>, #blocked>, tensor<128x64xi32, #blocked>
    %10 = ttg.convert_layout %9 : tensor<128x64x!tt.ptr<f32>, #blocked> -> tensor<128x64x!tt.ptr<f32>, #blocked8>
    %11 = ttg.convert_layout %acc_35#2 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #blocked8>
    tt.store %10, %11 : tensor<128x64x!tt.ptr<f32>, #blocked8>
    tt.return
  }
}
