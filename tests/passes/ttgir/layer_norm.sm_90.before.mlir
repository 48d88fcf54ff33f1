#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
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
    %8 = ttg.convert_layout %7 : tensor<1024x!tt.ptr<f16>, #blocked> -> tensor<1024x!tt.ptr<f16>, #blocked1>
    %9 = ttg.convert_layout %3 : tensor<1024xi1, #blocked> -> tensor<1024xi1, #blocked1>
    %10 = ttg.convert_layout %cst : tensor<1024xf16, #blocked> -> tensor<1024xf16, #blocked1>
    %11 = tt.load %8, %9, %10 : tensor<1024x!tt.ptr<f16>, #blocked1>
    %12 = ttg.convert_layout %11 : tensor<1024xf16, #blocked1> -> tensor<1024xf16, #blocked>
    %13 = arith.extf %12 : tensor<1024xf16, #blocked> to tensor<1024xf32, #blocked>
    %14 = "tt.reduce"(%13) <{axis = 0 : i32}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      %48 = arith.addf %arg7, %arg8 : f32
      tt.reduce.return %48 : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %15 = arith.sitofp %arg5 : i32 to f32
    %16 = arith.divf %14, %15 : f32
    %17 = tt.splat %16 : f32 -> tensor<1024xf32, #blocked>
    %18 = arith.subf %13, %17 : tensor<1024xf32, #blocked>
    %19 = arith.select %3, %18, %cst_0 : tensor<1024xi1, #blocked>, tensor<1024xf32, #blocked>
    %20 = arith.mulf %19, %19 : tensor<1024xf32, #blocked>
    %21 = "tt.reduce"(%20) <{axis = 0 : i32}> ({
    ^bb0(%arg7: f32, %arg8: f32):
      %48 = arith.addf %arg7, %arg8 : f32
      tt.reduce.return %48 : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %22 = arith.divf %21, %15 : f32
    %23 = arith.addf %22, %arg6 : f32
    %24 = math.rsqrt %23 : f32
    %25 = tt.splat %24 : f32 -> tensor<1024xf32, #blocked>
    %26 = arith.mulf %19, %25 : tensor<1024xf32, #blocked>
    %27 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %28 = tt.addptr %27, %1 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %29 = ttg.convert_layout %28 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %30 = ttg.convert_layout %3 : tensor<1024xi1, #blocked> -> tensor<1024xi1, #blocked1>
    %31 = tt.load %29, %30 : tensor<1024x!tt.ptr<f32>, #blocked1>
    %32 = ttg.convert_layout %31 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %33 = arith.mulf %26, %32 : tensor<1024xf32, #blocked>
    %34 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %35 = tt.addptr %34, %1 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %36 = ttg.convert_layout %35 : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %37 = ttg.convert_layout %3 : tensor<1024xi1, #blocked> -> tensor<1024xi1, #blocked1>
    %38 = tt.load %36, %37 : tensor<1024x!tt.ptr<f32>, #blocked1>
    %39 = ttg.convert_layout %38 : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    %40 = arith.addf %33, %39 : tensor<1024xf32, #blocked>
    %41 = tt.addptr %arg1, %4 : !tt.ptr<f16>, i32
    %42 = tt.splat %41 : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %43 = tt.addptr %42, %1 : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %44 = arith.truncf %40 : tensor<1024xf32, #blocked> to tensor<1024xf16, #blocked>
    %45 = ttg.convert_layout %43 : tensor<1024x!tt.ptr<f16>, #blocked> -> tensor<1024x!tt.ptr<f16>, #blocked1>
    %46 = ttg.convert_layout %44 : tensor<1024xf16, #blocked> -> tensor<1024xf16, #blocked1>
    %47 = ttg.convert_layout %3 : tensor<1024xi1, #blocked> -> tensor<1024xi1, #blocked1>
    tt.store %45, %46, %47 : tensor<1024x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
