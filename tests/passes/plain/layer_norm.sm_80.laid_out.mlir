#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @layer_norm(%out: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %eps: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf16, #blocked>
    %c1024_i32 = arith.constant 1024 : i32
    %c0_i32 = arith.constant 0 : i32
    %rs = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1024xf32, #blocked>
    %row = tt.get_program_id x : i32
    %mean = scf.for %o = %c0_i32 to %n step %c1024_i32 iter_args(%mean_8 = %cst_0) -> (tensor<1024xf32, #blocked>)  : i32 {
      %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
      %c_9 = tt.splat %o : i32 -> tensor<1024xi32, #blocked>
      %c_10 = arith.addi %c_9, %c : tensor<1024xi32, #blocked>
      %mean_11 = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
      %mean_12 = arith.cmpi slt, %c_10, %mean_11 : tensor<1024xi32, #blocked>
      %mean_13 = arith.muli %row, %stride : i32
      %mean_14 = tt.addptr %inp, %mean_13 : !tt.ptr<f16>, i32
      %mean_15 = tt.splat %mean_14 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
      %mean_16 = tt.addptr %mean_15, %c_10 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %mean_17 = tt.load %mean_16, %mean_12, %cst : tensor<1024x!tt.ptr<f16>, #blocked>
      %mean_18 = arith.extf %mean_17 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
      %mean_19 = arith.addf %mean_8, %mean_18 : tensor<1024xf32, #blocked>
      scf.yield %mean_19 : tensor<1024xf32, #blocked>
    }
    %mu = "tt.reduce"(%mean) <{axis = 0 : i32}> ({
    ^bb0(%mu_8: f32, %mu_9: f32):
      %mu_10 = arith.addf %mu_8, %mu_9 : f32
      tt.reduce.return %mu_10 : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %mu_1 = arith.sitofp %n : i32 to f32
    %mu_2 = arith.divf %mu, %mu_1 : f32
    %var = scf.for %o = %c0_i32 to %n step %c1024_i32 iter_args(%var_8 = %cst_0) -> (tensor<1024xf32, #blocked>)  : i32 {
      %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
      %c_9 = tt.splat %o : i32 -> tensor<1024xi32, #blocked>
      %c_10 = arith.addi %c_9, %c : tensor<1024xi32, #blocked>
      %x = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
      %x_11 = arith.cmpi slt, %c_10, %x : tensor<1024xi32, #blocked>
      %x_12 = arith.muli %row, %stride : i32
      %x_13 = tt.addptr %inp, %x_12 : !tt.ptr<f16>, i32
      %x_14 = tt.splat %x_13 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
      %x_15 = tt.addptr %x_14, %c_10 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %x_16 = tt.load %x_15, %x_11, %cst : tensor<1024x!tt.ptr<f16>, #blocked>
      %x_17 = arith.extf %x_16 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
      %x_18 = tt.splat %mu_2 : f32 -> tensor<1024xf32, #blocked>
      %x_19 = arith.subf %x_17, %x_18 : tensor<1024xf32, #blocked>
      %x_20 = arith.select %x_11, %x_19, %cst_0 : tensor<1024xi1, #blocked>, tensor<1024xf32, #blocked>
      %var_21 = arith.mulf %x_20, %x_20 : tensor<1024xf32, #blocked>
      %var_22 = arith.addf %var_8, %var_21 : tensor<1024xf32, #blocked>
      scf.yield %var_22 : tensor<1024xf32, #blocked>
    }
    %rs_3 = "tt.reduce"(%var) <{axis = 0 : i32}> ({
    ^bb0(%rs_8: f32, %rs_9: f32):
      %rs_10 = arith.addf %rs_8, %rs_9 : f32
      tt.reduce.return %rs_10 : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %rs_4 = arith.divf %rs_3, %mu_1 : f32
    %rs_5 = arith.addf %rs_4, %eps : f32
    %rs_6 = math.sqrt %rs_5 : f32
    %rs_7 = arith.divf %rs, %rs_6 : f32
    scf.for %o = %c0_i32 to %n step %c1024_i32  : i32 {
      %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
      %c_8 = tt.splat %o : i32 -> tensor<1024xi32, #blocked>
      %c_9 = arith.addi %c_8, %c : tensor<1024xi32, #blocked>
      %m = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
      %m_10 = arith.cmpi slt, %c_9, %m : tensor<1024xi32, #blocked>
      %x = arith.muli %row, %stride : i32
      %x_11 = tt.addptr %inp, %x : !tt.ptr<f16>, i32
      %x_12 = tt.splat %x_11 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
      %x_13 = tt.addptr %x_12, %c_9 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %x_14 = tt.load %x_13, %m_10, %cst : tensor<1024x!tt.ptr<f16>, #blocked>
      %x_15 = arith.extf %x_14 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
      %0 = tt.addptr %out, %x : !tt.ptr<f16>, i32
      %1 = tt.splat %0 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
      %2 = tt.addptr %1, %c_9 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %3 = tt.splat %mu_2 : f32 -> tensor<1024xf32, #blocked>
      %4 = arith.subf %x_15, %3 : tensor<1024xf32, #blocked>
      %5 = tt.splat %rs_7 : f32 -> tensor<1024xf32, #blocked>
      %6 = arith.mulf %4, %5 : tensor<1024xf32, #blocked>
      %7 = tt.splat %w : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
      %8 = tt.addptr %7, %c_9 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %9 = tt.load %8, %m_10 : tensor<1024x!tt.ptr<f16>, #blocked>
      %10 = arith.extf %9 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
      %11 = arith.mulf %6, %10 : tensor<1024xf32, #blocked>
      %12 = tt.splat %b : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
      %13 = tt.addptr %12, %c_9 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
      %14 = tt.load %13, %m_10 : tensor<1024x!tt.ptr<f16>, #blocked>
      %15 = arith.extf %14 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
      %16 = arith.addf %11, %15 : tensor<1024xf32, #blocked>
      %17 = arith.truncf %16 : tensor<1024xf32, #blocked> to tensor<1024xf16, #blocked>
      tt.store %2, %17, %m_10 : tensor<1024x!tt.ptr<f16>, #blocked>
    }
    tt.return
  }
}
