#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<256x128xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %rm = arith.constant 256 : i32
    %rn = arith.constant 128 : i32
    %c16_i32 = arith.constant 16 : i32
    %cst = arith.constant dense<16> : tensor<256x16xi32, #blocked1>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_0 = arith.muli %pm, %rm : i32
    %rm_1 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_2 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_3 = tt.splat %rm_0 : i32 -> tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_4 = tt.splat %rm_0 : i32 -> tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rm_5 = arith.addi %rm_3, %rm_1 : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_6 = arith.addi %rm_4, %rm_2 : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %rn_7 = arith.muli %pn, %rn : i32
    %rn_8 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_9 = tt.splat %rn_7 : i32 -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_10 = arith.addi %rn_9, %rn_8 : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %a = tt.expand_dims %rm_5 {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<256x1xi32, #blocked1>
    %a_11 = tt.expand_dims %rm_6 {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<256x1xi32, #blocked2>
    %a_12 = tt.splat %sam : i32 -> tensor<256x1xi32, #blocked1>
    %a_13 = arith.muli %a, %a_12 : tensor<256x1xi32, #blocked1>
    %a_14 = tt.splat %A : !tt.ptr<f16> -> tensor<256x1x!tt.ptr<f16>, #blocked1>
    %a_15 = tt.addptr %a_14, %a_13 : tensor<256x1x!tt.ptr<f16>, #blocked1>, tensor<256x1xi32, #blocked1>
    %a_16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_17 = tt.expand_dims %a_16 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x16xi32, #blocked1>
    %a_18 = tt.broadcast %a_15 : tensor<256x1x!tt.ptr<f16>, #blocked1> -> tensor<256x16x!tt.ptr<f16>, #blocked1>
    %a_19 = tt.broadcast %a_17 : tensor<1x16xi32, #blocked1> -> tensor<256x16xi32, #blocked1>
    %a_20 = tt.addptr %a_18, %a_19 : tensor<256x16x!tt.ptr<f16>, #blocked1>, tensor<256x16xi32, #blocked1>
    %b = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_21 = tt.expand_dims %b {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
    %b_22 = tt.splat %sbk : i32 -> tensor<16x1xi32, #blocked2>
    %b_23 = arith.muli %b_21, %b_22 : tensor<16x1xi32, #blocked2>
    %b_24 = tt.splat %B : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>, #blocked2>
    %b_25 = tt.addptr %b_24, %b_23 : tensor<16x1x!tt.ptr<f16>, #blocked2>, tensor<16x1xi32, #blocked2>
    %b_26 = tt.expand_dims %rn_10 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x128xi32, #blocked2>
    %b_27 = tt.broadcast %b_25 : tensor<16x1x!tt.ptr<f16>, #blocked2> -> tensor<16x128x!tt.ptr<f16>, #blocked2>
    %b_28 = tt.broadcast %b_26 : tensor<1x128xi32, #blocked2> -> tensor<16x128xi32, #blocked2>
    %b_29 = tt.addptr %b_27, %b_28 : tensor<16x128x!tt.ptr<f16>, #blocked2>, tensor<16x128xi32, #blocked2>
    %acc_30:3 = scf.for %k = %c0_i32 to %K step %c16_i32 iter_args(%acc_37 = %acc, %a_38 = %a_20, %b_39 = %b_29) -> (tensor<256x128xf32, #blocked>, tensor<256x16x!tt.ptr<f16>, #blocked1>, tensor<16x128x!tt.ptr<f16>, #blocked2>)  : i32 {
      %acc_40 = tt.load %a_38 : tensor<256x16x!tt.ptr<f16>, #blocked1>
      %acc_41 = tt.load %b_39 : tensor<16x128x!tt.ptr<f16>, #blocked2>
      %acc_42 = ttg.convert_layout %acc_40 : tensor<256x16xf16, #blocked1> -> tensor<256x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_43 = ttg.convert_layout %acc_41 : tensor<16x128xf16, #blocked2> -> tensor<16x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_44 = tt.dot %acc_42, %acc_43, %acc_37, inputPrecision = tf32 : tensor<256x16xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<16x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<256x128xf32, #blocked>
      %a_45 = tt.addptr %a_38, %cst : tensor<256x16x!tt.ptr<f16>, #blocked1>, tensor<256x16xi32, #blocked1>
      %b_46 = arith.muli %sbk, %c16_i32 : i32
      %b_47 = tt.splat %b_46 : i32 -> tensor<16x128xi32, #blocked2>
      %b_48 = tt.addptr %b_39, %b_47 : tensor<16x128x!tt.ptr<f16>, #blocked2>, tensor<16x128xi32, #blocked2>
      scf.yield %acc_44, %a_45, %b_48 : tensor<256x128xf32, #blocked>, tensor<256x16x!tt.ptr<f16>, #blocked1>, tensor<16x128x!tt.ptr<f16>, #blocked2>
    }
    %c = tt.splat %scm : i32 -> tensor<256x1xi32, #blocked2>
    %c_31 = arith.muli %a_11, %c : tensor<256x1xi32, #blocked2>
    %c_32 = tt.splat %C : !tt.ptr<f16> -> tensor<256x1x!tt.ptr<f16>, #blocked2>
    %c_33 = tt.addptr %c_32, %c_31 : tensor<256x1x!tt.ptr<f16>, #blocked2>, tensor<256x1xi32, #blocked2>
    %c_34 = tt.broadcast %c_33 : tensor<256x1x!tt.ptr<f16>, #blocked2> -> tensor<256x128x!tt.ptr<f16>, #blocked2>
    %c_35 = tt.broadcast %b_26 : tensor<1x128xi32, #blocked2> -> tensor<256x128xi32, #blocked2>
    %c_36 = tt.addptr %c_34, %c_35 : tensor<256x128x!tt.ptr<f16>, #blocked2>, tensor<256x128xi32, #blocked2>
    %0 = tt.splat %M : i32 -> tensor<256x1xi32, #blocked2>
    %1 = arith.cmpi slt, %a_11, %0 : tensor<256x1xi32, #blocked2>
    %2 = tt.splat %N : i32 -> tensor<1x128xi32, #blocked2>
    %3 = arith.cmpi slt, %b_26, %2 : tensor<1x128xi32, #blocked2>
    %4 = tt.broadcast %1 : tensor<256x1xi1, #blocked2> -> tensor<256x128xi1, #blocked2>
    %5 = tt.broadcast %3 : tensor<1x128xi1, #blocked2> -> tensor<256x128xi1, #blocked2>
    %6 = arith.andi %4, %5 : tensor<256x128xi1, #blocked2>
    %7 = arith.truncf %acc_30#0 : tensor<256x128xf32, #blocked> to tensor<256x128xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<256x128xf16, #blocked> -> tensor<256x128xf16, #blocked2>
    tt.store %c_36, %8, %6 : tensor<256x128x!tt.ptr<f16>, #blocked2>
    tt.return
  }
}
