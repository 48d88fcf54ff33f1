module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gather_atomic(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %idx: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0> : tensor<32xi32>
    %cst_0 = arith.constant dense<31> : tensor<32xi32>
    %cst_1 = arith.constant dense<true> : tensor<32xi1>
    %cst_2 = arith.constant dense<64> : tensor<32x1xi32>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %i = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %i_3 = arith.muli %i, %cst_2 : tensor<32x1xi32>
    %i_4 = tt.splat %idx : !tt.ptr<i32> -> tensor<32x1x!tt.ptr<i32>>
    %i_5 = tt.addptr %i_4, %i_3 : tensor<32x1x!tt.ptr<i32>>, tensor<32x1xi32>
    %i_6 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %i_7 = tt.broadcast %i_5 : tensor<32x1x!tt.ptr<i32>> -> tensor<32x64x!tt.ptr<i32>>
    %i_8 = tt.broadcast %i_6 : tensor<1x64xi32> -> tensor<32x64xi32>
    %i_9 = tt.addptr %i_7, %i_8 : tensor<32x64x!tt.ptr<i32>>, tensor<32x64xi32>
    %i_10 = tt.load %i_9 : tensor<32x64x!tt.ptr<i32>>
    %v = tt.splat %x : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %v_11 = tt.addptr %v, %i_3 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %v_12 = tt.broadcast %v_11 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
    %v_13 = tt.addptr %v_12, %i_8 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %v_14 = tt.load %v_13 : tensor<32x64x!tt.ptr<f32>>
    %g = tt.gather %v_14[%i_10] {axis = 1 : i32} : (tensor<32x64xf32>, tensor<32x64xi32>) -> tensor<32x64xf32>
    %0 = tt.splat %n : i32 -> tensor<32x64xi32>
    %1 = arith.cmpi slt, %i_10, %0 : tensor<32x64xi32>
    %2 = tt.splat %o : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %3 = tt.addptr %2, %i_10 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %4 = tt.atomic_rmw fadd, acq_rel, gpu, %3, %g, %1 : (tensor<32x64x!tt.ptr<f32>>, tensor<32x64xf32>, tensor<32x64xi1>) -> tensor<32x64xf32>
    %5 = tt.splat %o : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %6 = tt.addptr %5, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %7 = "tt.reduce"(%g) <{axis = 1 : i32}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %15 = arith.maxnumf %arg4, %arg5 : f32
      tt.reduce.return %15 : f32
    }) : (tensor<32x64xf32>) -> tensor<32xf32>
    %8 = tt.bitcast %7 : tensor<32xf32> -> tensor<32xi32>
    %9 = tt.bitcast %6 : tensor<32x!tt.ptr<f32>> -> tensor<32x!tt.ptr<i32>>
    %10 = arith.shrui %8, %cst_0 : tensor<32xi32>
    %11 = arith.cmpi ne, %10, %cst : tensor<32xi32>
    %12 = arith.xori %11, %cst_1 : tensor<32xi1>
    %13 = tt.atomic_rmw max, acq_rel, gpu, %9, %8, %12 : (tensor<32x!tt.ptr<i32>>, tensor<32xi32>, tensor<32xi1>) -> tensor<32xi32>
    %14 = tt.atomic_rmw umin, acq_rel, gpu, %9, %8, %11 : (tensor<32x!tt.ptr<i32>>, tensor<32xi32>, tensor<32xi1>) -> tensor<32xi32>
    tt.return
  }
}
