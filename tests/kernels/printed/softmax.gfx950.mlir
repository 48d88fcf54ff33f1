module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @softmax(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %inp: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %s_i: i32 {tt.divisibility = 16 : i32}, %s_o: i32 {tt.divisibility = 16 : i32}, %n_rows: i32 {tt.divisibility = 16 : i32}, %n_cols: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0xFF800000> : tensor<1024xf32>
    %row_start = tt.get_program_id x : i32
    %step = tt.get_num_programs x : i32
    %o = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %m = tt.splat %n_cols : i32 -> tensor<1024xi32>
    %m_0 = arith.cmpi slt, %o, %m : tensor<1024xi32>
    scf.for %row = %row_start to %n_rows step %step  : i32 {
      %p = arith.muli %row, %s_i : i32
      %p_1 = tt.addptr %inp, %p : !tt.ptr<f32>, i32
      %x = tt.splat %p_1 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
      %x_2 = tt.addptr %x, %o : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
      %x_3 = tt.load %x_2, %m_0, %cst : tensor<1024x!tt.ptr<f32>>
      %x_4 = "tt.reduce"(%x_3) <{axis = 0 : i32}> ({
      ^bb0(%x_7: f32, %x_8: f32):
        %x_9 = arith.maxnumf %x_7, %x_8 : f32
        tt.reduce.return %x_9 : f32
      }) : (tensor<1024xf32>) -> f32
      %x_5 = tt.splat %x_4 : f32 -> tensor<1024xf32>
      %x_6 = arith.subf %x_3, %x_5 : tensor<1024xf32>
      %num = math.exp %x_6 : tensor<1024xf32>
      %den = "tt.reduce"(%num) <{axis = 0 : i32}> ({
      ^bb0(%den_7: f32, %den_8: f32):
        %den_9 = arith.addf %den_7, %den_8 : f32
        tt.reduce.return %den_9 : f32
      }) : (tensor<1024xf32>) -> f32
      %0 = arith.muli %row, %s_o : i32
      %1 = tt.addptr %out, %0 : !tt.ptr<f32>, i32
      %2 = tt.splat %1 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
      %3 = tt.addptr %2, %o : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
      %4 = tt.splat %den : f32 -> tensor<1024xf32>
      %5 = arith.divf %num, %4 : tensor<1024xf32>
      tt.store %3, %5, %m_0 : tensor<1024x!tt.ptr<f32>>
    } {tt.num_stages = 2 : i32}
    tt.return
  }
}
