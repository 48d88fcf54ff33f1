#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked4 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#linear = #ttg.linear<{register = [[32], [64], [16]], lane = [[128], [256], [512], [1], [2]], warp = [[4], [8]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %x = tt.splat %inp : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %x_0 = tt.addptr %x, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %x_1 = tt.load %x_0 : tensor<1024x!tt.ptr<f32>, #blocked>
    %y = tt.reshape %x_1 : tensor<1024xf32, #blocked> -> tensor<512x2xf32, #blocked1>
    %outLHS, %outRHS = tt.split %y : tensor<512x2xf32, #blocked1> -> tensor<512xf32, #blocked2>
    %z = arith.subf %outLHS, %outRHS : tensor<512xf32, #blocked2>
    %z_2 = arith.addf %outLHS, %outRHS : tensor<512xf32, #blocked2>
    %z_3 = tt.join %z, %z_2 : tensor<512xf32, #blocked2> -> tensor<512x2xf32, #blocked1>
    %j = tt.reshape %z_3 : tensor<512x2xf32, #blocked1> -> tensor<32x32xf32, #blocked3>
    %j_4 = tt.trans %j {order = array<i32: 1, 0>} : tensor<32x32xf32, #blocked3> -> tensor<32x32xf32, #blocked4>
    %j_5 = tt.reshape %j_4 : tensor<32x32xf32, #blocked4> -> tensor<1024xf32, #linear>
    %j_6 = ttg.convert_layout %j_5 : tensor<1024xf32, #linear> -> tensor<1024xf32, #blocked>
    %0 = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %1 = tt.addptr %0, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %2 = "tt.scan"(%j_6) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %3 = arith.addf %arg2, %arg3 : f32
      tt.scan.return %3 : f32
    }) : (tensor<1024xf32, #blocked>) -> tensor<1024xf32, #blocked>
    tt.store %1, %2 : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
