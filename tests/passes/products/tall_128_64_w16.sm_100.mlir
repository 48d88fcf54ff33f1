#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [16, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [16, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [16, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [16, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %rm = arith.constant 128 : i32
    %rn = arith.constant 64 : i32
    %c16_i32 = arith.constant 16 : i32
    %cst = arith.constant dense<16> : tensor<128x16xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_0 = arith.muli %pm, %rm : i32
    %rm_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_3 = tt.splat %rm_0 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_4 = tt.splat %rm_0 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_5 = arith.addi %rm_3, %rm_1 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_6 = arith.addi %rm_4, %rm_2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rn_7 = arith.muli %pn, %rn : i32
    %rn_8 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_10 = tt.splat %rn_7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_11 = tt.splat %rn_7 : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_12 = arith.addi %rn_10, %rn_8 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_13 = arith.addi %rn_11, %rn_9 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %a = tt.expand_dims %rm_5 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %a_14 = tt.expand_dims %rm_6 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %a_15 = tt.splat %sam : i32 -> tensor<128x1xi32, #blocked1>
    %a_16 = arith.muli %a, %a_15 : tensor<128x1xi32, #blocked1>
    %a_17 = tt.splat %A : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %a_18 = tt.addptr %a_17, %a_16 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %a_19 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_20 = tt.expand_dims %a_19 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x16xi32, #blocked1>
    %a_21 = tt.broadcast %a_18 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x16x!tt.ptr<f16>, #blocked1>
    %a_22 = tt.broadcast %a_20 : tensor<1x16xi32, #blocked1> -> tensor<128x16xi32, #blocked1>
    %a_23 = tt.addptr %a_21, %a_22 : tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<128x16xi32, #blocked1>
    %b = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_24 = tt.expand_dims %b {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<16x1xi32, #blocked3>
    %b_25 = tt.splat %sbk : i32 -> tensor<16x1xi32, #blocked3>
    %b_26 = arith.muli %b_24, %b_25 : tensor<16x1xi32, #blocked3>
    %b_27 = tt.splat %B : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked3>
    %b_28 = tt.addptr %b_27, %b_26 : tensor<16x1x!tt.ptr<f16>, #blocked3>, tensor<16x1xi32, #blocked3>
    %b_29 = tt.expand_dims %rn_12 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x64xi32, #blocked3>
    %b_30 = tt.expand_dims %rn_13 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
    %b_31 = tt.broadcast %b_28 : tensor<16x1x!tt.ptr<f16>, #blocked3> -> tensor<16x64x!tt.ptr<f16>, #blocked3>
    %b_32 = tt.broadcast %b_29 : tensor<1x64xi32, #blocked3> -> tensor<16x64xi32, #blocked3>
    %b_33 = tt.addptr %b_31, %b_32 : tensor<16x64x!tt.ptr<f16>, #blocked3>, tensor<16x64xi32, #blocked3>
    %acc_34:3 = scf.for %k = %c0_i32 to %K step %c16_i32 iter_args(%acc_41 = %acc, %a_42 = %a_23, %b_43 = %b_33) -> (tensor<128x64xf32, #blocked>, tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<16x64x!tt.ptr<f16>, #blocked3>)  : i32 {
      %acc_44 = tt.load %a_42 : tensor<128x16x!tt.ptr<f16>, #blocked1>
      %acc_45 = tt.load %b_43 : tensor<16x64x!tt.ptr<f16>, #blocked3>
      %acc_46 = ttg.convert_layout %acc_44 : tensor<128x16xf16, #blocked1> -> tensor<128x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_47 = ttg.convert_layout %acc_45 : tensor<16x64xf16, #blocked3> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_48 = tt.dot %acc_46, %acc_47, %acc_41, inputPrecision = tf32 : tensor<128x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<16x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x64xf32, #blocked>
      %a_49 = tt.addptr %a_42, %cst : tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<128x16xi32, #blocked1>
      %b_50 = arith.muli %sbk, %c16_i32 : i32
      %b_51 = tt.splat %b_50 : i32 -> tensor<16x64xi32, #blocked3>
      %b_52 = tt.addptr %b_43, %b_51 : tensor<16x64x!tt.ptr<f16>, #blocked3>, tensor<16x64xi32, #blocked3>
      scf.yield %acc_48, %a_49, %b_52 : tensor<128x64xf32, #blocked>, tensor<128x16x!tt.ptr<f16>, #blocked1>, tensor<16x64x!tt.ptr<f16>, #blocked3>
    }
    %c = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked2>
    %c_35 = arith.muli %a_14, %c : tensor<128x1xi32, #blocked2>
    %c_36 = tt.splat %C : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked2>
    %c_37 = tt.addptr %c_36, %c_35 : tensor<128x1x!tt.ptr<f16>, #blocked2>, tensor<128x1xi32, #blocked2>
    %c_38 = tt.broadcast %c_37 : tensor<128x1x!tt.ptr<f16>, #blocked2> -> tensor<128x64x!tt.ptr<f16>, #blocked2>
    %c_39 = tt.broadcast %b_30 : tensor<1x64xi32, #blocked2> -> tensor<128x64xi32, #blocked2>
    %c_40 = tt.addptr %c_38, %c_39 : tensor<128x64x!tt.ptr<f16>, #blocked2>, tensor<128x64xi32, #blocked2>
    %0 = tt.splat %M : i32 -> tensor<128x1xi32, #blocked2>
    %1 = arith.cmpi slt, %a_14, %0 : tensor<128x1xi32, #blocked2>
    %2 = tt.splat %N : i32 -> tensor<1x64xi32, #blocked2>
    %3 = arith.cmpi slt, %b_30, %2 : tensor<1x64xi32, #blocked2>
    %4 = tt.broadcast %1 : tensor<128x1xi1, #blocked2> -> tensor<128x64xi1, #blocked2>
    %5 = tt.broadcast %3 : tensor<1x64xi1, #blocked2> -> tensor<128x64xi1, #blocked2>
    %6 = arith.andi %4, %5 : tensor<128x64xi1, #blocked2>
    %7 = arith.truncf %acc_34#0 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked2>
    tt.store %c_40, %8, %6 : tensor<128x64x!tt.ptr<f16>, #blocked2>
    tt.return
  }
}
