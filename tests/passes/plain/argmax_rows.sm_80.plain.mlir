module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @argmax_rows(%out: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %x = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %x_0 = tt.splat %stride : i32 -> tensor<32x1xi32>
    %x_1 = arith.muli %x, %x_0 : tensor<32x1xi32>
    %x_2 = tt.splat %inp : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %x_3 = tt.addptr %x_2, %x_1 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %x_4 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %x_5 = tt.broadcast %x_3 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
    %x_6 = tt.broadcast %x_4 : tensor<1x64xi32> -> tensor<32x64xi32>
    %x_7 = tt.addptr %x_5, %x_6 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %x_8 = tt.load %x_7 : tensor<32x64x!tt.ptr<f32>>
    %0 = tt.splat %out : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %1 = tt.addptr %0, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %2:2 = "tt.reduce"(%x_8, %x_6) <{axis = 1 : i32}> ({
    ^bb0(%arg3: f32, %arg4: i32, %arg5: f32, %arg6: i32):
      %tie = arith.cmpf oeq, %arg3, %arg5 : f32
      %tie_9 = arith.cmpi slt, %arg4, %arg6 : i32
      %tie_10 = arith.andi %tie, %tie_9 : i1
      %gt = arith.cmpf ogt, %arg3, %arg5 : f32
      %gt_11 = arith.ori %gt, %tie_10 : i1
      %v_ret = arith.select %gt_11, %arg3, %arg5 : f32
      %i_ret = arith.select %gt_11, %arg4, %arg6 : i32
      tt.reduce.return %v_ret, %i_ret : f32, i32
    }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)
    tt.store %1, %2#1 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}
