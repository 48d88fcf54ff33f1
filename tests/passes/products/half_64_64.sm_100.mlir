#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<64> : tensor<64x64xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm = arith.muli %pm, %c64_i32 : i32
    %rm_0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rm_2 = tt.splat %rm : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_3 = arith.addi %rm_2, %rm_0 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rn = arith.muli %pn, %c64_i32 : i32
    %rn_4 = tt.splat %rn : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_5 = arith.addi %rn_4, %rm_1 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a = tt.expand_dims %rm_3 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %a_6 = tt.splat %sam : i32 -> tensor<64x1xi32, #blocked1>
    %a_7 = arith.muli %a, %a_6 : tensor<64x1xi32, #blocked1>
    %a_8 = tt.splat %A : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %a_9 = tt.addptr %a_8, %a_7 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %a_10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_11 = tt.expand_dims %a_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %a_12 = tt.broadcast %a_9 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %a_13 = tt.broadcast %a_11 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
    %a_14 = tt.addptr %a_12, %a_13 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %b_15 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %b_16 = tt.splat %sbk : i32 -> tensor<64x1xi32, #blocked1>
    %b_17 = arith.muli %b_15, %b_16 : tensor<64x1xi32, #blocked1>
    %b_18 = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %b_19 = tt.addptr %b_18, %b_17 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %b_20 = tt.expand_dims %rn_5 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %b_21 = tt.broadcast %b_19 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %b_22 = tt.broadcast %b_20 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
    %b_23 = tt.addptr %b_21, %b_22 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %acc_24:3 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%acc_30 = %acc, %a_31 = %a_14, %b_32 = %b_23) -> (tensor<64x64xf16, #blocked>, tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64x!tt.ptr<f16>, #blocked1>)  : i32 {
      %acc_33 = tt.load %a_31 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %acc_34 = tt.load %b_32 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %acc_35 = ttg.convert_layout %acc_33 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_36 = ttg.convert_layout %acc_34 : tensor<64x64xf16, #blocked1> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_37 = tt.dot %acc_35, %acc_36, %acc_30, inputPrecision = tf32 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<64x64xf16, #blocked>
      %a_38 = tt.addptr %a_31, %cst : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %b_39 = arith.muli %sbk, %c64_i32 : i32
      %b_40 = tt.splat %b_39 : i32 -> tensor<64x64xi32, #blocked1>
      %b_41 = tt.addptr %b_32, %b_40 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      scf.yield %acc_37, %a_38, %b_41 : tensor<64x64xf16, #blocked>, tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64x!tt.ptr<f16>, #blocked1>
    }
    %c = tt.splat %scm : i32 -> tensor<64x1xi32, #blocked1>
    %c_25 = arith.muli %a, %c : tensor<64x1xi32, #blocked1>
    %c_26 = tt.splat %C : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
    %c_27 = tt.addptr %c_26, %c_25 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
    %c_28 = tt.broadcast %c_27 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
    %c_29 = tt.addptr %c_28, %b_22 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
    %0 = tt.splat %M : i32 -> tensor<64x1xi32, #blocked1>
    %1 = arith.cmpi slt, %a, %0 : tensor<64x1xi32, #blocked1>
    %2 = tt.splat %N : i32 -> tensor<1x64xi32, #blocked1>
    %3 = arith.cmpi slt, %b_20, %2 : tensor<1x64xi32, #blocked1>
    %4 = tt.broadcast %1 : tensor<64x1xi1, #blocked1> -> tensor<64x64xi1, #blocked1>
    %5 = tt.broadcast %3 : tensor<1x64xi1, #blocked1> -> tensor<64x64xi1, #blocked1>
    %6 = arith.andi %4, %5 : tensor<64x64xi1, #blocked1>
    %7 = ttg.convert_layout %acc_24#0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blocked1>
    tt.store %c_29, %7, %6 : tensor<64x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
