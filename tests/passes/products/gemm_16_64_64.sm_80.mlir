#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x64xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %rm = arith.constant 16 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<64> : tensor<16x64xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_0 = arith.muli %pm, %rm : i32
    %rm_1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_2 = tt.splat %rm_0 : i32 -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_3 = arith.addi %rm_2, %rm_1 : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rn = arith.muli %pn, %c64_i32 : i32
    %rn_4 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_5 = tt.splat %rn : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_6 = arith.addi %rn_5, %rn_4 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a = tt.expand_dims %rm_3 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16x1xi32, #blocked1>
    %a_7 = tt.splat %sam : i32 -> tensor<16x1xi32, #blocked1>
    %a_8 = arith.muli %a, %a_7 : tensor<16x1xi32, #blocked1>
    %a_9 = tt.splat %A : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked1>
    %a_10 = tt.addptr %a_9, %a_8 : tensor<16x1x!tt.ptr<f16>, #blocked1>, tensor<16x1xi32, #blocked1>
    %a_11 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_12 = tt.expand_dims %a_11 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %a_13 = tt.broadcast %a_10 : tensor<16x1x!tt.ptr<f16>, #blocked1> -> tensor<16x64x!tt.ptr<f16>, #blocked1>
    %a_14 = tt.broadcast %a_12 : tensor<1x64xi32, #blocked1> -> tensor<16x64xi32, #blocked1>
    %a_15 = tt.addptr %a_13, %a_14 : tensor<16x64x!tt.ptr<f16>, #blocked1>, tensor<16x64xi32, #blocked1>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %b_16 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %b_17 = tt.splat %sbk : i32 -> tensor<64x1xi32, #blocked1>
    %b_18 = arith.muli %b_16, %b_17 : tensor<64x1xi32, #blocked1>
    %b_19 = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %b_20 = tt.addptr %b_19, %b_18 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %b_21 = tt.expand_dims %rn_6 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %b_22 = tt.broadcast %b_20 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %b_23 = tt.broadcast %b_21 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
    %b_24 = tt.addptr %b_22, %b_23 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %acc_25:3 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%acc_32 = %acc, %a_33 = %a_15, %b_34 = %b_24) -> (tensor<16x64xf32, #blocked>, tensor<16x64x!tt.ptr<f16>, #blocked1>, tensor<64x64x!tt.ptr<f16>, #blocked1>)  : i32 {
      %acc_35 = tt.load %a_33 : tensor<16x64x!tt.ptr<f16>, #blocked1>
      %acc_36 = tt.load %b_34 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %acc_37 = ttg.convert_layout %acc_35 : tensor<16x64xf16, #blocked1> -> tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_38 = ttg.convert_layout %acc_36 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_39 = tt.dot %acc_37, %acc_38, %acc_32, inputPrecision = tf32 : tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<16x64xf32, #blocked>
      %a_40 = tt.addptr %a_33, %cst : tensor<16x64x!tt.ptr<f16>, #blocked1>, tensor<16x64xi32, #blocked1>
      %b_41 = arith.muli %sbk, %c64_i32 : i32
      %b_42 = tt.splat %b_41 : i32 -> tensor<64x64xi32, #blocked1>
      %b_43 = tt.addptr %b_34, %b_42 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      scf.yield %acc_39, %a_40, %b_43 : tensor<16x64xf32, #blocked>, tensor<16x64x!tt.ptr<f16>, #blocked1>, tensor<64x64x!tt.ptr<f16>, #blocked1>
    }
    %c = tt.splat %scm : i32 -> tensor<16x1xi32, #blocked1>
    %c_26 = arith.muli %a, %c : tensor<16x1xi32, #blocked1>
    %c_27 = tt.splat %C : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked1>
    %c_28 = tt.addptr %c_27, %c_26 : tensor<16x1x!tt.ptr<f16>, #blocked1>, tensor<16x1xi32, #blocked1>
    %c_29 = tt.broadcast %c_28 : tensor<16x1x!tt.ptr<f16>, #blocked1> -> tensor<16x64x!tt.ptr<f16>, #blocked1>
    %c_30 = tt.broadcast %b_21 : tensor<1x64xi32, #blocked1> -> tensor<16x64xi32, #blocked1>
    %c_31 = tt.addptr %c_29, %c_30 : tensor<16x64x!tt.ptr<f16>, #blocked1>, tensor<16x64xi32, #blocked1>
    %0 = tt.splat %M : i32 -> tensor<16x1xi32, #blocked1>
    %1 = arith.cmpi slt, %a, %0 : tensor<16x1xi32, #blocked1>
    %2 = tt.splat %N : i32 -> tensor<1x64xi32, #blocked1>
    %3 = arith.cmpi slt, %b_21, %2 : tensor<1x64xi32, #blocked1>
    %4 = tt.broadcast %1 : tensor<16x1xi1, #blocked1> -> tensor<16x64xi1, #blocked1>
    %5 = tt.broadcast %3 : tensor<1x64xi1, #blocked1> -> tensor<16x64xi1, #blocked1>
    %6 = arith.andi %4, %5 : tensor<16x64xi1, #blocked1>
    %7 = arith.truncf %acc_25#0 : tensor<16x64xf32, #blocked> to tensor<16x64xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<16x64xf16, #blocked> -> tensor<16x64xf16, #blocked1>
    tt.store %c_31, %8, %6 : tensor<16x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
