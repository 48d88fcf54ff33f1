module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @halves(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %x = tt.splat %inp : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %x_0 = tt.addptr %x, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x_1 = tt.load %x_0 : tensor<1024x!tt.ptr<f32>>
    %y = tt.reshape %x_1 : tensor<1024xf32> -> tensor<512x2xf32>
    %outLHS, %outRHS = tt.split %y : tensor<512x2xf32> -> tensor<512xf32>
    %z = arith.subf %outLHS, %outRHS : tensor<512xf32>
    %z_2 = arith.addf %outLHS, %outRHS : tensor<512xf32>
    %z_3 = tt.join %z, %z_2 : tensor<512xf32> -> tensor<512x2xf32>
    %j = tt.reshape %z_3 : tensor<512x2xf32> -> tensor<32x32xf32>
    %j_4 = tt.trans %j {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
    %j_5 = tt.reshape %j_4 : tensor<32x32xf32> -> tensor<1024xf32>
    %0 = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %1 = tt.addptr %0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %2 = "tt.scan"(%j_5) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %3 = arith.addf %arg2, %arg3 : f32
      tt.scan.return %3 : f32
    }) : (tensor<1024xf32>) -> tensor<1024xf32>
    tt.store %1, %2 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
