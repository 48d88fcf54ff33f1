#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @attention(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %V: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %O: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %sq: i32 {tt.divisibility = 16 : i32}, %sk: i32 {tt.divisibility = 16 : i32}, %L: i32 {tt.divisibility = 16 : i32}, %scale: f32) attributes {noinline = false} {
    %true = arith.constant true
    %rm = arith.constant 128 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %l = arith.constant dense<0.000000e+00> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #blocked>
    %m = arith.constant dense<0xFF800000> : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %rd = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %rd_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %q = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<128x1xi32, #blocked1>
    %q_6 = tt.splat %sq : i32 -> tensor<128x1xi32, #blocked1>
    %q_7 = arith.muli %q, %q_6 : tensor<128x1xi32, #blocked1>
    %q_8 = tt.splat %Q : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %q_9 = tt.addptr %q_8, %q_7 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %q_10 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %q_11 = tt.expand_dims %q_10 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x64xi32, #blocked1>
    %q_12 = tt.broadcast %q_9 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %q_13 = tt.broadcast %q_11 : tensor<1x64xi32, #blocked1> -> tensor<128x64xi32, #blocked1>
    %q_14 = tt.addptr %q_12, %q_13 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %q_15 = tt.load %q_14 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    %q_16 = ttg.local_alloc %q_15 : (tensor<128x64xf16, #blocked1>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %acc:3 = scf.for %n = %c0_i32 to %L step %c64_i32 iter_args(%m_17 = %m, %l_18 = %l, %acc_19 = %cst) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>)  : i32 {
      %k = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
      %k_20 = tt.splat %n : i32 -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %k_21 = arith.addi %k, %rd : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
      %k_22 = arith.addi %k_20, %rd_5 : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
      %k_23 = tt.expand_dims %k_21 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x64xi32, #blocked2>
      %k_24 = tt.splat %sk : i32 -> tensor<1x64xi32, #blocked2>
      %k_25 = arith.muli %k_23, %k_24 : tensor<1x64xi32, #blocked2>
      %k_26 = tt.splat %K : !tt.ptr<f16> -> tensor<1x64x!tt.ptr<f16>, #blocked2>
      %k_27 = tt.addptr %k_26, %k_25 : tensor<1x64x!tt.ptr<f16>, #blocked2>, tensor<1x64xi32, #blocked2>
      %k_28 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
      %k_29 = tt.expand_dims %k_28 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<64x1xi32, #blocked2>
      %k_30 = tt.broadcast %k_27 : tensor<1x64x!tt.ptr<f16>, #blocked2> -> tensor<64x64x!tt.ptr<f16>, #blocked2>
      %k_31 = tt.broadcast %k_29 : tensor<64x1xi32, #blocked2> -> tensor<64x64xi32, #blocked2>
      %k_32 = tt.addptr %k_30, %k_31 : tensor<64x64x!tt.ptr<f16>, #blocked2>, tensor<64x64xi32, #blocked2>
      %k_33 = tt.load %k_32 : tensor<64x64x!tt.ptr<f16>, #blocked2>
      %k_34 = ttg.local_alloc %k_33 : (tensor<64x64xf16, #blocked2>) -> !ttg.memdesc<64x64xf16, #shared1, #smem>
      %s = ttg.convert_layout %cst : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #linear>
      %s_35, %s_36 = ttng.tmem_alloc %s : (tensor<128x64xf32, #linear>) -> (!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
      %s_37 = ttng.tc_gen5_mma %q_16, %k_34, %s_35[%s_36], %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared1, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
      %s_38, %s_39 = ttng.tmem_load %s_35[%s_37] : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #linear>
      %s_40 = ttg.convert_layout %s_38 : tensor<128x64xf32, #linear> -> tensor<128x64xf32, #blocked>
      %s_41 = tt.splat %scale : f32 -> tensor<128x64xf32, #blocked>
      %s_42 = arith.mulf %s_40, %s_41 : tensor<128x64xf32, #blocked>
      %mn = "tt.reduce"(%s_42) <{axis = 1 : i32}> ({
      ^bb0(%mn_72: f32, %mn_73: f32):
        %mn_74 = arith.maxnumf %mn_72, %mn_73 : f32
        tt.reduce.return %mn_74 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %mn_43 = arith.maxnumf %m_17, %mn : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %p = tt.expand_dims %mn_43 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %p_44 = tt.broadcast %p : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %p_45 = arith.subf %s_42, %p_44 : tensor<128x64xf32, #blocked>
      %p_46 = math.exp2 %p_45 : tensor<128x64xf32, #blocked>
      %al = arith.subf %m_17, %mn_43 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %al_47 = math.exp2 %al : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_48 = arith.mulf %l_18, %al_47 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_49 = "tt.reduce"(%p_46) <{axis = 1 : i32}> ({
      ^bb0(%l_72: f32, %l_73: f32):
        %l_74 = arith.addf %l_72, %l_73 : f32
        tt.reduce.return %l_74 : f32
      }) : (tensor<128x64xf32, #blocked>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %l_50 = arith.addf %l_48, %l_49 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %v = tt.expand_dims %k_22 {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>> -> tensor<64x1xi32, #blocked1>
      %v_51 = tt.splat %sk : i32 -> tensor<64x1xi32, #blocked1>
      %v_52 = arith.muli %v, %v_51 : tensor<64x1xi32, #blocked1>
      %v_53 = tt.splat %V : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>, #blocked1>
      %v_54 = tt.addptr %v_53, %v_52 : tensor<64x1x!tt.ptr<f16>, #blocked1>, tensor<64x1xi32, #blocked1>
      %v_55 = tt.broadcast %v_54 : tensor<64x1x!tt.ptr<f16>, #blocked1> -> tensor<64x64x!tt.ptr<f16>, #blocked1>
      %v_56 = tt.broadcast %q_11 : tensor<1x64xi32, #blocked1> -> tensor<64x64xi32, #blocked1>
      %v_57 = tt.addptr %v_55, %v_56 : tensor<64x64x!tt.ptr<f16>, #blocked1>, tensor<64x64xi32, #blocked1>
      %v_58 = tt.load %v_57 : tensor<64x64x!tt.ptr<f16>, #blocked1>
      %v_59 = ttg.local_alloc %v_58 : (tensor<64x64xf16, #blocked1>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %acc_60 = tt.expand_dims %al_47 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
      %acc_61 = tt.broadcast %acc_60 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
      %acc_62 = arith.mulf %acc_19, %acc_61 : tensor<128x64xf32, #blocked>
      %acc_63 = arith.truncf %p_46 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
      %acc_64 = ttg.local_alloc %acc_63 : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %acc_65 = ttg.convert_layout %acc_62 : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #linear>
      %acc_66, %acc_67 = ttng.tmem_alloc %acc_65 : (tensor<128x64xf32, #linear>) -> (!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
      %acc_68 = ttng.tc_gen5_mma %acc_64, %v_59, %acc_66[%acc_67], %true, %true : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
      %acc_69, %acc_70 = ttng.tmem_load %acc_66[%acc_68] : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #linear>
      %acc_71 = ttg.convert_layout %acc_69 : tensor<128x64xf32, #linear> -> tensor<128x64xf32, #blocked>
      scf.yield %mn_43, %l_50, %acc_71 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>>, tensor<128x64xf32, #blocked>
    }
    %0 = tt.splat %O : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>, #blocked1>
    %1 = tt.addptr %0, %q_7 : tensor<128x1x!tt.ptr<f16>, #blocked1>, tensor<128x1xi32, #blocked1>
    %2 = tt.broadcast %1 : tensor<128x1x!tt.ptr<f16>, #blocked1> -> tensor<128x64x!tt.ptr<f16>, #blocked1>
    %3 = tt.addptr %2, %q_13 : tensor<128x64x!tt.ptr<f16>, #blocked1>, tensor<128x64xi32, #blocked1>
    %4 = tt.expand_dims %acc#1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xf32, #blocked>
    %5 = tt.broadcast %4 : tensor<128x1xf32, #blocked> -> tensor<128x64xf32, #blocked>
    %6 = arith.divf %acc#2, %5 : tensor<128x64xf32, #blocked>
    %7 = arith.truncf %6 : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %8 = ttg.convert_layout %7 : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked1>
    tt.store %3, %8 : tensor<128x64x!tt.ptr<f16>, #blocked1>
    tt.return
  }
}
