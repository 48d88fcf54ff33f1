#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f64> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf64, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %c16_i32 = arith.constant 16 : i32
    %cst = arith.constant dense<16> : tensor<64x16xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm = arith.muli %pm, %c64_i32 : i32
    %rm_0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rm_3 = tt.splat %rm : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_4 = tt.splat %rm : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_5 = arith.addi %rm_3, %rm_0 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_6 = arith.addi %rm_4, %rm_1 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rn = arith.muli %pn, %c64_i32 : i32
    %rn_7 = tt.splat %rn : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_8 = arith.addi %rn_7, %rm_2 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %a = tt.expand_dims %rm_5 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
    %a_9 = tt.expand_dims %rm_6 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %a_10 = tt.splat %sam : i32 -> tensor<64x1xi32, #blocked1>
    %a_11 = arith.muli %a, %a_10 : tensor<64x1xi32, #blocked1>
    %a_12 = tt.splat %A : !tt.ptr<f64> -> tensor<64x1x!tt.ptr<f64>, #blocked1>
    %a_13 = tt.addptr %a_12, %a_11 : tensor<64x1x!tt.ptr<f64>, #blocked1>, tensor<64x1xi32, #blocked1>
    %a_14 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_15 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x16xi32, #blocked1>
    %a_16 = tt.broadcast %a_13 : tensor<64x1x!tt.ptr<f64>, #blocked1> -> tensor<64x16x!tt.ptr<f64>, #blocked1>
    %a_17 = tt.broadcast %a_15 : tensor<1x16xi32, #blocked1> -> tensor<64x16xi32, #blocked1>
    %a_18 = tt.addptr %a_16, %a_17 : tensor<64x16x!tt.ptr<f64>, #blocked1>, tensor<64x16xi32, #blocked1>
    %b = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_19 = tt.expand_dims %b {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
    %b_20 = tt.splat %sbk : i32 -> tensor<16x1xi32, #blocked2>
    %b_21 = arith.muli %b_19, %b_20 : tensor<16x1xi32, #blocked2>
    %b_22 = tt.splat %B : !tt.ptr<f64> -> tensor<16x1x!tt.ptr<f64>, #blocked2>
    %b_23 = tt.addptr %b_22, %b_21 : tensor<16x1x!tt.ptr<f64>, #blocked2>, tensor<16x1xi32, #blocked2>
    %b_24 = tt.expand_dims %rn_8 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
    %b_25 = tt.broadcast %b_23 : tensor<16x1x!tt.ptr<f64>, #blocked2> -> tensor<16x64x!tt.ptr<f64>, #blocked2>
    %b_26 = tt.broadcast %b_24 : tensor<1x64xi32, #blocked2> -> tensor<16x64xi32, #blocked2>
    %b_27 = tt.addptr %b_25, %b_26 : tensor<16x64x!tt.ptr<f64>, #blocked2>, tensor<16x64xi32, #blocked2>
    %acc_28:3 = scf.for %k = %c0_i32 to %K step %c16_i32 iter_args(%acc_35 = %acc, %a_36 = %a_18, %b_37 = %b_27) -> (tensor<64x64xf64, #blocked>, tensor<64x16x!tt.ptr<f64>, #blocked1>, tensor<16x64x!tt.ptr<f64>, #blocked2>)  : i32 {
      %acc_38 = tt.load %a_36 : tensor<64x16x!tt.ptr<f64>, #blocked1>
      %acc_39 = tt.load %b_37 : tensor<16x64x!tt.ptr<f64>, #blocked2>
      %acc_40 = ttg.convert_layout %acc_38 : tensor<64x16xf64, #blocked1> -> tensor<64x16xf64, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_41 = ttg.convert_layout %acc_39 : tensor<16x64xf64, #blocked2> -> tensor<16x64xf64, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_42 = tt.dot %acc_40, %acc_41, %acc_35 : tensor<64x16xf64, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<16x64xf64, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<64x64xf64, #blocked>
      %a_43 = tt.addptr %a_36, %cst : tensor<64x16x!tt.ptr<f64>, #blocked1>, tensor<64x16xi32, #blocked1>
      %b_44 = arith.muli %sbk, %c16_i32 : i32
      %b_45 = tt.splat %b_44 : i32 -> tensor<16x64xi32, #blocked2>
      %b_46 = tt.addptr %b_37, %b_45 : tensor<16x64x!tt.ptr<f64>, #blocked2>, tensor<16x64xi32, #blocked2>
      scf.yield %acc_42, %a_43, %b_46 : tensor<64x64xf64, #blocked>, tensor<64x16x!tt.ptr<f64>, #blocked1>, tensor<16x64x!tt.ptr<f64>, #blocked2>
    }
    %c = tt.splat %scm : i32 -> tensor<64x1xi32, #blocked2>
    %c_29 = arith.muli %a_9, %c : tensor<64x1xi32, #blocked2>
    %c_30 = tt.splat %C : !tt.ptr<f64> -> tensor<64x1x!tt.ptr<f64>, #blocked2>
    %c_31 = tt.addptr %c_30, %c_29 : tensor<64x1x!tt.ptr<f64>, #blocked2>, tensor<64x1xi32, #blocked2>
    %c_32 = tt.broadcast %c_31 : tensor<64x1x!tt.ptr<f64>, #blocked2> -> tensor<64x64x!tt.ptr<f64>, #blocked2>
    %c_33 = tt.broadcast %b_24 : tensor<1x64xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
    %c_34 = tt.addptr %c_32, %c_33 : tensor<64x64x!tt.ptr<f64>, #blocked2>, tensor<64x64xi32, #blocked2>
    %0 = tt.splat %M : i32 -> tensor<64x1xi32, #blocked2>
    %1 = arith.cmpi slt, %a_9, %0 : tensor<64x1xi32, #blocked2>
    %2 = tt.splat %N : i32 -> tensor<1x64xi32, #blocked2>
    %3 = arith.cmpi slt, %b_24, %2 : tensor<1x64xi32, #blocked2>
    %4 = tt.broadcast %1 : tensor<64x1xi1, #blocked2> -> tensor<64x64xi1, #blocked2>
    %5 = tt.broadcast %3 : tensor<1x64xi1, #blocked2> -> tensor<64x64xi1, #blocked2>
    %6 = arith.andi %4, %5 : tensor<64x64xi1, #blocked2>
    %7 = ttg.convert_layout %acc_28#0 : tensor<64x64xf64, #blocked> -> tensor<64x64xf64, #blocked2>
    tt.store %c_34, %7, %6 : tensor<64x64x!tt.ptr<f64>, #blocked2>
    tt.return
  }
}
