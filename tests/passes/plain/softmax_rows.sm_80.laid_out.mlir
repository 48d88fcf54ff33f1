#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @softmax_rows(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %r = arith.constant 16 : i32
    %r_0 = tt.get_program_id x : i32
    %r_1 = arith.muli %r_0, %r : i32
    %r_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r_3 = tt.splat %r_1 : i32 -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r_4 = arith.addi %r_3, %r_2 : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %x = tt.expand_dims %r_4 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xi32, #blocked>
    %x_5 = tt.splat %stride : i32 -> tensor<16x1xi32, #blocked>
    %x_6 = arith.muli %x, %x_5 : tensor<16x1xi32, #blocked>
    %x_7 = tt.splat %inp : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>, #blocked>
    %x_8 = tt.addptr %x_7, %x_6 : tensor<16x1x!tt.ptr<f32>, #blocked>, tensor<16x1xi32, #blocked>
    %x_9 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %x_10 = tt.expand_dims %x_9 {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %x_11 = tt.broadcast %x_8 : tensor<16x1x!tt.ptr<f32>, #blocked> -> tensor<16x128x!tt.ptr<f32>, #blocked>
    %x_12 = tt.broadcast %x_10 : tensor<1x128xi32, #blocked> -> tensor<16x128xi32, #blocked>
    %x_13 = tt.addptr %x_11, %x_12 : tensor<16x128x!tt.ptr<f32>, #blocked>, tensor<16x128xi32, #blocked>
    %x_14 = tt.load %x_13 : tensor<16x128x!tt.ptr<f32>, #blocked>
    %x_15 = "tt.reduce"(%x_14) <{axis = 1 : i32}> ({
    ^bb0(%x_19: f32, %x_20: f32):
      %x_21 = arith.maxnumf %x_19, %x_20 : f32
      tt.reduce.return %x_21 : f32
    }) : (tensor<16x128xf32, #blocked>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %x_16 = tt.expand_dims %x_15 {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xf32, #blocked>
    %x_17 = tt.broadcast %x_16 : tensor<16x1xf32, #blocked> -> tensor<16x128xf32, #blocked>
    %x_18 = arith.subf %x_14, %x_17 : tensor<16x128xf32, #blocked>
    %e = math.exp %x_18 : tensor<16x128xf32, #blocked>
    %s = "tt.reduce"(%e) <{axis = 1 : i32}> ({
    ^bb0(%s_19: f32, %s_20: f32):
      %s_21 = arith.addf %s_19, %s_20 : f32
      tt.reduce.return %s_21 : f32
    }) : (tensor<16x128xf32, #blocked>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %0 = tt.splat %out : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>, #blocked>
    %1 = tt.addptr %0, %x_6 : tensor<16x1x!tt.ptr<f32>, #blocked>, tensor<16x1xi32, #blocked>
    %2 = tt.broadcast %1 : tensor<16x1x!tt.ptr<f32>, #blocked> -> tensor<16x128x!tt.ptr<f32>, #blocked>
    %3 = tt.addptr %2, %x_12 : tensor<16x128x!tt.ptr<f32>, #blocked>, tensor<16x128xi32, #blocked>
    %4 = tt.expand_dims %s {axis = 1 : i32} : tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<16x1xf32, #blocked>
    %5 = tt.broadcast %4 : tensor<16x1xf32, #blocked> -> tensor<16x128xf32, #blocked>
    %6 = arith.divf %e, %5 : tensor<16x128xf32, #blocked>
    tt.store %3, %6 : tensor<16x128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
