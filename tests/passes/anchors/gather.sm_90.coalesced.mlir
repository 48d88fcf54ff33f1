#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gather(%X: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %I: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %Y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1> : tensor<1024xi32, #blocked>
    %cst_0 = arith.constant dense<true> : tensor<1024xi1, #blocked>
    %cst_1 = arith.constant dense<64> : tensor<1024xi32, #blocked>
    %z = arith.constant dense<2> : tensor<1024xi32, #blocked>
    %y = arith.constant dense<4> : tensor<1024xi32, #blocked>
    %i = arith.constant dense<0> : tensor<1024xi32, #blocked>
    %o = arith.constant 1024 : i32
    %o_2 = tt.get_program_id x : i32
    %o_3 = arith.muli %o_2, %o : i32
    %o_4 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %o_5 = tt.splat %o_3 : i32 -> tensor<1024xi32, #blocked>
    %o_6 = arith.addi %o_5, %o_4 : tensor<1024xi32, #blocked>
    %i_7 = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %i_8 = arith.cmpi slt, %o_6, %i_7 : tensor<1024xi32, #blocked>
    %i_9 = tt.splat %I : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #blocked>
    %i_10 = tt.addptr %i_9, %o_6 : tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>
    %i_11 = ttg.convert_layout %i_10 : tensor<1024x!tt.ptr<i32>, #blocked> -> tensor<1024x!tt.ptr<i32>, #blocked1>
    %i_12 = ttg.convert_layout %i_8 : tensor<1024xi1, #blocked> -> tensor<1024xi1, #blocked1>
    %i_13 = ttg.convert_layout %i : tensor<1024xi32, #blocked> -> tensor<1024xi32, #blocked1>
    %i_14 = tt.load %i_11, %i_12, %i_13 : tensor<1024x!tt.ptr<i32>, #blocked1>
    %i_15 = ttg.convert_layout %i_14 : tensor<1024xi32, #blocked1> -> tensor<1024xi32, #blocked>
    %x = tt.splat %X : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %x_16 = tt.addptr %x, %i_15 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %x_17 = ttg.convert_layout %x_16 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %x_18 = tt.load %x_17 : tensor<1024x!tt.ptr<f32>, #blocked1>
    %x_19 = ttg.convert_layout %x_18 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %y_20 = arith.divsi %o_6, %y : tensor<1024xi32, #blocked>
    %y_21 = tt.splat %Y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %y_22 = tt.addptr %y_21, %y_20 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %y_23 = ttg.convert_layout %y_22 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %y_24 = tt.load %y_23 : tensor<1024x!tt.ptr<f32>, #blocked1>
    %y_25 = ttg.convert_layout %y_24 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %z_26 = arith.muli %o_6, %z : tensor<1024xi32, #blocked>
    %z_27 = tt.addptr %y_21, %z_26 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %z_28 = ttg.convert_layout %z_27 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %z_29 = tt.load %z_28 : tensor<1024x!tt.ptr<f32>, #blocked1>
    %z_30 = ttg.convert_layout %z_29 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %0 = arith.remsi %o_6, %cst_1 : tensor<1024xi32, #blocked>
    %1 = tt.addptr %y_21, %0 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %2 = arith.addf %x_19, %y_25 : tensor<1024xf32, #blocked>
    %3 = arith.addf %2, %z_30 : tensor<1024xf32, #blocked>
    %4 = ttg.convert_layout %1 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %5 = ttg.convert_layout %3 : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked1>
    %6 = ttg.convert_layout %cst_0 : tensor<1024xi1, #blocked> -> tensor<1024xi1, #blocked1>
    %7 = tt.atomic_rmw fadd, acq_rel, gpu, %4, %5, %6 : (tensor<1024x!tt.ptr<f32>, #blocked1>, tensor<1024xf32, #blocked1>, tensor<1024xi1, #blocked1>) -> tensor<1024xf32, #blocked1>
    %8 = ttg.convert_layout %7 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %9 = arith.xori %o_6, %cst : tensor<1024xi32, #blocked>
    %10 = tt.addptr %x, %9 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %11 = ttg.convert_layout %10 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %12 = ttg.convert_layout %x_19 : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked>
    tt.store %11, %12 : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
