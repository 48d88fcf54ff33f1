#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @argmax_rows(%out: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked>
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %x_0 = tt.expand_dims %x {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<32x1xi32, #blocked1>
    %x_1 = tt.splat %stride : i32 -> tensor<32x1xi32, #blocked1>
    %x_2 = arith.muli %x_0, %x_1 : tensor<32x1xi32, #blocked1>
    %x_3 = tt.splat %inp : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>, #blocked1>
    %x_4 = tt.addptr %x_3, %x_2 : tensor<32x1x!tt.ptr<f32>, #blocked1>, tensor<32x1xi32, #blocked1>
    %x_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %x_6 = tt.expand_dims %x_5 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %x_7 = tt.broadcast %x_4 : tensor<32x1x!tt.ptr<f32>, #blocked1> -> tensor<32x64x!tt.ptr<f32>, #blocked1>
    %x_8 = tt.broadcast %x_6 : tensor<1x64xi32, #blocked1> -> tensor<32x64xi32, #blocked1>
    %x_9 = tt.addptr %x_7, %x_8 : tensor<32x64x!tt.ptr<f32>, #blocked1>, tensor<32x64xi32, #blocked1>
    %x_10 = tt.load %x_9 : tensor<32x64x!tt.ptr<f32>, #blocked1>
    %0 = tt.splat %out : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #blocked>
    %1 = tt.addptr %0, %r : tensor<32x!tt.ptr<i32>, #blocked>, tensor<32xi32, #blocked>
    %2:2 = "tt.reduce"(%x_10, %x_8) <{axis = 1 : i32}> ({
    ^bb0(%arg3: f32, %arg4: i32, %arg5: f32, %arg6: i32):
      %tie = arith.cmpf oeq, %arg3, %arg5 : f32
      %tie_11 = arith.cmpi slt, %arg4, %arg6 : i32
      %tie_12 = arith.andi %tie, %tie_11 : i1
      %gt = arith.cmpf ogt, %arg3, %arg5 : f32
      %gt_13 = arith.ori %gt, %tie_12 : i1
      %v_ret = arith.select %gt_13, %arg3, %arg5 : f32
      %i_ret = arith.select %gt_13, %arg4, %arg6 : i32
      tt.reduce.return %v_ret, %i_ret : f32, i32
    }) : (tensor<32x64xf32, #blocked1>, tensor<32x64xi32, #blocked1>) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked1}>>, tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>)
    %3 = ttg.convert_layout %2#1 : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<32xi32, #blocked>
    tt.store %1, %3 : tensor<32x!tt.ptr<i32>, #blocked>
    tt.return
  }
}
