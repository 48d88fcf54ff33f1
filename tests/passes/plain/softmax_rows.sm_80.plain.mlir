module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @softmax_rows(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %r = arith.constant 16 : i32
    %r_0 = tt.get_program_id x : i32
    %r_1 = arith.muli %r_0, %r : i32
    %r_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %r_3 = tt.splat %r_1 : i32 -> tensor<16xi32>
    %r_4 = arith.addi %r_3, %r_2 : tensor<16xi32>
    %c = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %x = tt.expand_dims %r_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %x_5 = tt.splat %stride : i32 -> tensor<16x1xi32>
    %x_6 = arith.muli %x, %x_5 : tensor<16x1xi32>
    %x_7 = tt.splat %inp : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %x_8 = tt.addptr %x_7, %x_6 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %x_9 = tt.expand_dims %c {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %x_10 = tt.broadcast %x_8 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x128x!tt.ptr<f32>>
    %x_11 = tt.broadcast %x_9 : tensor<1x128xi32> -> tensor<16x128xi32>
    %x_12 = tt.addptr %x_10, %x_11 : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
    %x_13 = tt.load %x_12 : tensor<16x128x!tt.ptr<f32>>
    %x_14 = "tt.reduce"(%x_13) <{axis = 1 : i32}> ({
    ^bb0(%x_18: f32, %x_19: f32):
      %x_20 = arith.maxnumf %x_18, %x_19 : f32
      tt.reduce.return %x_20 : f32
    }) : (tensor<16x128xf32>) -> tensor<16xf32>
    %x_15 = tt.expand_dims %x_14 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %x_16 = tt.broadcast %x_15 : tensor<16x1xf32> -> tensor<16x128xf32>
    %x_17 = arith.subf %x_13, %x_16 : tensor<16x128xf32>
    %e = math.exp %x_17 : tensor<16x128xf32>
    %s = "tt.reduce"(%e) <{axis = 1 : i32}> ({
    ^bb0(%s_18: f32, %s_19: f32):
      %s_20 = arith.addf %s_18, %s_19 : f32
      tt.reduce.return %s_20 : f32
    }) : (tensor<16x128xf32>) -> tensor<16xf32>
    %0 = tt.splat %out : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %1 = tt.addptr %0, %x_6 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %2 = tt.broadcast %1 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x128x!tt.ptr<f32>>
    %3 = tt.addptr %2, %x_11 : tensor<16x128x!tt.ptr<f32>>, tensor<16x128xi32>
    %4 = tt.expand_dims %s {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %5 = tt.broadcast %4 : tensor<16x1xf32> -> tensor<16x128xf32>
    %6 = arith.divf %e, %5 : tensor<16x128xf32>
    tt.store %3, %6 : tensor<16x128x!tt.ptr<f32>>
    tt.return
  }
}
