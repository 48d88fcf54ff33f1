#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
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
    %i_11 = tt.load %i_10, %i_8, %i : tensor<1024x!tt.ptr<i32>, #blocked>
    %x = tt.splat %X : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %x_12 = tt.addptr %x, %i_11 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %x_13 = tt.load %x_12 : tensor<1024x!tt.ptr<f32>, #blocked>
    %y_14 = arith.divsi %o_6, %y : tensor<1024xi32, #blocked>
    %y_15 = tt.splat %Y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %y_16 = tt.addptr %y_15, %y_14 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %y_17 = tt.load %y_16 : tensor<1024x!tt.ptr<f32>, #blocked>
    %z_18 = arith.muli %o_6, %z : tensor<1024xi32, #blocked>
    %z_19 = tt.addptr %y_15, %z_18 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %z_20 = tt.load %z_19 : tensor<1024x!tt.ptr<f32>, #blocked>
    %0 = arith.remsi %o_6, %cst_1 : tensor<1024xi32, #blocked>
    %1 = tt.addptr %y_15, %0 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %2 = arith.addf %x_13, %y_17 : tensor<1024xf32, #blocked>
    %3 = arith.addf %2, %z_20 : tensor<1024xf32, #blocked>
    %4 = tt.atomic_rmw fadd, acq_rel, gpu, %1, %3, %cst_0 : (tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xf32, #blocked>, tensor<1024xi1, #blocked>) -> tensor<1024xf32, #blocked>
    %5 = arith.xori %o_6, %cst : tensor<1024xi32, #blocked>
    %6 = tt.addptr %x, %5 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    tt.store %6, %x_13 : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
