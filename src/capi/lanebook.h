/* lanebook: GPU data layouts, by the book. The C interface.
 *
 * What it is: a tile program's text goes in, a kernel's text (PTX or AMDGPU assembly) comes out through a callback. Further,
 * questions about layouts, instructions, banks and descriptors (lb_query), conversions by themselves (lb_convert), and two about a layout in CuTe's or TIRx's notation.
 *
 * Guarantees
 *   - Nothing is allocated. All room is the `scratch` that you lend; nothing is kept between calls, so calls with scratch of
 *     their own may run at the same time.
 *   - No call needs more than 16 KiB of stack, and what your sink needs (x86-64, linked as below).
 *   - Nothing unwinds, aborts or recurses. What goes wrong is a code, and numbers in lb_error.
 *   - The sink is called only when the whole kernel has been made: on an error before that, nothing is written.
 *   - Texts are pointer and length in bytes, UTF-8, and need no zero at the end. A null pointer with length 0 is "".
 *   - Null where an address is needed, a wrong alignment, scratch that is too small or overlaps a text: an error code. What
 *     cannot be checked (an address that is not yours) is yours to get right.
 *
 * Linking
 *   cargo rustc -p lanebook-capi --profile freestanding --features freestanding --crate-type staticlib
 *   cc ... target/freestanding/liblanebook_capi.a -Wl,--gc-sections
 *   The library calls nothing but memcpy, memmove, memset, memcmp and bcmp, with their usual meaning. A libc, a kernel or
 *   firmware has them; without any of these, supply the five. Only one such archive can be in a program with other Rust code:
 *   `src/capi/install.sh PREFIX` makes libraries, static and shared, that export these functions alone, and may stand beside others;
 *   it writes files for pkg-config (`lanebook`) and CMake (find_package(lanebook), target lanebook::lanebook), too.
 *
 * Licence: MIT OR Apache-2.0.
 */
#ifndef LANEBOOK_H
#define LANEBOOK_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; lb_version() is that of the library. */
#define LB_VERSION_MAJOR 0
#define LB_VERSION_MINOR 1
#define LB_VERSION_PATCH 0
#define LB_VERSION (LB_VERSION_MAJOR << 16 | LB_VERSION_MINOR << 8 | LB_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* Codes. Their numbers are never reused; later versions may add some. */
enum lb_code {
    LB_OK = 0,
    LB_ARGUMENT = 1,      /* null, not aligned or too long; numbers[0] = which argument, from 1 */
    LB_UTF8 = 2,          /* a text is not UTF-8; offset = first wrong byte */
    LB_ARCH = 3,          /* no such architecture: see lb_arch_name */
    LB_SCRATCH_BYTES = 4, /* numbers = bytes needed, bytes lent */
    LB_SCRATCH_ALIGN = 5, /* numbers = alignment needed, bytes past it */
    LB_OVERLAP = 6,       /* scratch overlaps a text */
    LB_PARSE = 7,         /* the program cannot be read: detail below */
    LB_VERIFY = 8,        /* the program can be read but is wrong: detail below */
    LB_NO_FUNCTION = 9,   /* the program has no function */
    LB_PLAN = 10,         /* the architecture cannot do it, or room ran out: detail below */
    LB_EMIT = 11,         /* no instructions: detail below */
    LB_SINK = 12,         /* the sink answered other than 0 */
    LB_LAYOUT_TEXT = 13,  /* the layout cannot be read; line and column say where */
    LB_LAYOUT_APPLY = 14, /* the coordinate is out of range, or the number of coordinates is wrong */
    LB_AXIS = 15,         /* no axis has this name */
    LB_ROOM = 16,         /* numbers = how many there are, how many there is room for, and of lb_compile_launch which list: 1 parameters,
                           * 2 maps, 3 grid_steps, 4 flags */
    LB_CONTRACT = 17,     /* the program writes something that is not obeyed: detail below */
    LB_QUERY = 18,        /* the query has no answer: the answer's buffer says why, line and column where */
    LB_GRID = 19,         /* no number of blocks: detail 1 the function says none, 2 an argument has no value (numbers[0]), 3 not
                           * between 1 and 2^31 - 1 along an axis (numbers[0]), 4 steps that lb_compile_launch has not written */
    LB_CONVERT = 20       /* a layout of a conversion is none that registers can have, or its tile or threads are none: see lb_convert */
};

/* What went wrong, and where in the text. Every field is written by every call that is given one (0 where it says nothing).
 *
 * detail and numbers for LB_PARSE and LB_VERIFY: 1 something else is expected, 2 unknown operation, 3 unknown element type,
 * 4 undefined value, 5 defined twice (line of the first), 6 alias defined twice, 7 no such result (results), 8 number out of
 * range, 9 not closed, 10 attribute twice, 11 extent, 12 program too large (limit), 13 operands (least; most; found), 14 results
 * (least; most; found), 15 types (values; types), 16 regions (expected; found), 17 written type (operand), 18 not visible there
 * (operand), 19 kind of operand (operand), 20 kind of result (result), 21 extents (a; b), 22 ranks (a; b), 23 elements (a; b),
 * 24 element types, 25 types, 26 subscripts (rank; found), 27 values of a region (needed; found), 28 no terminator, 29 early
 * terminator, 30 attribute's value, 31 layout's text, 32 layout's size (layout; tile), 33 loop step, 34 constant, 35 scales
 * (depth; blocks), 36 alias that stands for itself, 37 layout in Triton's notation that is none, 38 handle of something erased,
 * 39 erased but still used, 40 word that the tables lack, 41 in a place where it cannot stand, 42 record that is not a program's,
 * 43 no function of this name, 44 which function is the kernel is not said (functions that may be launched), 45 no function that may
 * be launched, 46 functions that call each other in a circle, 47 attribute that nothing obeys, of a module, a call, a loop, or of a called function where only a kernel has it,
 * 48 results of other types than the function says, 49 while loop that does not count, 50 carried index that does not grow by the
 * same, 51 pointers made or read in another way than is followed, 52 tile of three or more dimensions used as none of two is,
 * 53 tile of three or more dimensions of too many matrices (matrices; most), 54 stage of a pipeline that is none which is followed,
 * 55 elements of half a byte used as pairs of them are not, 56 written layout of a tile of three or more dimensions,
 * 57 tensor memory that is not used as the sums of products, 58 layout of a tile of tensor memory that is not that of a block of sums,
 * 59 index that threads may see differently, from a tensor on which the kernel carries out atomic operations, 60 index computed with as
 * a number of other than 32 bits, 61 region that combines elements in another way than is followed, 62 region beside the attribute that says the same,
 * 63 factor of half a byte an element, beside one of a type that has not all of its numbers, 64 module that says other threads than its kernel
 * (threads), 65 module that asks for clusters of blocks, 66 module that says how many warps there are, and not how many threads a warp has,
 * 67 branch to labels whose blocks are no tree or that does not end the function, 68 atomic operation whose kind, order or scope these elements do not
 * have, 69 loop of stages that holds an order among blocks, 70 distance of a tile of pointers
 * that is written and that 32 bits do not hold, 71 form of counting or gathering that no loop does,
 * 72 buffer of several in shared memory that is used in a way that is not followed, 73 described tensor
 * that is not known where a tile of it is moved, 74 operation by which another compiler orders or feeds units of one machine by hand.
 * LB_PLAN: 1 threads (threads; wave; most), 2 unsupported operation, 3 extents, 4 element type, 5 operand not traced (operand),
 * 6 no matrix instruction, 7 no instruction for a movement, 8 two distributions, 9 no distribution, 10 shared memory (bytes
 * needed; bytes there are), 11 room (capacity; number of the list), 12 architecture, 13 no matrix instruction takes these scales, 14 registers of one
 * operand (fewest; most there can be), 15 written layout that cannot be kept to (why), 16 tensor memory (columns needed; those for
 * scales; columns there are), 17 lanes of tensor memory that no warp reaches (warps; warps that reach all),
 * 18 tile of global memory that spans more than its addresses reach (bytes), 19 the plan is of another program or other tables,
 * 20 copy that cannot run ahead of its loop's turns (why),
 * 21 a mask at a tile of shared memory, or beside bounds,
 * 22 an index tile that is not obeyed (0 tile in shared memory; 1 elements; 2 shape; 3 dimension; 4 a dimension without indices;
 * 5 another tile in their place), 23 an atomic operation that no instruction does (0 elements; 1 tile in shared memory),
 * 24 a reshape between rows that are no powers of two wide, 25 scratch that is too little (least bytes that would do; bytes it may take),
 * 26 a part of a tile, or a scan, that is not made (0 shape; 1 place; 2 outside; 3 between; 4 dimension; 5 no power of two),
 * 27 a precision of a product whose factors are not both f32,
 * 28 room of the program for what stands in an operation's place (most; number of the pool as the library's enum Pool has it from 0),
 * 29 sums that cannot stand in tensor memory, 30 program for another architecture, 31 program for waves of another size (lanes it says; lanes there are).
 * LB_EMIT: 1 steps or registers, 2 expressions, 3 simplification, 4 selection, 5 room (capacity; number of the list), 6 unplanned operation,
 * 7 index, 8 carried value, 9 no rules, 10 constant, 11 element of a parallel loop (the reason's number in src/emit/src/elements/mod.rs).
 * LB_CONTRACT: 1 operation that is not compiled, 2 undeclared operation, 3 operation outside of the function, 4 second function,
 * 5 region, 6 attribute that the operation has not, 7 attribute twice, 8 form of an attribute's value, 9 range of an attribute's
 * value (value), 10 attribute that says nothing with these shapes, 11 missing attribute (its number), 12 count
 * (found; least; most), 13 kind (where; bits of what can stand there; bits of what does), 14 dimensions (where; least; found), 15
 * elements (where), 16 subscripts (operand; needed; found), 17 subscript (operand; which), 18 written layout (where; bit of its
 * notation; bits of those that are obeyed), 19 layout twice, 20 undefined name of a layout, 21 number that the type does not hold
 * (bits), 22 tables without a contract, 23 loop without a yield. Where: operands from 0, results from 1000, arguments from 2000; so is what 12 found.
 * Lists of a plan: 0 tiles in shared memory, 1 tiles in registers, 2 tiles of global memory, 3 movements, 4 products,
 * 5 tensor maps, 6 mbarriers, 7 exchanges through shared memory, 8 conversions inside warps, 9 copy atoms, 10 loads of
 * copies through registers, 11 tiles that wait, 12 ways to do a product, 13 operands that units read from shared memory.
 * Lists of emission are numbered as the variants of EmitPool in src/emit/src/pool.rs, from 0.
 * Written layouts: 0 unreadable, 1 axes, 2 size, 3 order, 4 extent, 5 rows apart and a swizzle, 6 not for the matrix unit,
 * 7 swizzle, 8 padding, 9 element, 10 panels, 11 unread; of a layout in a notation of another system 100 more than the number of why
 * lb_convert takes none.
 * A detail is never 0 with these codes, and its number is never reused. */
typedef struct lb_error {
    uint32_t code;   /* enum lb_code */
    uint32_t detail;
    uint32_t line;   /* from 1; 0 = nowhere */
    uint32_t column; /* from 1, in characters; 0 = nowhere */
    uint32_t offset; /* bytes from the beginning of the text */
    uint32_t bytes;  /* how many are concerned */
    int64_t numbers[3];
} lb_error;

/* Takes text, in order, as often as needed, some 4 KiB at a time. Answers 0 to go on; anything else ends the call with LB_SINK.
 * It may call any function here with other scratch, and must not unwind or jump out. The bytes are valid until it returns. */
typedef int (*lb_sink)(void *user, const uint8_t *text, size_t bytes);

/* major << 16 | minor << 8 | patch */
uint32_t lb_version(void);

/* The architectures of this build, by number from 0. The name is `*bytes` long, has no zero at its end and lives as long as the
 * program; null past the last. `bytes` may be null. */
size_t lb_arch_count(void);
const uint8_t *lb_arch_name(size_t index, size_t *bytes);
/* The number of an architecture by its name; lb_arch_count() where this build has none of that name. Names stay, numbers are this build's. */
size_t lb_arch_index(const uint8_t *name, size_t bytes);

/* Instructions by numbers that stay: hw-tables/ids.ron gives each one from 1 on, whatever architectures a build has. lb_atom_id counts
 * through those of this build, from 0; it answers 0 past the last. lb_atom_named answers 0, and lb_atom_name null, where this build has
 * none. What an instruction does is a query: lb_query with its name. */
uint32_t lb_atom_id(size_t index);
uint32_t lb_atom_named(const uint8_t *name, size_t bytes);
const uint8_t *lb_atom_name(uint32_t id, size_t *bytes);

/* What lb_compile needs for an architecture: bytes (0 = no such architecture) and alignment. */
size_t lb_scratch_bytes(const uint8_t *arch, size_t arch_bytes);
size_t lb_scratch_align(void);

/* Compiles the first function of a program and writes the kernel's text to `write(user, ...)`.
 * `scratch`: lb_scratch_bytes of memory, aligned to lb_scratch_align, overlapping nothing; its contents before and after have no
 * meaning. `err` may be null. Answers err->code. */
uint32_t lb_compile(const uint8_t *text, size_t text_bytes, const uint8_t *arch, size_t arch_bytes, void *scratch,
                    size_t scratch_bytes, lb_sink write, void *user, lb_error *err);

/* A tensor map that a compiled kernel takes as a parameter: what a driver's encoder is given to make one. Numbers of element types,
 * interleavings and swizzle modes are the driver's own (CUtensorMapDataType and so on); dimensions count from the innermost. */
#define LB_NO_PARAMETER UINT32_MAX
#define LB_MAX_RANK 5
typedef struct lb_tensor_dim {
    uint64_t extent;           /* of the tensor, in elements; 0 = the value of extent_parameter by extent_divisor */
    uint64_t stride_bytes;     /* from one element to the next; 0 = the value of stride_parameter times element_bytes */
    uint32_t extent_parameter; /* the kernel's parameter, from 0, or LB_NO_PARAMETER */
    uint32_t stride_parameter; /* the same; it counts elements */
    uint32_t argument_dim;     /* which dimension of the argument this is, from 0 */
    uint32_t box_extent;       /* elements of the box */
    uint32_t element_stride;   /* steps between its elements */
    uint32_t extent_divisor;   /* 2 where the map's elements are pairs of those that extent_parameter counts, else 1; 0 without it */
} lb_tensor_dim;

typedef struct lb_tensor_map {
    uint32_t parameter;         /* the kernel's parameter that the map is, from 0 */
    uint32_t offset, bytes, align; /* in the parameter block: bytes from its beginning, size, alignment of the map */
    uint32_t argument;          /* the function's argument whose tensor it describes, from 0 */
    uint32_t pointer_parameter; /* the kernel's parameter that holds the tensor's address, from 0 */
    uint32_t element, element_bytes;
    uint32_t interleave, swizzle;
    uint32_t rank;
    uint32_t reserved;          /* 0 */
    lb_tensor_dim dims[LB_MAX_RANK]; /* the first `rank` of them */
} lb_tensor_map;

/* As lb_compile, and describes the tensor maps that the kernel takes: the first *map_count of `maps`, in the order of its parameters. None is
 * needed by kernels that copy otherwise. `write` may be null: the maps alone. LB_ROOM: nothing was written, the maps are more than map_room. `maps` may be
 * null where map_room is 0; map_count may not. Both are left alone on an error before the text. */
uint32_t lb_compile_maps(const uint8_t *text, size_t text_bytes, const uint8_t *arch, size_t arch_bytes, void *scratch, size_t scratch_bytes,
                         lb_sink write, void *user, lb_tensor_map *maps, size_t map_room, size_t *map_count, lb_error *err);

/* Everything that a launch of a compiled kernel needs. Arguments are those of the tile program's function, parameters those of the
 * kernel, each from 0. Names are in the program's text, other texts live as long as the program; none has a zero at its end. */
enum lb_parameter_kind {
    LB_POINTER = 0, /* the address of the tensor's first element, 64 bits; a multiple of `multiple` bytes */
    LB_EXTENT = 1,  /* the extent of dimension `number` of the tensor, in elements */
    LB_STRIDE = 2,  /* from one element to the next of dimension `number`, in elements; a multiple of `multiple` */
    LB_SCALAR = 3,  /* the argument's value, a multiple of `multiple`; of one of 64 bits, two parameters of 4 bytes: the lower half, then the upper one */
    LB_MAP = 4,     /* the tensor map maps[number], by value */
    LB_BLOCKS = 5   /* how many blocks there are along axis `number`; AMD's runtimes fill it in themselves */
};
/* What an LB_SCALAR holds. */
enum lb_number_kind {
    LB_INDEX = 0,    /* an index of 32 bits */
    LB_SIGNED = 1,   /* a whole number of element_bytes bytes, in two's complement */
    LB_UNSIGNED = 2, /* the same without a sign */
    LB_FLOAT = 3,    /* a floating-point number of element_bytes bytes */
    LB_BITS = 4      /* element_bytes bytes that are no number */
};
typedef struct lb_parameter {
    uint32_t kind;            /* enum lb_parameter_kind */
    uint32_t argument;        /* the function's argument, or LB_NO_PARAMETER for LB_BLOCKS */
    uint32_t number;          /* dimension, map, axis; of an LB_SCALAR enum lb_number_kind */
    uint32_t offset, bytes, align; /* in the parameter block, in bytes */
    uint32_t multiple;
    uint32_t element_bytes;   /* of the tensor of an LB_POINTER, of an LB_SCALAR that is no index, else 0 */
    int64_t low, high;        /* the least and the greatest number that may be put there; 0 for addresses, maps, LB_FLOAT and LB_BITS */
    const uint8_t *name;      /* the argument's */
    size_t name_bytes;
} lb_parameter;

/* The blocks along an axis in postfix order: numbers and arguments are put on a stack, the others replace the two on top of it. */
enum lb_grid_op {
    LB_GRID_NUMBER = 0, LB_GRID_ARGUMENT = 1, LB_GRID_ADD = 2, LB_GRID_SUB = 3, LB_GRID_MUL = 4,
    LB_GRID_CEIL_DIV = 5, /* rounded up; the divisor is above 0 */
    LB_GRID_MIN = 6, LB_GRID_MAX = 7
};
typedef struct lb_grid_step {
    uint32_t op;       /* enum lb_grid_op */
    uint32_t argument; /* of LB_GRID_ARGUMENT: the function's argument */
    int64_t number;    /* of LB_GRID_NUMBER */
} lb_grid_step;

typedef struct lb_launch {
    /* By you: sizeof(lb_launch), and lists with room; a list may be null where its room is 0. */
    size_t bytes;
    lb_parameter *parameters;
    size_t parameter_room;
    lb_tensor_map *maps;
    size_t map_room;
    lb_grid_step *grid_steps;
    size_t grid_step_room;
    uint8_t *flags; /* what an assembler must be told besides the text, each ended by a zero: "-mcpu=gfx942", "-mattr=+wavefrontsize64" */
    size_t flag_room;
    /* By the call: how many of each there are. On LB_ROOM only these are written, so that you can lend enough. */
    size_t parameter_count, map_count, grid_step_count, flag_bytes;
    const uint8_t *kernel; /* the kernel's name in its text */
    size_t kernel_bytes;
    const uint8_t *target; /* what its assembler calls the architecture */
    size_t target_bytes;
    const uint8_t *version; /* of the text; 0 bytes where texts have none */
    size_t version_bytes;
    uint32_t threads;      /* of a block, all along x */
    uint32_t wave_lanes;
    uint32_t static_shared_bytes;  /* the text declares them */
    uint32_t dynamic_shared_bytes; /* the launch asks for them */
    uint32_t tensor_columns;       /* columns of tensor memory that a block allocates itself; the launch passes nothing */
    uint32_t parameter_bytes;      /* of the parameter block */
    uint32_t cluster[3];           /* blocks of a cluster along x, y, z */
    uint32_t grid_axes;            /* axes that the function says the blocks of; 0 = it says no grid: you know */
    uint32_t axis_steps[3];        /* steps of each axis, one axis behind the other in grid_steps */
    uint32_t reserved;             /* 0 */
} lb_launch;

/* As lb_compile, and describes the launch. `write` may be null. LB_ARGUMENT 9: `launch` is null, too small, overlaps scratch, or lends a list that is none.
 * LB_ROOM: nothing was written but the counts. */
uint32_t lb_compile_launch(const uint8_t *text, size_t text_bytes, const uint8_t *arch, size_t arch_bytes, void *scratch, size_t scratch_bytes,
                           lb_sink write, void *user, lb_launch *launch, lb_error *err);

/* The blocks of a launch along x, y and z, written to grid[0..3], where the function's arguments have these values, by their number (those of
 * tensors are not read). LB_GRID: there is none. */
uint32_t lb_launch_grid(const lb_launch *launch, const int64_t *values, size_t value_count, uint32_t *grid, lb_error *err);

/* Says why a program does not compile, as the command `lanebook compile` does: compiles as lb_compile, writes no kernel, and where the code is
 * LB_PARSE, LB_VERIFY, LB_NO_FUNCTION, LB_PLAN, LB_EMIT or LB_CONTRACT, writes a sentence with the place in front to `answer`, not ended by a
 * zero, *answer_bytes of it: "line 2, column 3: there is no operation `what`". Other codes say all there is. LB_ROOM: the sentence is longer than
 * answer_room (numbers = bytes needed, bytes lent), and the buffer holds a part. A program that does not call it does not carry the sentences. */
uint32_t lb_explain(const uint8_t *text, size_t text_bytes, const uint8_t *arch, size_t arch_bytes, void *scratch, size_t scratch_bytes,
                    uint8_t *answer, size_t answer_room, size_t *answer_bytes, lb_error *err);

/* A conversion of a register tile from one layout to another, by itself: instructions for the middle of another program, without a kernel entry,
 * parameters or an end. Layouts are in any notation of lb_query, or operands of instructions; "on ARCH" behind one says of which architecture's
 * warps it is. Texts that come out live as long as the program and have no zero at their ends. */
enum lb_warp_split { LB_HALVES = 0, LB_INTERLEAVED = 1 };

/* A tile in registers: `count` of them, `first`, `first` + 1, ..; their names are the prefix and the number. In lane l of warp w, bits
 * [p * place_bits, (p + 1) * place_bits) of the registers, one behind the other, begin with the element whose number, row by row, is the exclusive or of
 * place[i] for each bit i of p, lane[i] of l and warp[i] of w; p has place_count bits. Extents that are no powers of two are told of in panels of
 * panel_rows by panel_columns, panels_down of them below each other and panels_across beside each other: numbers count the rows of a panel then, and the
 * places of panel k, which follow each other by rows of panels where panels_by_rows is 1, else by columns of them, are (k << place_count) + p. Else there
 * is one panel, the tile. */
typedef struct lb_tile_registers {
    const uint8_t *prefix; size_t prefix_bytes;
    uint32_t first, count, register_bits, place_bits;
    uint32_t place_count, lane_count, warp_count;
    uint32_t overwritten;       /* of the tile that goes in: 1 = something else is there behind the instructions */
    uint32_t place[12], lane[6], warp[5];
    uint32_t panel_rows, panel_columns, panels_down, panels_across, panels_by_rows;
} lb_tile_registers;

/* Registers that the instructions write: prefix and number; where `count` is 0 the prefix is the whole name. */
typedef struct lb_register_run {
    const uint8_t *prefix; size_t prefix_bytes;
    uint32_t first, count;
} lb_register_run;

typedef struct lb_conversion {
    size_t bytes;                             /* in: sizeof(lb_conversion) */
    const uint8_t *from; size_t from_bytes;   /* in: the layout that there is */
    const uint8_t *to; size_t to_bytes;       /* in: the layout that is wanted */
    const uint32_t *extents; size_t rank;     /* in: extents of the tile, the last the fastest */
    const uint8_t *dtype; size_t dtype_bytes; /* in: the elements' type; of 4 bits: `given` and `made` are of bytes of two, the extent along which these lie is half */
    uint32_t threads;                         /* in: threads of the group; 0 = as many as the layouts speak of */
    uint32_t split;                           /* in: an lb_warp_split, how two warps of 32 lie in a wave of 64 */
    lb_register_run *writes; size_t write_room; /* in: where the registers that are written go */
    size_t write_count;
    lb_tile_registers given, made;
    const uint8_t *scratch_prefix; size_t scratch_prefix_bytes; /* the register that holds where the scratch begins; 0 bytes = none */
    uint32_t scratch_register;
    uint32_t scratch_bytes, scratch_align;    /* of shared memory */
    uint32_t thread_register;
    const uint8_t *thread_prefix; size_t thread_prefix_bytes;   /* the register that holds the thread's number in its group; 0 bytes = none is read */
    uint32_t group_threads, wave_lanes;
    uint32_t instructions;
    uint32_t scratch_most;                    /* in: most bytes of shared memory that it may go through, in rounds where the tile has more; 0 = as many as that has */
} lb_conversion;

/* Writes the instructions to `write(user, ...)` (which may be null) and describes them. All threads of the group run them together; the tile has arrived
 * in `given`; nothing before them still uses the scratch, and a barrier stands before it is used again. `scratch`: lb_convert_scratch_bytes() of memory,
 * aligned to lb_scratch_align. LB_ROOM: there are more runs than write_room (write_count says how many), and no text. LB_CONVERT: detail = 2 no such element
 * type or not of whole bytes, 3 extents, 4 `from` and 5 `to` are no distribution (numbers[0] = 1 the text cannot be read, at line and column; 2 memory; 3 extents
 * that are no powers of two and no equal panels of these in each lane's registers; 4 another shape; 5 offset, swizzle or padding; 6 an element in several places; 7 two in one place; 8 more lanes than a wave; 9 nothing is
 * said of some lanes; 10 elements neither side by side nor in a register each; 11 copies inside of a register; 12 threads; 13 several blocks; 14 lanes where memory
 * is meant; 15 registers that are copies, of a tile that is handed over; 16 copies that are no power of two; 17 padding behind a swizzle; 18 padding not behind powers of two),
 * 6 threads (numbers = said, fewest), 9 elements of 4 bits of which the two layouts have others in a byte. LB_PLAN with detail 25: scratch_most is too little. */
size_t lb_convert_scratch_bytes(void);
uint32_t lb_convert(lb_conversion *conversion, const uint8_t *arch, size_t arch_bytes, void *scratch, size_t scratch_bytes,
                    lb_sink write, void *user, lb_error *err);

/* How a tile moves; a copy goes from global to shared memory. */
enum lb_movement_kind { LB_MOVE_LOAD = 0, LB_MOVE_STORE = 1, LB_MOVE_COPY = 2 };

typedef struct lb_movement {
    size_t bytes;                             /* in: sizeof(lb_movement) */
    uint32_t kind;                            /* in: an lb_movement_kind */
    uint32_t split;                           /* in: an lb_warp_split */
    const uint8_t *registers; size_t registers_bytes; /* in: load and store: the layout in registers, as in lb_conversion */
    const uint8_t *shared; size_t shared_bytes; /* in: the layout in shared memory, in any notation of a shared tile; 0 bytes = one is chosen */
    uint32_t in_shared;                       /* in: load and store: 1 = memory is shared memory, 0 = global memory */
    uint32_t threads;                         /* in: threads of the group; 0 = as many as the layout speaks of, of a copy a wave */
    uint32_t stride, align;                   /* in: global memory: elements from one row to the next (0 = rows follow each other); bytes that the address is a multiple of (0 = an element) */
    const uint32_t *extents; size_t rank;     /* in: extents of the tile, the last the fastest */
    const uint8_t *dtype; size_t dtype_bytes; /* in: the elements' type */
    lb_register_run *writes; size_t write_room; /* in: where the registers that are written go */
    size_t write_count;
    lb_tile_registers tile;                   /* load: what comes out, store: what goes in; copy: all 0 */
    lb_register_run address;                  /* the registers that the address in global memory arrives in; count 0 = none */
    const uint8_t *scratch_prefix; size_t scratch_prefix_bytes; /* the register that holds where the tile in shared memory begins; 0 bytes = none */
    uint32_t scratch_register;
    uint32_t scratch_bytes, scratch_align;    /* of shared memory, the tile's own among them */
    uint32_t thread_register;
    const uint8_t *thread_prefix; size_t thread_prefix_bytes;   /* the register that holds the thread's number in its group; 0 bytes = none is read */
    uint32_t group_threads, wave_lanes;
    uint32_t instructions;
    uint32_t address_overwritten;             /* 1 = something else is in `address` behind the instructions */
} lb_movement;

/* One tile is loaded, stored or copied: the instructions alone, as lb_convert writes them, with its scratch of lb_convert_scratch_bytes(). A copy is complete
 * behind them; no barrier stands in front or behind. LB_ROOM and LB_CONVERT as there (LB_CONVERT with detail 4: the layout in registers). */
uint32_t lb_move(lb_movement *movement, const uint8_t *arch, size_t arch_bytes, void *scratch, size_t scratch_bytes, lb_sink write, void *user, lb_error *err);

/* A layout in TIRx's notation (it begins with "S[") or CuTe's. No symbols: every number is known.
 *
 * lb_layout_size: its number of elements.
 * lb_layout_apply: where it puts an element, on one axis. One coordinate is the element's number, CuTe's way (leftmost mode
 * fastest); several are one for each mode from the leftmost. `axis` is a name such as "m", "laneid" or "bit"; "" is "m". Axes that
 * the layout does not mention answer 0. A TIRx text is row-major: its modes count from its rightmost. */
uint32_t lb_layout_size(const uint8_t *text, size_t text_bytes, uint64_t *size, lb_error *err);
uint32_t lb_layout_apply(const uint8_t *text, size_t text_bytes, const uint64_t *coords, size_t coord_count, const uint8_t *axis,
                         size_t axis_bytes, int64_t *position, lb_error *err);

/* A layout that is read once and evaluated often. It lies in memory that you lend, refers to nothing else, and lasts as long as the memory does;
 * reading it from several threads at once is fine.
 *
 * lb_layout_bytes: how much memory a layout takes; aligned to lb_scratch_align.
 * lb_layout_read: `text` is any layout of lb_query's language: CuTe's and TIRx's notation, Triton's encodings with a shape
 *     (`#ttg.swizzled_shared<{...}> @ 64x64`), TileLang's fragments, operands of instructions (`mma.m16n8k16.f32.f16.D`), functions of them. `arch`
 *     and `scratch` as for lb_query. *layout is the layout, in `memory`. LB_QUERY: it cannot be read; lb_query says why. LB_LAYOUT_TEXT: it is no layout.
 * lb_layout_shape: the extents of its coordinates, *rank of them (at most 32), as its notation has them; *row_major is 1 where the last coordinate is
 *     the fastest (TIRx, Triton, operands), 0 where the first is (CuTe).
 * lb_layout_table: the positions of the elements first, first + 1, .., `count` of them, on one axis ("" is "m"). Elements are numbered with the fastest
 *     coordinate first; of an element that has copies it is the position of the first. LB_LAYOUT_APPLY: there are fewer elements (numbers = how many
 *     there are, first, count), or the layout is one of symbols. */
typedef struct lb_layout lb_layout;
size_t lb_layout_bytes(void);
uint32_t lb_layout_read(const uint8_t *text, size_t text_bytes, const uint8_t *arch, size_t arch_bytes, void *scratch, size_t scratch_bytes,
                        void *memory, size_t memory_bytes, const lb_layout **layout, lb_error *err);
uint32_t lb_layout_shape(const lb_layout *layout, uint32_t *extents, size_t extent_room, size_t *rank, uint32_t *row_major, lb_error *err);
uint32_t lb_layout_table(const lb_layout *layout, const uint8_t *axis, size_t axis_bytes, uint64_t first, int64_t *positions, size_t count,
                         lb_error *err);

/* Answers a query: an expression over layouts in every notation, operands of instructions and functions of them (`lanebook ask` without an
 * expression lists the functions), such as
 *     mma.m16n8k16.f32.f16.D at (3, 5)
 *     conflicts((64,64):(64,1), ldmatrix, f16)
 * `arch` is the architecture where the query does not name one with `on`; "" is none. The answer is written to `answer`, not ended by a zero,
 * *answer_bytes of it; LB_ROOM: it is longer than answer_room (numbers = bytes needed, bytes lent), and the buffer holds a part. LB_QUERY: the buffer
 * holds the reason in the same format, {"kind": "error", ...} in JSON, as text where a picture was asked for: of a layout, of at most 4,096 elements. `scratch` has lb_query_scratch_bytes() bytes and the alignment of lb_scratch_align;
 * names of `let` last for the call. */
enum lb_format { LB_TEXT = 0, LB_JSON = 1, LB_SVG = 2 };
size_t lb_query_scratch_bytes(void);
uint32_t lb_query(const uint8_t *text, size_t text_bytes, const uint8_t *arch, size_t arch_bytes, uint32_t format, void *scratch,
                  size_t scratch_bytes, uint8_t *answer, size_t answer_room, size_t *answer_bytes, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
