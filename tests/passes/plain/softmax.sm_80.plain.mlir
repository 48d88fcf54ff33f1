module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @softmax(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %x = arith.constant dense<0xFF800000> : tensor<1024xf32>
    %row = tt.get_program_id x : i32
    %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %m = tt.splat %n : i32 -> tensor<1024xi32>
    %m_0 = arith.cmpi slt, %c, %m : tensor<1024xi32>
    %x_1 = arith.muli %row, %stride : i32
    %x_2 = tt.addptr %inp, %x_1 : !tt.ptr<f32>, i32
    %x_3 = tt.splat %x_2 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %x_4 = tt.addptr %x_3, %c : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x_5 = tt.load %x_4, %m_0, %x : tensor<1024x!tt.ptr<f32>>
    %x_6 = "tt.reduce"(%x_5) <{axis = 0 : i32}> ({
    ^bb0(%x_9: f32, %x_10: f32):
      %x_11 = arith.maxnumf %x_9, %x_10 : f32
      tt.reduce.return %x_11 : f32
    }) : (tensor<1024xf32>) -> f32
    %x_7 = tt.splat %x_6 : f32 -> tensor<1024xf32>
    %x_8 = arith.subf %x_5, %x_7 : tensor<1024xf32>
    %e = math.exp %x_8 : tensor<1024xf32>
    %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%s_9: f32, %s_10: f32):
      %s_11 = arith.addf %s_9, %s_10 : f32
      tt.reduce.return %s_11 : f32
    }) : (tensor<1024xf32>) -> f32
    %0 = tt.addptr %out, %x_1 : !tt.ptr<f32>, i32
    %1 = tt.splat %0 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %2 = tt.addptr %1, %c : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %3 = tt.splat %s : f32 -> tensor<1024xf32>
    %4 = arith.divf %e, %3 : tensor<1024xf32>
    tt.store %2, %4, %m_0 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
