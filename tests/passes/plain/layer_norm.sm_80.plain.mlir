module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @layer_norm(%out: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %eps: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf16>
    %c1024_i32 = arith.constant 1024 : i32
    %c0_i32 = arith.constant 0 : i32
    %rs = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1024xf32>
    %row = tt.get_program_id x : i32
    %mean = scf.for %o = %c0_i32 to %n step %c1024_i32 iter_args(%mean_8 = %cst_0) -> (tensor<1024xf32>)  : i32 {
      %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
      %c_9 = tt.splat %o : i32 -> tensor<1024xi32>
      %c_10 = arith.addi %c_9, %c : tensor<1024xi32>
      %mean_11 = tt.splat %n : i32 -> tensor<1024xi32>
      %mean_12 = arith.cmpi slt, %c_10, %mean_11 : tensor<1024xi32>
      %mean_13 = arith.muli %row, %stride : i32
      %mean_14 = tt.addptr %inp, %mean_13 : !tt.ptr<f16>, i32
      %mean_15 = tt.splat %mean_14 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %mean_16 = tt.addptr %mean_15, %c_10 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %mean_17 = tt.load %mean_16, %mean_12, %cst : tensor<1024x!tt.ptr<f16>>
      %mean_18 = arith.extf %mean_17 : tensor<1024xf16> to tensor<1024xf32>
      %mean_19 = arith.addf %mean_8, %mean_18 : tensor<1024xf32>
      scf.yield %mean_19 : tensor<1024xf32>
    }
    %mu = "tt.reduce"(%mean) <{axis = 0 : i32}> ({
    ^bb0(%mu_8: f32, %mu_9: f32):
      %mu_10 = arith.addf %mu_8, %mu_9 : f32
      tt.reduce.return %mu_10 : f32
    }) : (tensor<1024xf32>) -> f32
    %mu_1 = arith.sitofp %n : i32 to f32
    %mu_2 = arith.divf %mu, %mu_1 : f32
    %var = scf.for %o = %c0_i32 to %n step %c1024_i32 iter_args(%var_8 = %cst_0) -> (tensor<1024xf32>)  : i32 {
      %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
      %c_9 = tt.splat %o : i32 -> tensor<1024xi32>
      %c_10 = arith.addi %c_9, %c : tensor<1024xi32>
      %x = tt.splat %n : i32 -> tensor<1024xi32>
      %x_11 = arith.cmpi slt, %c_10, %x : tensor<1024xi32>
      %x_12 = arith.muli %row, %stride : i32
      %x_13 = tt.addptr %inp, %x_12 : !tt.ptr<f16>, i32
      %x_14 = tt.splat %x_13 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %x_15 = tt.addptr %x_14, %c_10 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %x_16 = tt.load %x_15, %x_11, %cst : tensor<1024x!tt.ptr<f16>>
      %x_17 = arith.extf %x_16 : tensor<1024xf16> to tensor<1024xf32>
      %x_18 = tt.splat %mu_2 : f32 -> tensor<1024xf32>
      %x_19 = arith.subf %x_17, %x_18 : tensor<1024xf32>
      %x_20 = arith.select %x_11, %x_19, %cst_0 : tensor<1024xi1>, tensor<1024xf32>
      %var_21 = arith.mulf %x_20, %x_20 : tensor<1024xf32>
      %var_22 = arith.addf %var_8, %var_21 : tensor<1024xf32>
      scf.yield %var_22 : tensor<1024xf32>
    }
    %rs_3 = "tt.reduce"(%var) <{axis = 0 : i32}> ({
    ^bb0(%rs_8: f32, %rs_9: f32):
      %rs_10 = arith.addf %rs_8, %rs_9 : f32
      tt.reduce.return %rs_10 : f32
    }) : (tensor<1024xf32>) -> f32
    %rs_4 = arith.divf %rs_3, %mu_1 : f32
    %rs_5 = arith.addf %rs_4, %eps : f32
    %rs_6 = math.sqrt %rs_5 : f32
    %rs_7 = arith.divf %rs, %rs_6 : f32
    scf.for %o = %c0_i32 to %n step %c1024_i32  : i32 {
      %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
      %c_8 = tt.splat %o : i32 -> tensor<1024xi32>
      %c_9 = arith.addi %c_8, %c : tensor<1024xi32>
      %m = tt.splat %n : i32 -> tensor<1024xi32>
      %m_10 = arith.cmpi slt, %c_9, %m : tensor<1024xi32>
      %x = arith.muli %row, %stride : i32
      %x_11 = tt.addptr %inp, %x : !tt.ptr<f16>, i32
      %x_12 = tt.splat %x_11 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %x_13 = tt.addptr %x_12, %c_9 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %x_14 = tt.load %x_13, %m_10, %cst : tensor<1024x!tt.ptr<f16>>
      %x_15 = arith.extf %x_14 : tensor<1024xf16> to tensor<1024xf32>
      %0 = tt.addptr %out, %x : !tt.ptr<f16>, i32
      %1 = tt.splat %0 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %2 = tt.addptr %1, %c_9 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %3 = tt.splat %mu_2 : f32 -> tensor<1024xf32>
      %4 = arith.subf %x_15, %3 : tensor<1024xf32>
      %5 = tt.splat %rs_7 : f32 -> tensor<1024xf32>
      %6 = arith.mulf %4, %5 : tensor<1024xf32>
      %7 = tt.splat %w : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %8 = tt.addptr %7, %c_9 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %9 = tt.load %8, %m_10 : tensor<1024x!tt.ptr<f16>>
      %10 = arith.extf %9 : tensor<1024xf16> to tensor<1024xf32>
      %11 = arith.mulf %6, %10 : tensor<1024xf32>
      %12 = tt.splat %b : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %13 = tt.addptr %12, %c_9 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      %14 = tt.load %13, %m_10 : tensor<1024x!tt.ptr<f16>>
      %15 = arith.extf %14 : tensor<1024xf16> to tensor<1024xf32>
      %16 = arith.addf %11, %15 : tensor<1024xf32>
      %17 = arith.truncf %16 : tensor<1024xf32> to tensor<1024xf16>
      tt.store %2, %17, %m_10 : tensor<1024x!tt.ptr<f16>>
    }
    tt.return
  }
}
