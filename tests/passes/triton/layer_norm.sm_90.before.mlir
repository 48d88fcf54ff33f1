#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @layer_norm(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: f32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1024xf16, #blocked>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1024xf32, #blocked>
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %2 = tt.splat %arg5 : i32 -> tensor<1024xi32, #blocked>
    %3 = arith.cmpi slt, %1, %2 : tensor<1024xi32, #blocked>
    %4 = arith.muli %0, %arg4 : i32
    %5 = tt.addptr %arg0, %4 : !tt.ptr<f16>, i32
    %6 = tt.splat %5 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %7 = tt.addptr %6, %1 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %8 = tt.load %7, %3, %cst : tensor<1024x!tt.ptr<f16>, #blocked>
    %9 = arith.extf %8 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
    %10 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      %35 = arith.addf %arg7, %arg8 : f32
      tt.reduce.return %35 : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %11 = arith.sitofp %arg5 : i32 to f32
    %12 = arith.divf %10, %11 : f32
    %13 = tt.splat %12 : f32 -> tensor<1024xf32, #blocked>
    %14 = arith.subf %9, %13 : tensor<1024xf32, #blocked>
    %15 = arith.select %3, %14, %cst_0 : tensor<1024xi1, #blocked>, tensor<1024xf32, #blocked>
    %16 = arith.mulf %15, %15 : tensor<1024xf32, #blocked>
    %17 = "tt.reduce"(%16) <{axis = 0 : i32}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      %35 = arith.addf %arg7, %arg8 : f32
      tt.reduce.return %35 : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %18 = arith.divf %17, %11 : f32
    %19 = arith.addf %18, %arg6 : f32
    %20 = math.rsqrt %19 : f32
    %21 = tt.splat %20 : f32 -> tensor<1024xf32, #blocked>
    %22 = arith.mulf %15, %21 : tensor<1024xf32, #blocked>
    %23 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %24 = tt.addptr %23, %1 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %25 = tt.load %24, %3 : tensor<1024x!tt.ptr<f32>, #blocked>
    %26 = arith.mulf %22, %25 : tensor<1024xf32, #blocked>
    %27 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %28 = tt.addptr %27, %1 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %29 = tt.load %28, %3 : tensor<1024x!tt.ptr<f32>, #blocked>
    %30 = arith.addf %26, %29 : tensor<1024xf32, #blocked>
    %31 = tt.addptr %arg1, %4 : !tt.ptr<f16>, i32
    %32 = tt.splat %31 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %33 = tt.addptr %32, %1 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %34 = arith.truncf %30 : tensor<1024xf32, #blocked> to tensor<1024xf16, #blocked>
    tt.store %33, %34, %3 : tensor<1024x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
