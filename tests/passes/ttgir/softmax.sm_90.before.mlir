#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked4 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked5 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @softmax(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: i32 {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c16_i32 = arith.constant 16 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c16_i32 : i32
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #blocked>
    %3 = tt.splat %1 : i32 -> tensor<16xi32, #blocked>
    %4 = arith.addi %3, %2 : tensor<16xi32, #blocked>
    %5 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #blocked>
    %6 = ttg.convert_layout %4 : tensor<16xi32, #blocked> -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16x1xi32, #blocked1>
    %8 = ttg.convert_layout %7 : tensor<16x1xi32, #blocked1> -> tensor<16x1xi32, #blocked2>
    %9 = tt.splat %arg2 : i32 -> tensor<16x1xi32, #blocked2>
    %10 = arith.muli %8, %9 : tensor<16x1xi32, #blocked2>
    %11 = ttg.convert_layout %5 : tensor<256xi32, #blocked> -> tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked3}>>
    %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #blocked3}>> -> tensor<1x256xi32, #blocked3>
    %13 = ttg.convert_layout %12 : tensor<1x256xi32, #blocked3> -> tensor<1x256xi32, #blocked4>
    %14 = tt.broadcast %10 : tensor<16x1xi32, #blocked2> -> tensor<16x256xi32, #blocked2>
    %15 = ttg.convert_layout %14 : tensor<16x256xi32, #blocked2> -> tensor<16x256xi32, #blocked4>
    %16 = tt.broadcast %13 : tensor<1x256xi32, #blocked4> -> tensor<16x256xi32, #blocked4>
    %17 = arith.addi %15, %16 : tensor<16x256xi32, #blocked4>
    %18 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<16x256x!tt.ptr<f16>, #blocked4>
    %19 = tt.addptr %18, %17 : tensor<16x256x!tt.ptr<f16>, #blocked4>, tensor<16x256xi32, #blocked4>
    %20 = ttg.convert_layout %19 : tensor<16x256x!tt.ptr<f16>, #blocked4> -> tensor<16x256x!tt.ptr<f16>, #blocked5>
    %21 = tt.load %20 : tensor<16x256x!tt.ptr<f16>, #blocked5>
    %22 = ttg.convert_layout %21 : tensor<16x256xf16, #blocked5> -> tensor<16x256xf16, #blocked4>
    %23 = arith.extf %22 : tensor<16x256xf16, #blocked4> to tensor<16x256xf32, #blocked4>
    %24 = "tt.reduce"(%23) <{axis = 1 : i32}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %46 = arith.maxnumf %arg4, %arg5 : f32
      tt.reduce.return %46 : f32
    }) : (tensor<16x256xf32, #blocked4>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %25 = ttg.convert_layout %24 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<16xf32, #blocked>
    %26 = ttg.convert_layout %25 : tensor<16xf32, #blocked> -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %27 = tt.expand_dims %26 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16x1xf32, #blocked1>
    %28 = ttg.convert_layout %27 : tensor<16x1xf32, #blocked1> -> tensor<16x1xf32, #blocked2>
    %29 = tt.broadcast %28 : tensor<16x1xf32, #blocked2> -> tensor<16x256xf32, #blocked2>
    %30 = ttg.convert_layout %29 : tensor<16x256xf32, #blocked2> -> tensor<16x256xf32, #blocked4>
    %31 = arith.subf %23, %30 : tensor<16x256xf32, #blocked4>
    %32 = math.exp %31 : tensor<16x256xf32, #blocked4>
    %33 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<16x256x!tt.ptr<f16>, #blocked4>
    %34 = tt.addptr %33, %17 : tensor<16x256x!tt.ptr<f16>, #blocked4>, tensor<16x256xi32, #blocked4>
    %35 = "tt.reduce"(%32) <{axis = 1 : i32}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %46 = arith.addf %arg4, %arg5 : f32
      tt.reduce.return %46 : f32
    }) : (tensor<16x256xf32, #blocked4>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked4}>>
    %36 = ttg.convert_layout %35 : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked4}>> -> tensor<16xf32, #blocked>
    %37 = ttg.convert_layout %36 : tensor<16xf32, #blocked> -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %38 = tt.expand_dims %37 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<16x1xf32, #blocked1>
    %39 = ttg.convert_layout %38 : tensor<16x1xf32, #blocked1> -> tensor<16x1xf32, #blocked2>
    %40 = tt.broadcast %39 : tensor<16x1xf32, #blocked2> -> tensor<16x256xf32, #blocked2>
    %41 = ttg.convert_layout %40 : tensor<16x256xf32, #blocked2> -> tensor<16x256xf32, #blocked4>
    %42 = arith.divf %32, %41 : tensor<16x256xf32, #blocked4>
    %43 = arith.truncf %42 : tensor<16x256xf32, #blocked4> to tensor<16x256xf16, #blocked4>
    %44 = ttg.convert_layout %34 : tensor<16x256x!tt.ptr<f16>, #blocked4> -> tensor<16x256x!tt.ptr<f16>, #blocked5>
    %45 = ttg.convert_layout %43 : tensor<16x256xf16, #blocked4> -> tensor<16x256xf16, #blocked5>
    tt.store %44, %45 : tensor<16x256x!tt.ptr<f16>, #blocked5>
    tt.return
  }
}
