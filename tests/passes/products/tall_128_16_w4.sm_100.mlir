#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x16xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %rm = arith.constant 128 : i32
    %c16_i32 = arith.constant 16 : i32
    %cst = arith.constant dense<16> : tensor<128x16xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_0 = arith.muli %pm, %rm : i32
    %rm_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_2 = tt.splat %rm_0 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_3 = arith.addi %rm_2, %rm_1 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rn = arith.muli %pn, %c16_i32 : i32
    %rn_4 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_5 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_6 = tt.splat %rn : i32 -> tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_7 = tt.splat %rn : i32 -> tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_8 = arith.addi %rn_6, %rn_4 : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_9 = arith.addi %rn_7, %rn_5 : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a = tt.expand_dims %rm_3 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %a_10 = tt.splat %sam : i32 -> tensor<128x1xi32, #blocked1>
    %a_11 = arith.muli %a, %a_10 : tensor<128x1xi32, #blocked1>
    %a_12 = tt.splat %A : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %a_13 = tt.addptr %a_12, %a_11 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %a_14 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_15 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x16xi32, #blocked1>
    %a_16 = tt.broadcast %a_13 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x16x!tt.ptr<f16>, #blocked1>
    %a_17 = tt.broadcast %a_15 : tensor<1x16xi32, #blocked1> -> tensor<128x16xi32, #blocked1>
    %a_18 = tt.addptr %a_16, %a_17 : tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<128x16xi32, #blocked1>
    %b = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_19 = tt.expand_dims %b {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
    %b_20 = tt.splat %sbk : i32 -> tensor<16x1xi32, #blocked2>
    %b_21 = arith.muli %b_19, %b_20 : tensor<16x1xi32, #blocked2>
    %b_22 = tt.splat %B : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked2>
    %b_23 = tt.addptr %b_22, %b_21 : tensor<16x1x!tt.ptr<f16>, #blocked2>, tensor<16x1xi32, #blocked2>
    %b_24 = tt.expand_dims %rn_8 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x16xi32, #blocked2>
    %b_25 = tt.expand_dims %rn_9 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x16xi32, #blocked1>
    %b_26 = tt.broadcast %b_23 : tensor<16x1x!tt.ptr<f16>, #blocked2> -> tensor<16x16x!tt.ptr<f16>, #blocked2>
    %b_27 = tt.broadcast %b_24 : tensor<1x16xi32, #blocked2> -> tensor<16x16xi32, #blocked2>
    %b_28 = tt.addptr %b_26, %b_27 : tensor<16x16x!tt.ptr<f16>, #blocked2>, tensor<16x16xi32, #blocked2>
    %acc_29:3 = scf.for %k = %c0_i32 to %K step %c16_i32 iter_args(%acc_36 = %acc, %a_37 = %a_18, %b_38 = %b_28) -> (tensor<128x16xf32, #blocked>, tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<16x16x!tt.ptr<f16>, #blocked2>)  : i32 {
      %acc_39 = tt.load %a_37 : tensor<128x16x!tt.ptr<f16>, #blocked1>
      %acc_40 = tt.load %b_38 : tensor<16x16x!tt.ptr<f16>, #blocked2>
      %acc_41 = ttg.convert_layout %acc_39 : tensor<128x16xf16, #blocked1> -> tensor<128x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_42 = ttg.convert_layout %acc_40 : tensor<16x16xf16, #blocked2> -> tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_43 = tt.dot %acc_41, %acc_42, %acc_36, inputPrecision = tf32 : tensor<128x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x16xf32, #blocked>
      %a_44 = tt.addptr %a_37, %cst : tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<128x16xi32, #blocked1>
      %b_45 = arith.muli %sbk, %c16_i32 : i32
      %b_46 = tt.splat %b_45 : i32 -> tensor<16x16xi32, #blocked2>
      %b_47 = tt.addptr %b_38, %b_46 : tensor<16x16x!tt.ptr<f16>, #blocked2>, tensor<16x16xi32, #blocked2>
      scf.yield %acc_43, %a_44, %b_47 : tensor<128x16xf32, #blocked>, tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<16x16x!tt.ptr<f16>, #blocked2>
    }
    %c = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked1>
    %c_30 = arith.muli %a, %c : tensor<128x1xi32, #blocked1>
    %c_31 = tt.splat %C : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %c_32 = tt.addptr %c_31, %c_30 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %c_33 = tt.broadcast %c_32 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x16x!tt.ptr<f16>, #blocked1>
    %c_34 = tt.broadcast %b_25 : tensor<1x16xi32, #blocked1> -> tensor<128x16xi32, #blocked1>
    %c_35 = tt.addptr %c_33, %c_34 : tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<128x16xi32, #blocked1>
    %0 = tt.splat %M : i32 -> tensor<128x1xi32, #blocked1>
    %1 = arith.cmpi slt, %a, %0 : tensor<128x1xi32, #blocked1>
    %2 = tt.splat %N : i32 -> tensor<1x16xi32, #blocked1>
    %3 = arith.cmpi slt, %b_25, %2 : tensor<1x16xi32, #blocked1>
    %4 = tt.broadcast %1 : tensor<128x1xi1, #blocked1> -> tensor<128x16xi1, #blocked1>
    %5 = tt.broadcast %3 : tensor<1x16xi1, #blocked1> -> tensor<128x16xi1, #blocked1>
    %6 = arith.andi %4, %5 : tensor<128x16xi1, #blocked1>
    %7 = arith.truncf %acc_29#0 : tensor<128x16xf32, #blocked> to tensor<128x16xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<128x16xf16, #blocked> -> tensor<128x16xf16, #blocked1>
    tt.store %c_35, %8, %6 : tensor<128x16x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
