#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %cst = arith.constant dense<32> : tensor<128x32xi32, #blocked1>
    %cst_0 = arith.constant dense<32> : tensor<32x128xi32, #blocked2>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm = arith.muli %pm, %c128_i32 : i32
    %rm_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %rm_3 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rm_4 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rm_5 = tt.splat %rm : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_6 = tt.splat %rm : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %rm_7 = arith.addi %rm_5, %rm_1 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_8 = arith.addi %rm_6, %rm_2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %rn = arith.muli %pn, %c128_i32 : i32
    %rn_9 = tt.splat %rn : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_10 = tt.splat %rn : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %rn_11 = arith.addi %rn_9, %rm_3 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_12 = arith.addi %rn_10, %rm_4 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %a = tt.expand_dims %rm_7 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %a_13 = tt.expand_dims %rm_8 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %a_14 = tt.splat %sam : i32 -> tensor<128x1xi32, #blocked1>
    %a_15 = arith.muli %a, %a_14 : tensor<128x1xi32, #blocked1>
    %a_16 = tt.splat %A : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>, #blocked1>
    %a_17 = tt.addptr %a_16, %a_15 : tensor<128x1x!tt.ptr<bf16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %a_18 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_19 = tt.expand_dims %a_18 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x32xi32, #blocked1>
    %a_20 = tt.broadcast %a_17 : tensor<128x1x!tt.ptr<bf16>, #blocked1> -> tensor<128x32x!tt.ptr<bf16>, #blocked1>
    %a_21 = tt.broadcast %a_19 : tensor<1x32xi32, #blocked1> -> tensor<128x32xi32, #blocked1>
    %a_22 = tt.addptr %a_20, %a_21 : tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<128x32xi32, #blocked1>
    %b = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_23 = tt.expand_dims %b {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<32x1xi32, #blocked2>
    %b_24 = tt.splat %B : !tt.ptr<bf16> -> tensor<32x1x!tt.ptr<bf16>, #blocked2>
    %b_25 = tt.addptr %b_24, %b_23 : tensor<32x1x!tt.ptr<bf16>, #blocked2>, tensor<32x1xi32, #blocked2>
    %b_26 = tt.expand_dims %rn_11 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %b_27 = tt.expand_dims %rn_12 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x128xi32, #blocked3>
    %b_28 = tt.splat %sbk : i32 -> tensor<1x128xi32, #blocked2>
    %b_29 = arith.muli %b_26, %b_28 : tensor<1x128xi32, #blocked2>
    %b_30 = tt.broadcast %b_25 : tensor<32x1x!tt.ptr<bf16>, #blocked2> -> tensor<32x128x!tt.ptr<bf16>, #blocked2>
    %b_31 = tt.broadcast %b_29 : tensor<1x128xi32, #blocked2> -> tensor<32x128xi32, #blocked2>
    %b_32 = tt.addptr %b_30, %b_31 : tensor<32x128x!tt.ptr<bf16>, #blocked2>, tensor<32x128xi32, #blocked2>
    %acc_33:3 = scf.for %k = %c0_i32 to %K step %c32_i32 iter_args(%acc_40 = %acc, %a_41 = %a_22, %b_42 = %b_32) -> (tensor<128x128xf32, #blocked>, tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<32x128x!tt.ptr<bf16>, #blocked2>)  : i32 {
      %acc_43 = tt.load %a_41 : tensor<128x32x!tt.ptr<bf16>, #blocked1>
      %acc_44 = tt.load %b_42 : tensor<32x128x!tt.ptr<bf16>, #blocked2>
      %acc_45 = ttg.convert_layout %acc_43 : tensor<128x32xbf16, #blocked1> -> tensor<128x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_46 = ttg.convert_layout %acc_44 : tensor<32x128xbf16, #blocked2> -> tensor<32x128xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_47 = tt.dot %acc_45, %acc_46, %acc_40, inputPrecision = tf32 : tensor<128x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<32x128xbf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x128xf32, #blocked>
      %a_48 = tt.addptr %a_41, %cst : tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<128x32xi32, #blocked1>
      %b_49 = tt.addptr %b_42, %cst_0 : tensor<32x128x!tt.ptr<bf16>, #blocked2>, tensor<32x128xi32, #blocked2>
      scf.yield %acc_47, %a_48, %b_49 : tensor<128x128xf32, #blocked>, tensor<128x32x!tt.ptr<bf16>, #blocked1>, tensor<32x128x!tt.ptr<bf16>, #blocked2>
    }
    %c = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked3>
    %c_34 = arith.muli %a_13, %c : tensor<128x1xi32, #blocked3>
    %c_35 = tt.splat %C : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>, #blocked3>
    %c_36 = tt.addptr %c_35, %c_34 : tensor<128x1x!tt.ptr<f32>, #blocked3>, tensor<128x1xi32, #blocked3>
    %c_37 = tt.broadcast %c_36 : tensor<128x1x!tt.ptr<f32>, #blocked3> -> tensor<128x128x!tt.ptr<f32>, #blocked3>
    %c_38 = tt.broadcast %b_27 : tensor<1x128xi32, #blocked3> -> tensor<128x128xi32, #blocked3>
    %c_39 = tt.addptr %c_37, %c_38 : tensor<128x128x!tt.ptr<f32>, #blocked3>, tensor<128x128xi32, #blocked3>
    %0 = tt.splat %M : i32 -> tensor<128x1xi32, #blocked3>
    %1 = arith.cmpi slt, %a_13, %0 : tensor<128x1xi32, #blocked3>
    %2 = tt.splat %N : i32 -> tensor<1x128xi32, #blocked3>
    %3 = arith.cmpi slt, %b_27, %2 : tensor<1x128xi32, #blocked3>
    %4 = tt.broadcast %1 : tensor<128x1xi1, #blocked3> -> tensor<128x128xi1, #blocked3>
    %5 = tt.broadcast %3 : tensor<1x128xi1, #blocked3> -> tensor<128x128xi1, #blocked3>
    %6 = arith.andi %4, %5 : tensor<128x128xi1, #blocked3>
    %7 = ttg.convert_layout %acc_33#0 : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #blocked3>
    tt.store %c_39, %7, %6 : tensor<128x128x!tt.ptr<f32>, #blocked3>
    tt.return
  }
}
