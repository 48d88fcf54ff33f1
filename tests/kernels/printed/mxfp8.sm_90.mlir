module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scaled_matmul(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sa: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sb: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %M: i32 {tt.divisibility = 16 : i32}, %N: i32 {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c127_i32 = arith.constant 127 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c4_i32 = arith.constant 4 : i32
    %c32_i32 = arith.constant 32 : i32
    %c128_i32 = arith.constant 128 : i32
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %om = arith.muli %pm, %c128_i32 : i32
    %om_0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %om_1 = tt.splat %om : i32 -> tensor<128xi32>
    %om_2 = arith.addi %om_1, %om_0 : tensor<128xi32>
    %on = arith.muli %pn, %c128_i32 : i32
    %on_3 = tt.splat %on : i32 -> tensor<128xi32>
    %on_4 = arith.addi %on_3, %om_0 : tensor<128xi32>
    %osk = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %0 = arith.addi %K, %c127_i32 : i32
    %1 = arith.divsi %0, %c128_i32 : i32
    %acc_5 = scf.for %k = %c0_i32 to %1 step %c1_i32 iter_args(%acc_6 = %acc) -> (tensor<128x128xf32>)  : i32 {
      %x = tt.expand_dims %om_2 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %x_7 = tt.splat %K : i32 -> tensor<128x1xi32>
      %x_8 = arith.muli %x, %x_7 : tensor<128x1xi32>
      %x_9 = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>>
      %x_10 = tt.addptr %x_9, %x_8 : tensor<128x1x!tt.ptr<f8E4M3FN>>, tensor<128x1xi32>
      %x_11 = arith.muli %k, %c128_i32 : i32
      %x_12 = tt.splat %x_11 : i32 -> tensor<128xi32>
      %x_13 = arith.addi %x_12, %om_0 : tensor<128xi32>
      %x_14 = tt.expand_dims %x_13 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %x_15 = tt.broadcast %x_10 : tensor<128x1x!tt.ptr<f8E4M3FN>> -> tensor<128x128x!tt.ptr<f8E4M3FN>>
      %x_16 = tt.broadcast %x_14 : tensor<1x128xi32> -> tensor<128x128xi32>
      %x_17 = tt.addptr %x_15, %x_16 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
      %x_18 = tt.load %x_17 : tensor<128x128x!tt.ptr<f8E4M3FN>>
      %y = tt.expand_dims %x_13 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %y_19 = tt.splat %b : !tt.ptr<f8E4M3FN> -> tensor<128x1x!tt.ptr<f8E4M3FN>>
      %y_20 = tt.addptr %y_19, %y : tensor<128x1x!tt.ptr<f8E4M3FN>>, tensor<128x1xi32>
      %y_21 = tt.expand_dims %on_4 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %y_22 = tt.splat %K : i32 -> tensor<1x128xi32>
      %y_23 = arith.muli %y_21, %y_22 : tensor<1x128xi32>
      %y_24 = tt.broadcast %y_20 : tensor<128x1x!tt.ptr<f8E4M3FN>> -> tensor<128x128x!tt.ptr<f8E4M3FN>>
      %y_25 = tt.broadcast %y_23 : tensor<1x128xi32> -> tensor<128x128xi32>
      %y_26 = tt.addptr %y_24, %y_25 : tensor<128x128x!tt.ptr<f8E4M3FN>>, tensor<128x128xi32>
      %y_27 = tt.load %y_26 : tensor<128x128x!tt.ptr<f8E4M3FN>>
      %u = arith.divsi %K, %c32_i32 : i32
      %u_28 = tt.splat %u : i32 -> tensor<128x1xi32>
      %u_29 = arith.muli %x, %u_28 : tensor<128x1xi32>
      %u_30 = tt.splat %sa : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>>
      %u_31 = tt.addptr %u_30, %u_29 : tensor<128x1x!tt.ptr<i8>>, tensor<128x1xi32>
      %u_32 = arith.muli %k, %c4_i32 : i32
      %u_33 = tt.splat %u_32 : i32 -> tensor<4xi32>
      %u_34 = arith.addi %u_33, %osk : tensor<4xi32>
      %u_35 = tt.expand_dims %u_34 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
      %u_36 = tt.broadcast %u_31 : tensor<128x1x!tt.ptr<i8>> -> tensor<128x4x!tt.ptr<i8>>
      %u_37 = tt.broadcast %u_35 : tensor<1x4xi32> -> tensor<128x4xi32>
      %u_38 = tt.addptr %u_36, %u_37 : tensor<128x4x!tt.ptr<i8>>, tensor<128x4xi32>
      %u_39 = tt.load %u_38 : tensor<128x4x!tt.ptr<i8>>
      %w = tt.expand_dims %on_4 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %w_40 = arith.muli %w, %u_28 : tensor<128x1xi32>
      %w_41 = tt.splat %sb : !tt.ptr<i8> -> tensor<128x1x!tt.ptr<i8>>
      %w_42 = tt.addptr %w_41, %w_40 : tensor<128x1x!tt.ptr<i8>>, tensor<128x1xi32>
      %w_43 = tt.broadcast %w_42 : tensor<128x1x!tt.ptr<i8>> -> tensor<128x4x!tt.ptr<i8>>
      %w_44 = tt.addptr %w_43, %u_37 : tensor<128x4x!tt.ptr<i8>>, tensor<128x4xi32>
      %w_45 = tt.load %w_44 : tensor<128x4x!tt.ptr<i8>>
      %acc_46 = tt.dot_scaled %x_18 scale %u_39, %y_27 scale %w_45, %acc_6 lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<128x128xf8E4M3FN>, tensor<128x4xi8> * tensor<128x128xf8E4M3FN>, tensor<128x4xi8> -> tensor<128x128xf32>
      scf.yield %acc_46 : tensor<128x128xf32>
    }
    %2 = tt.expand_dims %om_2 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %3 = tt.splat %N : i32 -> tensor<128x1xi32>
    %4 = arith.muli %2, %3 : tensor<128x1xi32>
    %5 = tt.splat %c : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %7 = tt.expand_dims %on_4 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %8 = tt.broadcast %6 : tensor<128x1x!tt.ptr<f32>> -> tensor<128x128x!tt.ptr<f32>>
    %9 = tt.broadcast %7 : tensor<1x128xi32> -> tensor<128x128xi32>
    %10 = tt.addptr %8, %9 : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %10, %acc_5 : tensor<128x128x!tt.ptr<f32>>
    tt.return
  }
}
