#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<64> : tensor<128x64xi32, #blocked1>
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm = arith.muli %pm, %c128_i32 : i32
    %rm_0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked2>
    %rm_1 = tt.splat %rm : i32 -> tensor<128xi32, #blocked2>
    %rm_2 = arith.addi %rm_1, %rm_0 : tensor<128xi32, #blocked2>
    %rn = arith.muli %pn, %c128_i32 : i32
    %rn_3 = tt.splat %rn : i32 -> tensor<128xi32, #blocked2>
    %rn_4 = arith.addi %rn_3, %rm_0 : tensor<128xi32, #blocked2>
    %rk = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked2>
    %a = ttg.convert_layout %rm_2 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_5 = tt.expand_dims %a {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<128x1xi32, #blocked3>
    %0 = ttg.convert_layout %a_5 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %1 = ttg.convert_layout %a_5 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %a_6 = ttg.convert_layout %a_5 : tensor<128x1xi32, #blocked3> -> tensor<128x1xi32, #blocked4>
    %a_7 = tt.splat %sam : i32 -> tensor<128x1xi32, #blocked4>
    %a_8 = arith.muli %a_6, %a_7 : tensor<128x1xi32, #blocked4>
    %a_9 = tt.splat %A : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked4>
    %a_10 = tt.addptr %a_9, %a_8 : tensor<128x1x!tt.ptr<f16>, #blocked4>, tensor<128x1xi32, #blocked4>
    %a_11 = ttg.convert_layout %rk : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %a_12 = tt.expand_dims %a_11 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x64xi32, #blocked5>
    %a_13 = ttg.convert_layout %a_12 : tensor<1x64xi32, #blocked5> -> tensor<1x64xi32, #blocked1>
    %a_14 = tt.broadcast %a_10 : tensor<128x1x!tt.ptr<f16>, #blocked4> -> tensor<128x64x!tt.ptr<f16>, #blocked4>
    %a_15 = ttg.convert_layout %a_14 : tensor<128x64x!tt.ptr<f16>, #blocked4> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %a_16 = tt.broadcast %a_13 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %a_17 = tt.addptr %a_15, %a_16 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %b = ttg.convert_layout %rk : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_18 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<64x1xi32, #blocked3>
    %b_19 = ttg.convert_layout %b_18 : tensor<64x1xi32, #blocked3> -> tensor<64x1xi32, #blocked4>
    %b_20 = tt.splat %sbk : i32 -> tensor<64x1xi32, #blocked4>
    %b_21 = arith.muli %b_19, %b_20 : tensor<64x1xi32, #blocked4>
    %b_22 = tt.splat %B : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked4>
    %b_23 = tt.addptr %b_22, %b_21 : tensor<64x1x!tt.ptr<f16>, #blocked4>, tensor<64x1xi32, #blocked4>
    %b_24 = ttg.convert_layout %rn_4 : tensor<128xi32, #blocked2> -> tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %b_25 = tt.expand_dims %b_24 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x128xi32, #blocked5>
    %2 = ttg.convert_layout %b_25 : tensor<1x128xi32, #blocked5> -> tensor<1x128xi32, #blocked>
    %3 = ttg.convert_layout %b_25 : tensor<1x128xi32, #blocked5> -> tensor<1x128xi32, #blocked>
    %b_26 = ttg.convert_layout %b_25 : tensor<1x128xi32, #blocked5> -> tensor<1x128xi32, #blocked>
    %b_27 = tt.broadcast %b_23 : tensor<64x1x!tt.ptr<f16>, #blocked4> -> tensor<64x128x!tt.ptr<f16>, #blocked4>
    %b_28 = ttg.convert_layout %b_27 : tensor<64x128x!tt.ptr<f16>, #blocked4> -> tensor<64x128x!tt.ptr<f16>, #blocked>
    %b_29 = tt.broadcast %b_26 : tensor<1x128xi32, #blocked> -> tensor<64x128xi32, #blocked>
    %b_30 = tt.addptr %b_28, %b_29 : tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<64x128xi32, #blocked>
    %acc_31:3 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%a_32 = %a_17, %b_33 = %b_30, %acc_34 = %acc) -> (tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf32, #blocked>)  : i32 {
      %acc_35 = tt.load %a_32 : tensor<128x64x!tt.ptr<f16>, #blocked1>
      %acc_36 = tt.load %b_33 : tensor<64x128x!tt.ptr<f16>, #blocked>
      %acc_37 = ttg.convert_layout %acc_35 : tensor<128x64xf16, #blocked1> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>>
      %acc_38 = ttg.convert_layout %acc_36 : tensor<64x128xf16, #blocked> -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>>
      %acc_39 = ttg.convert_layout %acc_34 : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #blocked6>
      %acc_40 = tt.dot %acc_37, %acc_38, %acc_39, inputPrecision = tf32 : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>> * tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>> -> tensor<128x128xf32, #blocked6>
      %21 = ttg.convert_layout %acc_40 : tensor<128x128xf32, #blocked6> -> tensor<128x128xf32, #blocked>
      %a_41 = tt.addptr %a_32, %cst : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
      %b_42 = arith.muli %sbk, %c64_i32 : i32
      %b_43 = tt.splat %b_42 : i32 -> tensor<64x128xi32, #blocked>
      %b_44 = tt.addptr %b_33, %b_43 : tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<64x128xi32, #blocked>
      scf.yield %a_41, %b_44, %21 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf32, #blocked>
    }
    %4 = tt.splat %M : i32 -> tensor<128x1xi32, #blocked4>
    %5 = arith.cmpi slt, %1, %4 : tensor<128x1xi32, #blocked4>
    %6 = tt.splat %N : i32 -> tensor<1x128xi32, #blocked>
    %7 = arith.cmpi slt, %3, %6 : tensor<1x128xi32, #blocked>
    %8 = tt.broadcast %5 : tensor<128x1xi1, #blocked4> -> tensor<128x128xi1, #blocked4>
    %9 = ttg.convert_layout %8 : tensor<128x128xi1, #blocked4> -> tensor<128x128xi1, #blocked>
    %10 = tt.broadcast %7 : tensor<1x128xi1, #blocked> -> tensor<128x128xi1, #blocked>
    %11 = arith.andi %9, %10 : tensor<128x128xi1, #blocked>
    %12 = tt.splat %scm : i32 -> tensor<128x1xi32, #blocked4>
    %13 = arith.muli %0, %12 : tensor<128x1xi32, #blocked4>
    %14 = tt.splat %C : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked4>
    %15 = tt.addptr %14, %13 : tensor<128x1x!tt.ptr<f16>, #blocked4>, tensor<128x1xi32, #blocked4>
    %16 = tt.broadcast %15 : tensor<128x1x!tt.ptr<f16>, #blocked4> -> tensor<128x128x!tt.ptr<f16>, #blocked4>
    %17 = ttg.convert_layout %16 : tensor<128x128x!tt.ptr<f16>, #blocked4> -> tensor<128x128x!tt.ptr<f16>, #blocked>
    %18 = tt.broadcast %2 : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %19 = tt.addptr %17, %18 : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
    %20 = arith.truncf %acc_31#2 : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
    tt.store %19, %20, %11 : tensor<128x128x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
