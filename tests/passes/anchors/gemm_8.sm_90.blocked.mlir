#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 8], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [8, 1], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 8], order = [0, 1]}>
#blocked6 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 2], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%A: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %B: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %C: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sam: i32 {tt.divisibility = 16 : i32}, %sbk: i32 {tt.divisibility = 16 : i32}, %scm: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x256xf32, #blocked>
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<32> : tensor<64x32xi32, #blocked1>
    %c32_i32 = arith.constant 32 : i32
    %rn = arith.constant 256 : i32
    %rm = arith.constant 64 : i32
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %rm_0 = arith.muli %pm, %rm : i32
    %rm_1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked2>
    %rm_2 = tt.splat %rm_0 : i32 -> tensor<64xi32, #blocked2>
    %rm_3 = arith.addi %rm_2, %rm_1 : tensor<64xi32, #blocked2>
    %rn_4 = arith.muli %pn, %rn : i32
    %rn_5 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked2>
    %rn_6 = tt.splat %rn_4 : i32 -> tensor<256xi32, #blocked2>
    %rn_7 = arith.addi %rn_6, %rn_5 : tensor<256xi32, #blocked2>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked2>
    %a = ttg.convert_layout %rm_3 : tensor<64xi32, #blocked2> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %a_8 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<64x1xi32, #blocked3>
    %0 = ttg.convert_layout %a_8 : tensor<64x1xi32, #blocked3> -> tensor<64x1xi32, #blocked4>
    %1 = ttg.convert_layout %a_8 : tensor<64x1xi32, #blocked3> -> tensor<64x1xi32, #blocked4>
    %a_9 = ttg.convert_layout %a_8 : tensor<64x1xi32, #blocked3> -> tensor<64x1xi32, #blocked4>
    %a_10 = tt.splat %sam : i32 -> tensor<64x1xi32, #blocked4>
    %a_11 = arith.muli %a_9, %a_10 : tensor<64x1xi32, #blocked4>
    %a_12 = tt.splat %A : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked4>
    %a_13 = tt.addptr %a_12, %a_11 : tensor<64x1x!tt.ptr<f16>, #blocked4>, tensor<64x1xi32, #blocked4>
    %a_14 = ttg.convert_layout %rk : tensor<32xi32, #blocked2> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %a_15 = tt.expand_dims %a_14 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x32xi32, #blocked5>
    %a_16 = ttg.convert_layout %a_15 : tensor<1x32xi32, #blocked5> -> tensor<1x32xi32, #blocked1>
    %a_17 = tt.broadcast %a_13 : tensor<64x1x!tt.ptr<f16>, #blocked4> -> tensor<64x32x!tt.ptr<f16>, #blocked4>
    %a_18 = ttg.convert_layout %a_17 : tensor<64x32x!tt.ptr<f16>, #blocked4> -> tensor<64x32x!tt.ptr<f16>, #blocked1>
    %a_19 = tt.broadcast %a_16 : tensor<1x32xi32, #blocked1> -> tensor<64x32xi32, #blocked1>
    %a_20 = tt.addptr %a_18, %a_19 : tensor<64x32x!tt.ptr<f16>, #blocked1>, tensor<64x32xi32, #blocked1>
    %b = ttg.convert_layout %rk : tensor<32xi32, #blocked2> -> tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>>
    %b_21 = tt.expand_dims %b {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked3}>> -> tensor<32x1xi32, #blocked3>
    %b_22 = ttg.convert_layout %b_21 : tensor<32x1xi32, #blocked3> -> tensor<32x1xi32, #blocked4>
    %b_23 = tt.splat %sbk : i32 -> tensor<32x1xi32, #blocked4>
    %b_24 = arith.muli %b_22, %b_23 : tensor<32x1xi32, #blocked4>
    %b_25 = tt.splat %B : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>, #blocked4>
    %b_26 = tt.addptr %b_25, %b_24 : tensor<32x1x!tt.ptr<f16>, #blocked4>, tensor<32x1xi32, #blocked4>
    %b_27 = ttg.convert_layout %rn_7 : tensor<256xi32, #blocked2> -> tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked5}>>
    %b_28 = tt.expand_dims %b_27 {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked5}>> -> tensor<1x256xi32, #blocked5>
    %2 = ttg.convert_layout %b_28 : tensor<1x256xi32, #blocked5> -> tensor<1x256xi32, #blocked>
    %3 = ttg.convert_layout %b_28 : tensor<1x256xi32, #blocked5> -> tensor<1x256xi32, #blocked>
    %b_29 = ttg.convert_layout %b_28 : tensor<1x256xi32, #blocked5> -> tensor<1x256xi32, #blocked>
    %b_30 = tt.broadcast %b_26 : tensor<32x1x!tt.ptr<f16>, #blocked4> -> tensor<32x256x!tt.ptr<f16>, #blocked4>
    %b_31 = ttg.convert_layout %b_30 : tensor<32x256x!tt.ptr<f16>, #blocked4> -> tensor<32x256x!tt.ptr<f16>, #blocked>
    %b_32 = tt.broadcast %b_29 : tensor<1x256xi32, #blocked> -> tensor<32x256xi32, #blocked>
    %b_33 = tt.addptr %b_31, %b_32 : tensor<32x256x!tt.ptr<f16>, #blocked>, tensor<32x256xi32, #blocked>
    %acc_34:3 = scf.for %k = %c0_i32 to %K step %c32_i32 iter_args(%a_35 = %a_20, %b_36 = %b_33, %acc_37 = %acc) -> (tensor<64x32x!tt.ptr<f16>, #blocked1>, tensor<32x256x!tt.ptr<f16>, #blocked>, tensor<64x256xf32, #blocked>)  : i32 {
      %acc_38 = tt.load %a_35 : tensor<64x32x!tt.ptr<f16>, #blocked1>
      %acc_39 = tt.load %b_36 : tensor<32x256x!tt.ptr<f16>, #blocked>
      %acc_40 = ttg.convert_layout %acc_38 : tensor<64x32xf16, #blocked1> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>>
      %acc_41 = ttg.convert_layout %acc_39 : tensor<32x256xf16, #blocked> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>>
      %acc_42 = ttg.convert_layout %acc_37 : tensor<64x256xf32, #blocked> -> tensor<64x256xf32, #blocked6>
      %acc_43 = tt.dot %acc_40, %acc_41, %acc_42, inputPrecision = tf32 : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked6}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #blocked6}>> -> tensor<64x256xf32, #blocked6>
      %21 = ttg.convert_layout %acc_43 : tensor<64x256xf32, #blocked6> -> tensor<64x256xf32, #blocked>
      %a_44 = tt.addptr %a_35, %cst : tensor<64x32x!tt.ptr<f16>, #blocked1>, tensor<64x32xi32, #blocked1>
      %b_45 = arith.muli %sbk, %c32_i32 : i32
      %b_46 = tt.splat %b_45 : i32 -> tensor<32x256xi32, #blocked>
      %b_47 = tt.addptr %b_36, %b_46 : tensor<32x256x!tt.ptr<f16>, #blocked>, tensor<32x256xi32, #blocked>
      scf.yield %a_44, %b_47, %21 : tensor<64x32x!tt.ptr<f16>, #blocked1>, tensor<32x256x!tt.ptr<f16>, #blocked>, tensor<64x256xf32, #blocked>
    }
    %4 = tt.splat %M : i32 -> tensor<64x1xi32, #blocked4>
    %5 = arith.cmpi slt, %1, %4 : tensor<64x1xi32, #blocked4>
    %6 = tt.splat %N : i32 -> tensor<1x256xi32, #blocked>
    %7 = arith.cmpi slt, %3, %6 : tensor<1x256xi32, #blocked>
    %8 = tt.broadcast %5 : tensor<64x1xi1, #blocked4> -> tensor<64x256xi1, #blocked4>
    %9 = ttg.convert_layout %8 : tensor<64x256xi1, #blocked4> -> tensor<64x256xi1, #blocked>
    %10 = tt.broadcast %7 : tensor<1x256xi1, #blocked> -> tensor<64x256xi1, #blocked>
    %11 = arith.andi %9, %10 : tensor<64x256xi1, #blocked>
    %12 = tt.splat %scm : i32 -> tensor<64x1xi32, #blocked4>
    %13 = arith.muli %0, %12 : tensor<64x1xi32, #blocked4>
    %14 = tt.splat %C : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked4>
    %15 = tt.addptr %14, %13 : tensor<64x1x!tt.ptr<f16>, #blocked4>, tensor<64x1xi32, #blocked4>
    %16 = tt.broadcast %15 : tensor<64x1x!tt.ptr<f16>, #blocked4> -> tensor<64x256x!tt.ptr<f16>, #blocked4>
    %17 = ttg.convert_layout %16 : tensor<64x256x!tt.ptr<f16>, #blocked4> -> tensor<64x256x!tt.ptr<f16>, #blocked>
    %18 = tt.broadcast %2 : tensor<1x256xi32, #blocked> -> tensor<64x256xi32, #blocked>
    %19 = tt.addptr %17, %18 : tensor<64x256x!tt.ptr<f16>, #blocked>, tensor<64x256xi32, #blocked>
    %20 = arith.truncf %acc_34#2 : tensor<64x256xf32, #blocked> to tensor<64x256xf16, #blocked>
    tt.store %19, %20, %11 : tensor<64x256x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
