#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<256x64xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %rm = arith.constant 256 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<64> : tensor<256x64xi32, #blocked1>
    %cst_0 = arith.constant dense<64> : tensor<64x64xi32, #blocked2>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_1 = arith.muli %pm, %rm : i32
    %rm_2 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rn = arith.muli %pn, %c64_i32 : i32
    %rn_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_6 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_7 = tt.splat %rn : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_8 = tt.splat %rn : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %rn_9 = arith.addi %rn_7, %rn_5 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rn_10 = arith.addi %rn_8, %rn_6 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<256xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<256x1xi32, #blocked1>
    %a_11 = tt.splat %sam : i32 -> tensor<256x1xi32, #blocked1>
    %a_12 = arith.muli %a, %a_11 : tensor<256x1xi32, #blocked1>
    %a_13 = tt.splat %A : !tt.ptr<f16> -> tensor<256x1x!tt.ptr<f16>, #blocked1>
    %a_14 = tt.addptr %a_13, %a_12 : tensor<256x1x!tt.ptr<f16>, #blocked1>, tensor<256x1xi32, #blocked1>
    %a_15 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %a_16 = tt.expand_dims %a_15 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %a_17 = tt.broadcast %a_14 : tensor<256x1x!tt.ptr<f16>, #blocked1> -> tensor<256x64x!tt.ptr<f16>, #blocked1>
    %a_18 = tt.broadcast %a_16 : tensor<1x64xi32, #blocked1> -> tensor<256x64xi32, #blocked1>
    %a_19 = tt.addptr %a_17, %a_18 : tensor<256x64x!tt.ptr<f16>, #blocked1>, tensor<256x64xi32, #blocked1>
    %b = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %b_20 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
    %b_21 = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked2>
    %b_22 = tt.addptr %b_21, %b_20 : tensor<64x1x!tt.ptr<f16>, #blocked2>, tensor<64x1xi32, #blocked2>
    %b_23 = tt.expand_dims %rn_9 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
    %b_24 = tt.expand_dims %rn_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %b_25 = tt.splat %sbk : i32 -> tensor<1x64xi32, #blocked2>
    %b_26 = arith.muli %b_23, %b_25 : tensor<1x64xi32, #blocked2>
    %b_27 = tt.broadcast %b_22 : tensor<64x1x!tt.ptr<f16>, #blocked2> -> tensor<64x64x!tt.ptr<f16>, #blocked2>
    %b_28 = tt.broadcast %b_26 : tensor<1x64xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
    %b_29 = tt.addptr %b_27, %b_28 : tensor<64x64x!tt.ptr<f16>, #blocked2>, tensor<64x64xi32, #blocked2>
    %acc_30:3 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%acc_37 = %acc, %a_38 = %a_19, %b_39 = %b_29) -> (tensor<256x64xf32, #blocked>, tensor<256x64x!tt.ptr<f16>, #blocked1>, tensor<64x64x!tt.ptr<f16>, #blocked2>)  : i32 {
      %acc_40 = tt.load %a_38 : tensor<256x64x!tt.ptr<f16>, #blocked1>
      %acc_41 = tt.load %b_39 : tensor<64x64x!tt.ptr<f16>, #blocked2>
      %acc_42 = ttg.convert_layout %acc_40 : tensor<256x64xf16, #blocked1> -> tensor<256x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
      %acc_43 = ttg.convert_layout %acc_41 : tensor<64x64xf16, #blocked2> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
      %acc_44 = tt.dot %acc_42, %acc_43, %acc_37, inputPrecision = tf32 : tensor<256x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<256x64xf32, #blocked>
      %a_45 = tt.addptr %a_38, %cst : tensor<256x64x!tt.ptr<f16>, #blocked1>, tensor<256x64xi32, #blocked1>
      %b_46 = tt.addptr %b_39, %cst_0 : tensor<64x64x!tt.ptr<f16>, #blocked2>, tensor<64x64xi32, #blocked2>
      scf.yield %acc_44, %a_45, %b_46 : tensor<256x64xf32, #blocked>, tensor<256x64x!tt.ptr<f16>, #blocked1>, tensor<64x64x!tt.ptr<f16>, #blocked2>
    }
    %c = tt.splat %scm : i32 -> tensor<256x1xi32, #blocked1>
    %c_31 = arith.muli %a, %c : tensor<256x1xi32, #blocked1>
    %c_32 = tt.splat %C : !tt.ptr<f16> -> tensor<256x1x!tt.ptr<f16>, #blocked1>
    %c_33 = tt.addptr %c_32, %c_31 : tensor<256x1x!tt.ptr<f16>, #blocked1>, tensor<256x1xi32, #blocked1>
    %c_34 = tt.broadcast %c_33 : tensor<256x1x!tt.ptr<f16>, #blocked1> -> tensor<256x64x!tt.ptr<f16>, #blocked1>
    %c_35 = tt.broadcast %b_24 : tensor<1x64xi32, #blocked1> -> tensor<256x64xi32, #blocked1>
    %c_36 = tt.addptr %c_34, %c_35 : tensor<256x64x!tt.ptr<f16>, #blocked1>, tensor<256x64xi32, #blocked1>
    %0 = tt.splat %M : i32 -> tensor<256x1xi32, #blocked1>
    %1 = arith.cmpi slt, %a, %0 : tensor<256x1xi32, #blocked1>
    %2 = tt.splat %N : i32 -> tensor<1x64xi32, #blocked1>
    %3 = arith.cmpi slt, %b_24, %2 : tensor<1x64xi32, #blocked1>
    %4 = tt.broadcast %1 : tensor<256x1xi1, #blocked1> -> tensor<256x64xi1, #blocked1>
    %5 = tt.broadcast %3 : tensor<1x64xi1, #blocked1> -> tensor<256x64xi1, #blocked1>
    %6 = arith.andi %4, %5 : tensor<256x64xi1, #blocked1>
    %7 = arith.truncf %acc_30#0 : tensor<256x64xf32, #blocked> to tensor<256x64xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<256x64xf16, #blocked> -> tensor<256x64xf16, #blocked1>
    tt.store %c_36, %8, %6 : tensor<256x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
