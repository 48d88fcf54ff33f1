module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @scan_argmax_hist(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o2: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o3: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %v = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %v_0 = tt.splat %n : i32 -> tensor<32x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<32x1xi32>
    %v_2 = tt.splat %x : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %v_4 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %v_5 = tt.broadcast %v_3 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
    %v_6 = tt.broadcast %v_4 : tensor<1x64xi32> -> tensor<32x64xi32>
    %v_7 = tt.addptr %v_5, %v_6 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %v_8 = tt.load %v_7 : tensor<32x64x!tt.ptr<f32>>
    %s = "tt.scan"(%v_8) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%s_11: f32, %s_12: f32):
      %s_13 = arith.addf %s_11, %s_12 : f32
      tt.scan.return %s_13 : f32
    }) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %0 = tt.splat %o1 : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %1 = tt.addptr %0, %v_1 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %2 = tt.broadcast %1 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
    %3 = tt.addptr %2, %v_6 : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    tt.store %3, %s : tensor<32x64x!tt.ptr<f32>>
    %am:2 = "tt.reduce"(%v_8, %v_6) <{axis = 1 : i32}> ({
    ^bb0(%am_11: f32, %am_12: i32, %am_13: f32, %am_14: i32):
      %tie = arith.cmpf oeq, %am_11, %am_13 : f32
      %tie_15 = arith.cmpi slt, %am_12, %am_14 : i32
      %tie_16 = arith.andi %tie, %tie_15 : i1
      %gt = arith.cmpf ogt, %am_11, %am_13 : f32
      %gt_17 = arith.ori %gt, %tie_16 : i1
      %v_ret = arith.select %gt_17, %am_11, %am_13 : f32
      %i_ret = arith.select %gt_17, %am_12, %am_14 : i32
      tt.reduce.return %v_ret, %i_ret : f32, i32
    }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)
    %4 = tt.splat %o2 : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %5 = tt.addptr %4, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    tt.store %5, %am#1 : tensor<32x!tt.ptr<i32>>
    %h = arith.fptosi %v_8 : tensor<32x64xf32> to tensor<32x64xi32>
    %h_9 = tt.reshape %h allow_reorder : tensor<32x64xi32> -> tensor<2048xi32>
    %h_10 = tt.histogram %h_9 : tensor<2048xi32> -> tensor<64xi32>
    %6 = tt.splat %o3 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %7 = tt.addptr %6, %c : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %7, %h_10 : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
