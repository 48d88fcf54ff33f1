module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @matmul_tma(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0> : tensor<1x128xi64>
    %cst_0 = arith.constant dense<0> : tensor<1x64xi64>
    %cst_1 = arith.constant dense<0> : tensor<128x1xi64>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<128x64xf16>
    %c63_i32 = arith.constant 63 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %c128_i32 = arith.constant 128 : i32
    %ad = arith.extsi %K : i32 to i64
    %M_3 = arith.extsi %M : i32 to i64
    %N_4 = arith.extsi %N : i32 to i64
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %0 = arith.addi %K, %c63_i32 : i32
    %1 = arith.divsi %0, %c64_i32 : i32
    %acc_5 = scf.for %k = %c0_i32 to %1 step %c1_i32 iter_args(%acc_6 = %acc) -> (tensor<128x128xf32>)  : i32 {
      %x = arith.muli %pm, %c128_i32 : i32
      %x_7 = arith.muli %k, %c64_i32 : i32
      %x_8 = arith.extsi %x : i32 to i64
      %x_9 = arith.extsi %x_7 : i32 to i64
      %x_10 = tt.splat %x_8 : i64 -> tensor<128xi64>
      %x_11 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %x_12 = arith.extsi %x_11 : tensor<128xi32> to tensor<128xi64>
      %x_13 = arith.addi %x_10, %x_12 : tensor<128xi64>
      %x_14 = tt.reshape %x_13 : tensor<128xi64> -> tensor<128x1xi64>
      %x_15 = tt.splat %x_9 : i64 -> tensor<64xi64>
      %x_16 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %x_17 = arith.extsi %x_16 : tensor<64xi32> to tensor<64xi64>
      %x_18 = arith.addi %x_15, %x_17 : tensor<64xi64>
      %x_19 = tt.reshape %x_18 : tensor<64xi64> -> tensor<1x64xi64>
      %x_20 = tt.splat %a : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
      %x_21 = tt.splat %ad : i64 -> tensor<128x1xi64>
      %x_22 = arith.muli %x_14, %x_21 : tensor<128x1xi64>
      %x_23 = tt.broadcast %x_22 : tensor<128x1xi64> -> tensor<128x64xi64>
      %x_24 = tt.broadcast %x_19 : tensor<1x64xi64> -> tensor<128x64xi64>
      %x_25 = arith.addi %x_23, %x_24 : tensor<128x64xi64>
      %x_26 = tt.addptr %x_20, %x_25 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi64>
      %x_27 = arith.cmpi sge, %x_14, %cst_1 : tensor<128x1xi64>
      %x_28 = tt.splat %M_3 : i64 -> tensor<128x1xi64>
      %x_29 = arith.cmpi slt, %x_14, %x_28 : tensor<128x1xi64>
      %x_30 = arith.andi %x_27, %x_29 : tensor<128x1xi1>
      %x_31 = tt.broadcast %x_30 : tensor<128x1xi1> -> tensor<128x64xi1>
      %x_32 = arith.cmpi sge, %x_19, %cst_0 : tensor<1x64xi64>
      %x_33 = tt.splat %ad : i64 -> tensor<1x64xi64>
      %x_34 = arith.cmpi slt, %x_19, %x_33 : tensor<1x64xi64>
      %x_35 = arith.andi %x_32, %x_34 : tensor<1x64xi1>
      %x_36 = tt.broadcast %x_35 : tensor<1x64xi1> -> tensor<128x64xi1>
      %x_37 = arith.andi %x_31, %x_36 : tensor<128x64xi1>
      %x_38 = tt.load %x_26, %x_37, %cst_2 : tensor<128x64x!tt.ptr<f16>>
      %y = arith.muli %pn, %c128_i32 : i32
      %y_39 = arith.extsi %y : i32 to i64
      %y_40 = tt.splat %y_39 : i64 -> tensor<128xi64>
      %y_41 = arith.addi %y_40, %x_12 : tensor<128xi64>
      %y_42 = tt.reshape %y_41 : tensor<128xi64> -> tensor<128x1xi64>
      %y_43 = tt.splat %b : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
      %y_44 = arith.muli %y_42, %x_21 : tensor<128x1xi64>
      %y_45 = tt.broadcast %y_44 : tensor<128x1xi64> -> tensor<128x64xi64>
      %y_46 = arith.addi %y_45, %x_24 : tensor<128x64xi64>
      %y_47 = tt.addptr %y_43, %y_46 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi64>
      %y_48 = arith.cmpi sge, %y_42, %cst_1 : tensor<128x1xi64>
      %y_49 = tt.splat %N_4 : i64 -> tensor<128x1xi64>
      %y_50 = arith.cmpi slt, %y_42, %y_49 : tensor<128x1xi64>
      %y_51 = arith.andi %y_48, %y_50 : tensor<128x1xi1>
      %y_52 = tt.broadcast %y_51 : tensor<128x1xi1> -> tensor<128x64xi1>
      %y_53 = arith.andi %y_52, %x_36 : tensor<128x64xi1>
      %y_54 = tt.load %y_47, %y_53, %cst_2 : tensor<128x64x!tt.ptr<f16>>
      %acc_55 = tt.trans %y_54 {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
      %acc_56 = tt.dot %x_38, %acc_55, %acc_6, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      scf.yield %acc_56 : tensor<128x128xf32>
    }
    %2 = arith.muli %pm, %c128_i32 : i32
    %3 = arith.muli %pn, %c128_i32 : i32
    %4 = arith.truncf %acc_5 : tensor<128x128xf32> to tensor<128x128xf16>
    %5 = arith.extsi %2 : i32 to i64
    %6 = arith.extsi %3 : i32 to i64
    %7 = tt.splat %5 : i64 -> tensor<128xi64>
    %8 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %9 = arith.extsi %8 : tensor<128xi32> to tensor<128xi64>
    %10 = arith.addi %7, %9 : tensor<128xi64>
    %11 = tt.reshape %10 : tensor<128xi64> -> tensor<128x1xi64>
    %12 = tt.splat %6 : i64 -> tensor<128xi64>
    %13 = arith.addi %12, %9 : tensor<128xi64>
    %14 = tt.reshape %13 : tensor<128xi64> -> tensor<1x128xi64>
    %15 = tt.splat %c : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %16 = tt.splat %N_4 : i64 -> tensor<128x1xi64>
    %17 = arith.muli %11, %16 : tensor<128x1xi64>
    %18 = tt.broadcast %17 : tensor<128x1xi64> -> tensor<128x128xi64>
    %19 = tt.broadcast %14 : tensor<1x128xi64> -> tensor<128x128xi64>
    %20 = arith.addi %18, %19 : tensor<128x128xi64>
    %21 = tt.addptr %15, %20 : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi64>
    %22 = arith.cmpi sge, %11, %cst_1 : tensor<128x1xi64>
    %23 = tt.splat %M_3 : i64 -> tensor<128x1xi64>
    %24 = arith.cmpi slt, %11, %23 : tensor<128x1xi64>
    %25 = arith.andi %22, %24 : tensor<128x1xi1>
    %26 = tt.broadcast %25 : tensor<128x1xi1> -> tensor<128x128xi1>
    %27 = arith.cmpi sge, %14, %cst : tensor<1x128xi64>
    %28 = tt.splat %N_4 : i64 -> tensor<1x128xi64>
    %29 = arith.cmpi slt, %14, %28 : tensor<1x128xi64>
    %30 = arith.andi %27, %29 : tensor<1x128xi1>
    %31 = tt.broadcast %30 : tensor<1x128xi1> -> tensor<128x128xi1>
    %32 = arith.andi %26, %31 : tensor<128x128xi1>
    tt.store %21, %4, %32 : tensor<128x128x!tt.ptr<f16>>
    tt.return
  }
}
