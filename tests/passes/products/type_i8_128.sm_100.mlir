#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %B: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %C: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0> : tensor<128x128xi32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %c32_i32 = arith.constant 32 : i32
    %cst = arith.constant dense<32> : tensor<128x32xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm = arith.muli %pm, %c128_i32 : i32
    %rm_0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rm_3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rm_4 = tt.splat %rm : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_5 = tt.splat %rm : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_6 = arith.addi %rm_4, %rm_0 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_7 = arith.addi %rm_5, %rm_1 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rn = arith.muli %pn, %c128_i32 : i32
    %rn_8 = tt.splat %rn : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_9 = tt.splat %rn : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_10 = arith.addi %rn_8, %rm_2 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_11 = arith.addi %rn_9, %rm_3 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %a = tt.expand_dims %rm_6 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %a_12 = tt.expand_dims %rm_7 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<128x1xi32, #blocked2>
    %a_13 = tt.splat %sam : i32 -> tensor<128x1xi32, #blocked1>
    %a_14 = arith.muli %a, %a_13 : tensor<128x1xi32, #blocked1>
    %a_15 = tt.splat %A : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>, #blocked1>
    %a_16 = tt.addptr %a_15, %a_14 : tensor<128x1x!tt.ptr<i8>, #blocked1>, tensor<128x1xi32, #blocked1>
    %a_17 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_18 = tt.expand_dims %a_17 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x32xi32, #blocked1>
    %a_19 = tt.broadcast %a_16 : tensor<128x1x!tt.ptr<i8>, #blocked1> -> tensor<128x32x!tt.ptr<i8>, #blocked1>
    %a_20 = tt.broadcast %a_18 : tensor<1x32xi32, #blocked1> -> tensor<128x32xi32, #blocked1>
    %a_21 = tt.addptr %a_19, %a_20 : tensor<128x32x!tt.ptr<i8>, #blocked1>, tensor<128x32xi32, #blocked1>
    %b = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_22 = tt.expand_dims %b {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<32x1xi32, #blocked3>
    %b_23 = tt.splat %sbk : i32 -> tensor<32x1xi32, #blocked3>
    %b_24 = arith.muli %b_22, %b_23 : tensor<32x1xi32, #blocked3>
    %b_25 = tt.splat %B : !tt.ptr<i8> -> tensor<32x1x!tt.ptr<i8>, #blocked3>
    %b_26 = tt.addptr %b_25, %b_24 : tensor<32x1x!tt.ptr<i8>, #blocked3>, tensor<32x1xi32, #blocked3>
    %b_27 = tt.expand_dims %rn_10 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x128xi32, #blocked3>
    %b_28 = tt.expand_dims %rn_11 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %b_29 = tt.broadcast %b_26 : tensor<32x1x!tt.ptr<i8>, #blocked3> -> tensor<32x128x!tt.ptr<i8>, #blocked3>
    %b_30 = tt.broadcast %b_27 : tensor<1x128xi32, #blocked3> -> tensor<32x128xi32, #blocked3>
    %b_31 = tt.addptr %b_29, %b_30 : tensor<32x128x!tt.ptr<i8>, #blocked3>, tensor<32x128xi32, #blocked3>
    %acc_32:3 = scf.for %k = %c0_i32 to %K step %c32_i32 iter_args(%acc_39 = %acc, %a_40 = %a_21, %b_41 = %b_31) -> (tensor<128x128xi32, #blocked>, tensor<128x32x!tt.ptr<i8>, #blocked1>, tensor<32x128x!tt.ptr<i8>, #blocked3>)  : i32 {
      %acc_42 = tt.load %a_40 : tensor<128x32x!tt.ptr<i8>, #blocked1>
      %acc_43 = tt.load %b_41 : tensor<32x128x!tt.ptr<i8>, #blocked3>
      %acc_44 = ttg.convert_layout %acc_42 : tensor<128x32xi8, #blocked1> -> tensor<128x32xi8, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_45 = ttg.convert_layout %acc_43 : tensor<32x128xi8, #blocked3> -> tensor<32x128xi8, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_46 = tt.dot %acc_44, %acc_45, %acc_39, inputPrecision = tf32 : tensor<128x32xi8, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<32x128xi8, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x128xi32, #blocked>
      %a_47 = tt.addptr %a_40, %cst : tensor<128x32x!tt.ptr<i8>, #blocked1>, tensor<128x32xi32, #blocked1>
      %b_48 = arith.muli %sbk, %c32_i32 : i32
      %b_49 = tt.splat %b_48 : i32 -> tensor<32x128xi32, #blocked3>
      %b_50 = tt.addptr %b_41, %b_49 : tensor<32x128x!tt.ptr<i8>, #blocked3>, tensor<32x128xi32, #blocked3>
      scf.yield %acc_46, %a_47, %b_50 : tensor<128x128xi32, #blocked>, tensor<128x32x!tt.ptr<i8>, #blocked1>, tensor<32x128x!tt.ptr<i8>, #blocked3>
    }
    %c = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked2>
    %c_33 = arith.muli %a_12, %c : tensor<128x1xi32, #blocked2>
    %c_34 = tt.splat %C : !tt.ptr<i32> -> tensor<128x1x!tt.ptr<i32>, #blocked2>
    %c_35 = tt.addptr %c_34, %c_33 : tensor<128x1x!tt.ptr<i32>, #blocked2>, tensor<128x1xi32, #blocked2>
    %c_36 = tt.broadcast %c_35 : tensor<128x1x!tt.ptr<i32>, #blocked2> -> tensor<128x128x!tt.ptr<i32>, #blocked2>
    %c_37 = tt.broadcast %b_28 : tensor<1x128xi32, #blocked2> -> tensor<128x128xi32, #blocked2>
    %c_38 = tt.addptr %c_36, %c_37 : tensor<128x128x!tt.ptr<i32>, #blocked2>, tensor<128x128xi32, #blocked2>
    %0 = tt.splat %M : i32 -> tensor<128x1xi32, #blocked2>
    %1 = arith.cmpi slt, %a_12, %0 : tensor<128x1xi32, #blocked2>
    %2 = tt.splat %N : i32 -> tensor<1x128xi32, #blocked2>
    %3 = arith.cmpi slt, %b_28, %2 : tensor<1x128xi32, #blocked2>
    %4 = tt.broadcast %1 : tensor<128x1xi1, #blocked2> -> tensor<128x128xi1, #blocked2>
    %5 = tt.broadcast %3 : tensor<1x128xi1, #blocked2> -> tensor<128x128xi1, #blocked2>
    %6 = arith.andi %4, %5 : tensor<128x128xi1, #blocked2>
    %7 = ttg.convert_layout %acc_32#0 : tensor<128x128xi32, #blocked> -> tensor<128x128xi32, #blocked2>
    tt.store %c_38, %7, %6 : tensor<128x128x!tt.ptr<i32>, #blocked2>
    tt.return
  }
}
