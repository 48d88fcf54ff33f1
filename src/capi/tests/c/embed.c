// An embedder without a C library: compiles the GEMM example for every architecture that is named, and makes every kind of
// mistake. Exit status 0 = all as the header says; otherwise the line of the first check that failed, on standard error.
#include "lanebook.h"
#include "memory.c"

static long call3(long n, long a, long b, long c) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}
static void put(int file, const char *text, size_t n) { call3(1, file, (long)text, (long)n); }
static _Noreturn void leave(int code) { call3(60, code, 0, 0); __builtin_unreachable(); }
static void number(int file, unsigned long n) {
    char d[20]; int at = 20;
    do d[--at] = (char)('0' + n % 10); while (n /= 10);
    put(file, d + at, (size_t)(20 - at));
}
#define PUT(file, text) put(file, text, sizeof text - 1)
#define CHECK(what) do { if (!(what)) { PUT(2, "embed.c:"); number(2, __LINE__); PUT(2, ": " #what "\n"); leave(1); } } while (0)
#define TEXT(s) (const uint8_t *)(s), sizeof(s) - 1

extern const uint8_t gemm_start[], gemm_end[];
__asm__(".section .rodata\n.globl gemm_start, gemm_end\ngemm_start: .incbin \"" GEMM "\"\ngemm_end:\n.text\n");

static _Alignas(64) uint8_t scratch[4 << 20];
static char kept[1 << 20];
static size_t kept_bytes, sink_calls;
static int sink(void *user, const uint8_t *text, size_t bytes) {
    sink_calls++;
    if (user) return 1;
    if (bytes > sizeof kept - kept_bytes) return 1;
    memcpy(kept + kept_bytes, text, bytes);
    kept_bytes += bytes;
    return 0;
}
static int begins(const char *with, size_t n) { return kept_bytes >= n && memcmp(kept, with, n) == 0; }

static void compile(const uint8_t *arch, size_t arch_bytes, const char *first, size_t first_bytes) {
    lb_error e;
    size_t need = lb_scratch_bytes(arch, arch_bytes), program = (size_t)(gemm_end - gemm_start);
    CHECK(need > 0 && need <= sizeof scratch);
    kept_bytes = sink_calls = 0;
    uint32_t code = lb_compile(gemm_start, program, arch, arch_bytes, scratch, need, sink, 0, &e);
    if (code != LB_OK) { PUT(2, "code "); number(2, code); PUT(2, " detail "); number(2, e.detail); PUT(2, " line "); number(2, e.line); PUT(2, "\n"); }
    CHECK(code == LB_OK && e.code == LB_OK && e.line == 0);
    CHECK(sink_calls <= kept_bytes / 4096 + 1);
    CHECK(begins(first, first_bytes));
    put(1, (const char *)arch, arch_bytes); PUT(1, ": "); number(1, kept_bytes); PUT(1, " bytes of text, "); number(1, need); PUT(1, " bytes of scratch; first line: ");
    size_t line = 0;
    while (line < kept_bytes && kept[line] != '\n') line++;
    put(1, kept, line); PUT(1, "\n");
}

static void mistakes(void) {
    static const uint8_t bad[] = {'f', 'u', 0xff};
    const uint8_t *arch = (const uint8_t *)"sm_80";
    size_t need = lb_scratch_bytes(arch, 5), n = (size_t)(gemm_end - gemm_start), align = lb_scratch_align();
    lb_error e;
    sink_calls = 0;
#define TRY(text, tn, scr, sn, f) lb_compile(text, tn, arch, 5, scr, sn, f, 0, &e)
    CHECK(TRY(0, 5, scratch, need, sink) == LB_ARGUMENT && e.numbers[0] == 1);
    CHECK(TRY(gemm_start, SIZE_MAX, scratch, need, sink) == LB_ARGUMENT && e.numbers[0] == 1);
    CHECK(TRY(gemm_start, n, 0, need, sink) == LB_ARGUMENT && e.numbers[0] == 5);
    CHECK(TRY(gemm_start, n, scratch, need, 0) == LB_ARGUMENT && e.numbers[0] == 7);
    CHECK(TRY(gemm_start, n, scratch, need - 1, sink) == LB_SCRATCH_BYTES && (size_t)e.numbers[0] == need && (size_t)e.numbers[1] == need - 1);
    CHECK(TRY(gemm_start, n, scratch + 1, need, sink) == LB_SCRATCH_ALIGN && (size_t)e.numbers[0] == align && e.numbers[1] == 1);
    CHECK(TRY(scratch + 8, 16, scratch, need, sink) == LB_OVERLAP);
    CHECK(TRY(bad, sizeof bad, scratch, need, sink) == LB_UTF8 && e.offset == 2);
    CHECK(TRY(0, 0, scratch, need, sink) == LB_NO_FUNCTION);
    CHECK(lb_compile(gemm_start, n, TEXT("sm_8"), scratch, need, sink, 0, &e) == LB_ARCH);
    CHECK(lb_compile(gemm_start, n, TEXT("sm_8"), scratch, need, sink, 0, 0) == LB_ARCH);
    CHECK(TRY((const uint8_t *)"func @f() {\n  what %a\n}", 23, scratch, need, sink) == LB_PARSE && e.detail == 2 && e.line == 2 && e.column == 3);
    CHECK(sink_calls == 0);
    CHECK(lb_compile(gemm_start, n, arch, 5, scratch, need, sink, &e, &e) == LB_SINK && sink_calls == 1);
    CHECK(lb_scratch_bytes(TEXT("sm_8")) == 0 && lb_scratch_bytes(0, 3) == 0);
}

/* The maps of the GEMM: as its program and plan say, checked against each other, and what is refused. */
static void maps(void) {
    const uint8_t *arch = (const uint8_t *)"sm_90a";
    size_t need = lb_scratch_bytes(arch, 6), n = (size_t)(gemm_end - gemm_start), count = 77;
    lb_tensor_map m[4];
    lb_error e;
#define MAPS(f, out, room, counted) lb_compile_maps(gemm_start, n, arch, 6, scratch, need, f, 0, out, room, counted, &e)
    kept_bytes = sink_calls = 0;
    CHECK(MAPS(sink, m, 4, &count) == LB_OK && count == 2 && begins(".version", 8));
    for (size_t k = 0; k < count; k++) {
        /* A pointer, two extents and a stride for each of three memrefs, three numbers, then the maps of the first two. */
        CHECK(m[k].parameter == 15 + k && m[k].bytes == 128 && m[k].align == 64 && m[k].offset % 64 == 0 && m[k].argument == k);
        CHECK(m[k].pointer_parameter == 4 * k && m[k].element == 6 && m[k].element_bytes == 2 && m[k].interleave == 0 && m[k].rank == 2);
        lb_tensor_dim in = m[k].dims[0], out = m[k].dims[1];
        CHECK(in.extent == 0 && in.extent_parameter == 4 * k + 2 && in.stride_bytes == 2 && in.stride_parameter == LB_NO_PARAMETER && in.argument_dim == 1);
        CHECK(out.extent == 0 && out.extent_parameter == 4 * k + 1 && out.stride_bytes == 0 && out.stride_parameter == 4 * k + 3 && out.argument_dim == 0);
        CHECK(in.element_stride == 1 && out.element_stride == 1 && in.extent_divisor == (in.extent_parameter != LB_NO_PARAMETER) && out.extent_divisor == (out.extent_parameter != LB_NO_PARAMETER) && m[k].reserved == 0);
        /* A row of the box is as wide as its swizzle mode's. */
        CHECK(m[k].swizzle >= 1 && m[k].swizzle <= 3 && in.box_extent * 2 == 16u << m[k].swizzle);
        CHECK(out.box_extent == (k ? 64 : 128));
    }
    CHECK(m[1].offset == m[0].offset + 128);
    /* The text is the same without the question, and the answer without the text. */
    size_t whole = kept_bytes;
    lb_tensor_map again[2];
    CHECK(lb_compile(gemm_start, n, arch, 6, scratch, need, sink, 0, &e) == LB_OK && kept_bytes == 2 * whole && memcmp(kept, kept + whole, whole) == 0);
    sink_calls = 0;
    CHECK(MAPS(0, again, 2, &count) == LB_OK && count == 2 && memcmp(m, again, sizeof again) == 0);
    count = 77;
    CHECK(MAPS(sink, m, 1, &count) == LB_ROOM && e.numbers[0] == 2 && e.numbers[1] == 1 && count == 77 && sink_calls == 0);
    CHECK(MAPS(sink, 0, 0, &count) == LB_ROOM && e.numbers[0] == 2 && sink_calls == 0);
    CHECK(MAPS(sink, 0, 1, &count) == LB_ARGUMENT && e.numbers[0] == 9);
    CHECK(MAPS(sink, m, SIZE_MAX, &count) == LB_ARGUMENT && e.numbers[0] == 9);
    CHECK(MAPS(sink, (lb_tensor_map *)(scratch + 64), 2, &count) == LB_ARGUMENT && e.numbers[0] == 9);
    CHECK(MAPS(sink, m, 4, 0) == LB_ARGUMENT && e.numbers[0] == 11);
    CHECK(lb_compile_maps(gemm_start, n, TEXT("sm_80"), scratch, need, 0, 0, 0, 0, &count, &e) == LB_OK && count == 0);
}

/* The launch of the GEMM, whose grid whoever launches it knows, and of a program that says its own. */
extern const uint8_t grid_start[], grid_end[];
__asm__(".section .rodata\n.globl grid_start, grid_end\ngrid_start: .incbin \"" GRID "\"\ngrid_end:\n.text\n");

static int equal(const uint8_t *text, size_t bytes, const char *with, size_t with_bytes) { return bytes == with_bytes && memcmp(text, with, bytes) == 0; }
#define EQUAL(text, bytes, with) equal(text, bytes, with, sizeof with - 1)

static void launches(void) {
    static lb_parameter p[32];
    static lb_tensor_map m[4];
    static lb_grid_step g[16];
    static uint8_t flags[128];
    lb_launch l = {.bytes = sizeof l, .parameters = p, .parameter_room = 32, .maps = m, .map_room = 4, .grid_steps = g, .grid_step_room = 16, .flags = flags, .flag_room = sizeof flags};
    lb_error e;
    uint32_t grid[3] = {7, 7, 7};
    size_t need = lb_scratch_bytes(TEXT("sm_90a")), n = (size_t)(gemm_end - gemm_start);
#define LAUNCH(arch, f, out) lb_compile_launch(gemm_start, n, TEXT(arch), scratch, need, f, 0, out, &e)
    kept_bytes = 0;
    CHECK(LAUNCH("sm_90a", sink, &l) == LB_OK && begins(".version", 8));
    CHECK(EQUAL(l.kernel, l.kernel_bytes, "gemm") && EQUAL(l.target, l.target_bytes, "sm_90a") && l.version_bytes == 3);
    CHECK(l.threads == 128 && l.wave_lanes == 32 && l.static_shared_bytes > 0 && l.dynamic_shared_bytes == 0 && l.tensor_columns == 0);
    CHECK(l.cluster[0] == 1 && l.cluster[1] == 1 && l.cluster[2] == 1 && l.reserved == 0 && l.bytes == sizeof l);
    CHECK(l.parameter_count == 17 && l.map_count == 2 && l.grid_step_count == 0 && l.grid_axes == 0);
    CHECK(EQUAL(flags, l.flag_bytes, "-arch=sm_90a\0"));
    CHECK(p[4].kind == LB_POINTER && p[4].argument == 1 && EQUAL(p[4].name, p[4].name_bytes, "B") && p[4].bytes == 8 && p[4].multiple == 16 && p[4].element_bytes == 2);
    CHECK(p[2].kind == LB_EXTENT && p[2].argument == 0 && p[2].number == 1 && p[2].bytes == 4 && p[2].offset == 12);
    CHECK(p[3].kind == LB_STRIDE && p[3].number == 0 && p[3].multiple == 8);
    CHECK(p[14].kind == LB_SCALAR && p[14].argument == 5 && EQUAL(p[14].name, p[14].name_bytes, "K") && p[14].low == 0 && p[14].high == INT32_MAX);
    CHECK(p[16].kind == LB_MAP && p[16].number == 1 && m[1].parameter == 16 && p[16].offset == m[1].offset && p[16].bytes == 128 && p[16].align == 64);
    CHECK(p[16].offset + p[16].bytes == l.parameter_bytes);
    CHECK(lb_launch_grid(&l, 0, 0, grid, &e) == LB_GRID && e.detail == 1 && grid[0] == 7);
    /* The same maps as lb_compile_maps. */
    lb_tensor_map again[2];
    size_t count;
    CHECK(lb_compile_maps(gemm_start, n, TEXT("sm_90a"), scratch, need, 0, 0, again, 2, &count, &e) == LB_OK && memcmp(m, again, sizeof again) == 0);
    /* Room: the counts say how much. */
    lb_launch small = {.bytes = sizeof small};
    sink_calls = 0;
    CHECK(LAUNCH("sm_90a", sink, &small) == LB_ROOM && e.numbers[0] == 17 && e.numbers[1] == 0 && e.numbers[2] == 1 && sink_calls == 0);
    CHECK(small.parameter_count == 17 && small.map_count == 2 && small.grid_step_count == 0 && small.flag_bytes == l.flag_bytes);
    small.parameters = p; small.parameter_room = 17;
    CHECK(LAUNCH("sm_90a", sink, &small) == LB_ROOM && e.numbers[0] == 2 && e.numbers[2] == 2);
    small.maps = m; small.map_room = 2;
    CHECK(LAUNCH("sm_90a", sink, &small) == LB_ROOM && e.numbers[2] == 4);
    small.flags = flags; small.flag_room = small.flag_bytes;
    CHECK(LAUNCH("sm_90a", 0, &small) == LB_OK);
    small.bytes--;
    CHECK(LAUNCH("sm_90a", 0, &small) == LB_ARGUMENT && e.numbers[0] == 9);
    CHECK(LAUNCH("sm_90a", 0, 0) == LB_ARGUMENT && e.numbers[0] == 9);
    CHECK(LAUNCH("sm_90a", 0, (lb_launch *)scratch) == LB_ARGUMENT && e.numbers[0] == 9);
    small.bytes++; small.flags = 0;
    CHECK(LAUNCH("sm_90a", 0, &small) == LB_ARGUMENT && e.numbers[0] == 9);
    small.flags = scratch;
    CHECK(LAUNCH("sm_90a", 0, &small) == LB_ARGUMENT && e.numbers[0] == 9);
    /* A grid of (cdiv(%M, 32), cdiv(%N, 64)) over the arguments 2 and 3. */
    need = lb_scratch_bytes(TEXT("gfx942"));
    CHECK(lb_compile_launch(grid_start, (size_t)(grid_end - grid_start), TEXT("gfx942"), scratch, need, 0, 0, &l, &e) == LB_OK);
    CHECK(l.grid_axes == 2 && l.grid_step_count == 6 && l.axis_steps[0] == 3 && l.axis_steps[1] == 3 && l.axis_steps[2] == 0 && l.wave_lanes == 64);
    CHECK(g[0].op == LB_GRID_ARGUMENT && g[0].argument == 2 && g[1].op == LB_GRID_NUMBER && g[1].number == 32 && g[2].op == LB_GRID_CEIL_DIV);
    CHECK(EQUAL(flags, l.flag_bytes, "-triple=amdgcn-amd-amdhsa\0-mcpu=gfx942\0-mattr=+wavefrontsize64\0") && l.version_bytes == 0);
    int64_t values[4] = {0, 0, 33, 64};
    CHECK(lb_launch_grid(&l, values, 4, grid, &e) == LB_OK && grid[0] == 2 && grid[1] == 1 && grid[2] == 1);
    CHECK(lb_launch_grid(&l, values, 3, grid, &e) == LB_GRID && e.detail == 2 && e.numbers[0] == 3);
    values[3] = 0;
    CHECK(lb_launch_grid(&l, values, 4, grid, &e) == LB_GRID && e.detail == 3 && e.numbers[0] == 1);
    g[2].op = 99;
    CHECK(lb_launch_grid(&l, values, 4, grid, &e) == LB_GRID && e.detail == 4 && e.numbers[0] == 0);
    CHECK(lb_launch_grid(0, values, 4, grid, &e) == LB_ARGUMENT && e.numbers[0] == 1);
    CHECK(lb_launch_grid(&l, 0, 4, grid, &e) == LB_ARGUMENT && e.numbers[0] == 2);
    CHECK(lb_launch_grid(&l, values, 4, 0, &e) == LB_ARGUMENT && e.numbers[0] == 4);
}

static void layouts(void) {
    lb_error e; uint64_t size = 0; int64_t at = 0;
    uint64_t flat[] = {5}, two[] = {1, 2}, far[] = {16};
    CHECK(lb_layout_size(TEXT("((2,2),4):((1,2),4)"), &size, &e) == LB_OK && size == 16);
    CHECK(lb_layout_apply(TEXT("(4,4):(4,1)"), flat, 1, 0, 0, &at, &e) == LB_OK && at == 5);
    CHECK(lb_layout_apply(TEXT("(4,4):(4,1)"), two, 2, TEXT("m"), &at, &e) == LB_OK && at == 6);
    CHECK(lb_layout_apply(TEXT("S[(8,4):(4@laneid,1@laneid)]"), flat, 1, TEXT("laneid"), &at, &e) == LB_OK);
    CHECK(lb_layout_apply(TEXT("(4,4):(4,1)"), far, 1, 0, 0, &at, &e) == LB_LAYOUT_APPLY);
    CHECK(lb_layout_apply(TEXT("(4,4):(4,1)"), 0, 1, 0, 0, &at, &e) == LB_ARGUMENT && e.numbers[0] == 3);
    CHECK(lb_layout_apply(TEXT("(4,4):(4,1)"), flat, 1, TEXT("nowhere"), &at, &e) == LB_AXIS);
    CHECK(lb_layout_size(TEXT("(4,4:1"), &size, &e) == LB_LAYOUT_TEXT && e.line == 1 && e.column == 5);
    CHECK(lb_layout_size(TEXT("4:1"), 0, &e) == LB_ARGUMENT && e.numbers[0] == 3);
}

/* Layouts that are read once. */
static void tables(void) {
    static _Alignas(16) uint8_t memory[1 << 14];
    static int64_t at[256];
    lb_error e;
    const lb_layout *layout = 0;
    uint32_t extents[4] = {7, 7, 7, 7}, row_major = 9;
    size_t rank = 0, need = lb_query_scratch_bytes(), own = lb_layout_bytes();
    CHECK(own > 0 && own <= sizeof memory);
#define READ(text) lb_layout_read(TEXT(text), TEXT("sm_90a"), scratch, need, memory, own, &layout, &e)
    CHECK(READ("mma.m16n8k16.f32.f16.D") == LB_OK && layout);
    memset(scratch, 0xff, need);
    CHECK(lb_layout_shape(layout, extents, 4, &rank, &row_major, &e) == LB_OK && rank == 2 && extents[0] == 16 && extents[1] == 8 && row_major == 1);
    CHECK(lb_layout_table(layout, TEXT("laneid"), 0, at, 128, &e) == LB_OK);
    /* Accumulators: a lane of four has two columns each of rows r and r + 8. */
    for (int k = 0; k < 128; k++) CHECK(at[k] == k / 8 % 8 * 4 + k % 8 / 2);
    CHECK(lb_layout_table(layout, TEXT("laneid"), 120, at, 8, &e) == LB_OK && at[0] == 28 && at[7] == 31);
    CHECK(lb_layout_table(layout, TEXT("laneid"), 121, at, 8, &e) == LB_LAYOUT_APPLY && e.numbers[0] == 128 && e.numbers[1] == 121 && e.numbers[2] == 8);
    CHECK(lb_layout_table(layout, TEXT("nowhere"), 0, at, 8, &e) == LB_AXIS);
    CHECK(lb_layout_table(layout, TEXT("laneid"), 0, 0, 8, &e) == LB_ARGUMENT && e.numbers[0] == 5);
    CHECK(lb_layout_shape(layout, extents, 1, &rank, &row_major, &e) == LB_ROOM && e.numbers[0] == 2 && e.numbers[1] == 1);
    CHECK(lb_layout_shape(layout, extents, 4, 0, &row_major, &e) == LB_ARGUMENT && e.numbers[0] == 4);
    CHECK(READ("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> @ 64x64") == LB_OK);
    CHECK(lb_layout_table(layout, 0, 0, 64, at, 64, &e) == LB_OK && at[0] == 72 && at[8] == 64);
    CHECK(READ("(4,4):(1,4)") == LB_OK && lb_layout_shape(layout, extents, 4, &rank, &row_major, &e) == LB_OK && rank == 2 && row_major == 0);
    CHECK(lb_layout_table(layout, 0, 0, 0, at, 16, &e) == LB_OK && at[5] == 5);
    CHECK(READ("(4,4:1") == LB_QUERY && e.line == 1);
    CHECK(READ("size(4:1)") == LB_LAYOUT_TEXT);
    CHECK(lb_layout_read(TEXT("4:1"), 0, 0, scratch, need, memory, own - 1, &layout, &e) == LB_ARGUMENT && e.numbers[0] == 7);
    CHECK(lb_layout_read(TEXT("4:1"), 0, 0, scratch, need, scratch, own, &layout, &e) == LB_OVERLAP);
    CHECK(lb_layout_read(TEXT("4:1"), 0, 0, scratch, need, memory, own, 0, &e) == LB_ARGUMENT && e.numbers[0] == 9);
    memset(memory, 0, own);
    CHECK(lb_layout_table((const lb_layout *)memory, 0, 0, 0, at, 1, &e) == LB_ARGUMENT && e.numbers[0] == 1);
    CHECK(lb_layout_table(0, 0, 0, 0, at, 1, &e) == LB_ARGUMENT && e.numbers[0] == 1);
}

/* Why a program does not compile, in words. */
static void reasons(void) {
    static uint8_t answer[512];
    lb_error e, same;
    size_t bytes = 7, need = lb_scratch_bytes(TEXT("sm_80"));
#define WHY(program, room) lb_explain(TEXT(program), TEXT("sm_80"), scratch, need, answer, room, &bytes, &e)
    CHECK(lb_explain(gemm_start, (size_t)(gemm_end - gemm_start), TEXT("sm_80"), scratch, need, answer, sizeof answer, &bytes, &e) == LB_OK && bytes == 0);
    static const char *programs[] = {"func @f() {\n  what %a\n}", "func @f(%n: index) {threads = 33} { return }", "", "func @f() {threads = 32} { module {} }"};
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        size_t n = 0;
        while (programs[k][n]) n++;
        CHECK(lb_explain((const uint8_t *)programs[k], n, TEXT("sm_80"), scratch, need, answer, sizeof answer, &bytes, &e) != LB_OK && bytes > 10 && bytes < sizeof answer);
        PUT(1, "because "); put(1, (const char *)answer, bytes); PUT(1, "\n");
        /* The same error as without words. */
        CHECK(lb_compile((const uint8_t *)programs[k], n, TEXT("sm_80"), scratch, need, sink, 0, &same) == e.code && memcmp(&same, &e, sizeof e) == 0);
    }
    CHECK(WHY("func @f(%n: index) {threads = 33} { return }", 4) == LB_ROOM && e.numbers[1] == 4 && bytes > 4);
    CHECK(WHY("", SIZE_MAX) == LB_ARGUMENT && e.numbers[0] == 7);
    CHECK(lb_explain(TEXT(""), TEXT("sm_8"), scratch, need, answer, sizeof answer, &bytes, &e) == LB_ARCH);
    CHECK(lb_explain(TEXT(""), TEXT("sm_80"), scratch, need, scratch, 8, &bytes, &e) == LB_OVERLAP);
    CHECK(lb_explain(TEXT(""), TEXT("sm_80"), scratch, need, answer, sizeof answer, 0, &e) == LB_ARGUMENT && e.numbers[0] == 9);
}

// The ten questions: architecture, query, answer, each ended by a tab or a line's end.
extern const uint8_t questions_start[], questions_end[];
__asm__(".section .rodata\n.globl questions_start, questions_end\nquestions_start: .incbin \"" QUESTIONS "\"\nquestions_end:\n.text\n");

static const uint8_t *part(const uint8_t **at, char end, size_t *bytes) {
    const uint8_t *from = *at;
    while (*at < questions_end && **at != (uint8_t)end) ++*at;
    *bytes = (size_t)(*at - from);
    if (*at < questions_end) ++*at;
    return from;
}

static void questions(void) {
    static uint8_t answer[1 << 14];
    lb_error e;
    size_t bytes = 0, need = lb_query_scratch_bytes(), asked = 0;
    CHECK(need <= sizeof scratch);
    for (const uint8_t *at = questions_start; at < questions_end; asked++) {
        size_t arch_bytes, query_bytes, expected_bytes;
        const uint8_t *arch = part(&at, '\t', &arch_bytes), *query = part(&at, '\t', &query_bytes), *expected = part(&at, '\n', &expected_bytes);
        CHECK(lb_query(query, query_bytes, arch, arch_bytes, LB_JSON, scratch, need, answer, sizeof answer, &bytes, &e) == LB_OK);
        // The answer ends with a line's end.
        if (bytes != expected_bytes + 1 || memcmp(answer, expected, expected_bytes)) { put(2, (const char *)query, query_bytes); PUT(2, ": "); put(2, (const char *)answer, bytes); }
        CHECK(bytes == expected_bytes + 1 && memcmp(answer, expected, expected_bytes) == 0);
    }
    CHECK(asked >= 10);
    PUT(1, "queries: "); number(1, asked); PUT(1, ", scratch "); number(1, need); PUT(1, " bytes\n");
#define ASK(q, format, scr, sn, out, on) lb_query(TEXT(q), 0, 0, format, scr, sn, out, on, &bytes, &e)
    CHECK(ASK("size((8,4):(4,1))", LB_TEXT, scratch, need, answer, sizeof answer) == LB_OK && bytes == 3 && memcmp(answer, "32\n", 3) == 0);
    CHECK(ASK("size((8,4):(4,1))", LB_TEXT, scratch, need, answer, 2) == LB_ROOM && e.numbers[0] == 3 && e.numbers[1] == 2);
    CHECK(ASK("(8,4):(4;1)", LB_JSON, scratch, need, answer, sizeof answer) == LB_QUERY && e.line == 1 && e.column == 9 && bytes > 20 && memcmp(answer, "{\"kind\": \"error\"", 16) == 0);
    CHECK(ASK("(4,2):(2,1) at (1, 1)", LB_SVG, scratch, need, answer, sizeof answer) == LB_OK && bytes > 100 && memcmp(answer, "<svg ", 5) == 0);
    CHECK(ASK("size(4:1)", LB_SVG, scratch, need, answer, sizeof answer) == LB_QUERY && bytes > 10 && memcmp(answer, "line 1", 6) == 0);
    CHECK(ASK("4:1", 3, scratch, need, answer, sizeof answer) == LB_ARGUMENT && e.numbers[0] == 5);
    CHECK(ASK("4:1", LB_TEXT, scratch, need - 1, answer, sizeof answer) == LB_SCRATCH_BYTES);
    CHECK(ASK("4:1", LB_TEXT, scratch + 1, need, answer, sizeof answer) == LB_SCRATCH_ALIGN);
    CHECK(ASK("4:1", LB_TEXT, 0, need, answer, sizeof answer) == LB_ARGUMENT && e.numbers[0] == 6);
    CHECK(ASK("4:1", LB_TEXT, scratch, need, scratch, 8) == LB_OVERLAP);
    CHECK(lb_query(TEXT("4:1"), TEXT("z"), LB_TEXT, scratch, need, answer, sizeof answer, &bytes, &e) == LB_ARCH);
    CHECK(lb_query(TEXT("4:1"), 0, 0, LB_TEXT, scratch, need, answer, sizeof answer, 0, &e) == LB_ARGUMENT && e.numbers[0] == 10);
}

static void conversions(void) {
    static const uint32_t extents[] = {16, 8}, odd[] = {16, 9};
    static lb_register_run writes[16];
    lb_error e;
    size_t need = lb_convert_scratch_bytes();
    CHECK(need <= sizeof scratch);
    lb_conversion c = {
        .bytes = sizeof c, .from = (const uint8_t *)"mma.m16n8k16.f32.f16.D", .from_bytes = 22,
        .to = (const uint8_t *)"S[(16,2,4):(2@laneid,1@laneid,32@bit)]", .to_bytes = 38,
        .extents = extents, .rank = 2, .dtype = (const uint8_t *)"f32", .dtype_bytes = 3, .writes = writes, .write_room = 16,
    };
#define CONVERT(arch, scr, sn) lb_convert(&c, TEXT(arch), scr, sn, sink, 0, &e)
    kept_bytes = 0;
    CHECK(CONVERT("sm_80", scratch, need) == LB_OK && begins("    mov.u32 %r0, %tid.x;", 24));
    CHECK(c.group_threads == 32 && c.wave_lanes == 32 && c.scratch_bytes == 0 && c.instructions > 0 && c.write_count > 0);
    // Lane 5 begins with its row's third and fourth element, and ends with a quarter of row 2.
    CHECK(c.given.count == 4 && c.given.place_count == 2 && c.given.lane_count == 5 && c.given.prefix_bytes == 2);
    CHECK((c.given.lane[0] ^ c.given.lane[2] ^ c.given.place[0]) == 1 * 8 + 3);
    CHECK(c.made.count == 4 && (c.made.lane[0] ^ c.made.lane[2]) == 2 * 8 + 4 && c.made.place[1] == 2);
    CHECK(c.given.panel_rows == 16 && c.given.panel_columns == 8 && c.given.panels_down == 1 && c.given.panels_across == 1);
    // 48 columns in panels of 16: four registers of each hold the first panel's elements, then the next one's.
    static const uint32_t wide[] = {8, 48};
    static const char panels[] = "S[(8,3,4,4):(4@laneid,128@bit,1@laneid,32@bit)]", turned[] = "S[(2,4,3,8,2):(192@bit,8@laneid,64@bit,1@laneid,32@bit)]";
    lb_conversion w = c;
    w.from = (const uint8_t *)panels; w.from_bytes = sizeof panels - 1; w.to = (const uint8_t *)turned; w.to_bytes = sizeof turned - 1;
    w.extents = wide;
    CHECK(lb_convert(&w, TEXT("sm_80"), scratch, need, sink, 0, &e) == LB_OK && w.given.count == 12 && w.given.place_count == 2);
    CHECK(w.given.panel_rows == 8 && w.given.panel_columns == 16 && w.given.panels_down == 1 && w.given.panels_across == 3 && w.given.place[1] == 2);
    // The same fragment on a wave of 64: both halves hold it.
    kept_bytes = 0;
    c.from = (const uint8_t *)"mma.m16n8k16.f32.f16.D on sm_80"; c.from_bytes = 31;
    c.to = (const uint8_t *)"S[(16,4,2):(4@laneid,1@laneid,32@bit)]"; c.to_bytes = 38;
    CHECK(CONVERT("gfx942", scratch, need) == LB_OK && kept_bytes > 0 && c.given.lane_count == 6 && c.given.lane[5] == 0 && c.made.count == 2);
    CHECK(c.thread_prefix_bytes == 1 && c.thread_register == 0);
    // Half the shared memory, half the tile each time; no more rounds than registers of a lane differ in.
    static const uint32_t square[] = {64, 64};
    static const char rows[] = "S[(4,16,4,16):(1@warpid,4@laneid,1@laneid,16@bit)]", columns[] = "S[(64,4,16):(1@laneid,1@warpid,16@bit)]";
    lb_conversion s = c;
    s.from = (const uint8_t *)rows; s.from_bytes = sizeof rows - 1; s.to = (const uint8_t *)columns; s.to_bytes = sizeof columns - 1;
    s.extents = square; s.dtype = (const uint8_t *)"f16";
    CHECK(lb_convert(&s, TEXT("gfx942"), scratch, need, sink, 0, &e) == LB_OK && s.scratch_bytes == 64 * 64 * 2);
    size_t one_round = s.instructions;
    s.scratch_most = 4096;
    CHECK(lb_convert(&s, TEXT("gfx942"), scratch, need, sink, 0, &e) == LB_OK && s.scratch_bytes == 4096 && s.instructions > one_round);
    s.scratch_most = 256;
    CHECK(lb_convert(&s, TEXT("gfx942"), scratch, need, sink, 0, &e) == LB_PLAN && e.detail == 25 && e.numbers[0] == 1024 && e.numbers[1] == 256);
    kept_bytes = 0;
    c.write_room = 0;
    CHECK(CONVERT("gfx942", scratch, need) == LB_ROOM && (size_t)e.numbers[0] == c.write_count && e.numbers[1] == 0);
    c.write_room = 16;
    c.extents = odd;
    CHECK(CONVERT("gfx942", scratch, need) == LB_CONVERT && e.detail == 4 && e.numbers[0] == 4);
    c.extents = extents; c.threads = 96;
    CHECK(CONVERT("gfx942", scratch, need) == LB_CONVERT && e.detail == 6 && e.numbers[0] == 96 && e.numbers[1] == 64);
    c.threads = 0; c.from_bytes = 3;
    CHECK(CONVERT("gfx942", scratch, need) == LB_CONVERT && e.detail == 4 && e.numbers[0] > 0);
    c.from_bytes = 31; c.split = 2;
    CHECK(CONVERT("gfx942", scratch, need) == LB_ARGUMENT && e.numbers[0] == 1);
    c.split = 0;
    CHECK(CONVERT("z", scratch, need) == LB_ARCH);
    CHECK(CONVERT("gfx942", scratch, need - 1) == LB_SCRATCH_BYTES && (size_t)e.numbers[0] == need);
    CHECK(CONVERT("gfx942", scratch + 1, need) == LB_SCRATCH_ALIGN);
    CHECK(CONVERT("gfx942", 0, need) == LB_ARGUMENT && e.numbers[0] == 4);
    CHECK(lb_convert(0, TEXT("gfx942"), scratch, need, sink, 0, &e) == LB_ARGUMENT);
    c.extents = (const uint32_t *)scratch;
    CHECK(CONVERT("gfx942", scratch, need) == LB_OVERLAP);
    PUT(1, "conversions: scratch "); number(1, need); PUT(1, " bytes\n");
}

static void movements(void) {
    static const uint32_t extents[] = {64, 64};
    static lb_register_run writes[16];
    static const char lanes[] = "S[(4,8,2,4,16):(1@warpid,4@laneid,256@bit,1@laneid,16@bit)]";
    static const char rotating[] = "#ttg.amd_rotating_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    lb_error e;
    size_t need = lb_convert_scratch_bytes();
    lb_movement m = {
        .bytes = sizeof m, .kind = LB_MOVE_LOAD, .registers = (const uint8_t *)lanes, .registers_bytes = sizeof lanes - 1, .extents = extents,
        .rank = 2, .dtype = (const uint8_t *)"f16", .dtype_bytes = 3, .align = 16, .writes = writes, .write_room = 16,
    };
#define MOVE(arch) lb_move(&m, TEXT(arch), scratch, need, sink, 0, &e)
    kept_bytes = 0;
    // From global memory: the address arrives in registers, no shared memory is used.
    CHECK(MOVE("gfx942") == LB_CONVERT && e.detail == 4 && e.numbers[0] == 9);
    CHECK(MOVE("sm_80") == LB_OK && kept_bytes > 0 && m.instructions > 0 && m.write_count > 0);
    CHECK(m.address.count == 1 && m.address.prefix_bytes > 0 && m.scratch_bytes == 0 && m.scratch_prefix_bytes == 0);
    CHECK(m.tile.count == 16 && m.tile.lane_count == 5 && m.tile.place_count == 5 && m.group_threads == 128);
    // Into shared memory, as it is written there.
    m.kind = LB_MOVE_STORE; m.in_shared = 1;
    m.shared = (const uint8_t *)rotating; m.shared_bytes = sizeof rotating - 1;
    CHECK(MOVE("sm_80") == LB_OK && m.address.count == 0 && m.scratch_bytes == 64 * 64 * 2 && m.scratch_prefix_bytes > 0 && m.tile.count == 16);
    // From one memory to the other.
    m.kind = LB_MOVE_COPY;
    CHECK(MOVE("sm_80") == LB_OK && m.address.count == 1 && m.scratch_bytes == 64 * 64 * 2 && m.tile.count == 0 && m.group_threads == 32);
    m.write_room = 0;
    CHECK(MOVE("sm_80") == LB_ROOM && (size_t)e.numbers[0] == m.write_count);
    m.write_room = 16; m.kind = 3;
    CHECK(MOVE("sm_80") == LB_ARGUMENT && e.numbers[0] == 1);
    m.kind = LB_MOVE_LOAD; m.in_shared = 2;
    CHECK(MOVE("sm_80") == LB_ARGUMENT);
    m.in_shared = 1; m.shared_bytes = 4;
    CHECK(MOVE("sm_80") != LB_OK);
    CHECK(lb_move(&m, TEXT("sm_80"), scratch, need - 1, sink, 0, &e) == LB_SCRATCH_BYTES);
    CHECK(lb_move(0, TEXT("sm_80"), scratch, need, sink, 0, &e) == LB_ARGUMENT);
}

static void run(void) {
    size_t bytes = 7;
    CHECK(lb_version() == LB_EXPECTED_VERSION && lb_version() == LB_VERSION);
    CHECK(lb_arch_count() > 0 && lb_arch_name(lb_arch_count(), &bytes) == 0 && bytes == 0);
    CHECK(lb_arch_name(0, 0) != 0 && lb_arch_name(0, &bytes) != 0 && bytes > 0);
    const uint8_t *second = lb_arch_name(1, &bytes);
    CHECK(lb_arch_index(second, bytes) == 1 && lb_arch_index(TEXT("no_such")) == lb_arch_count());
    /* The ledger's numbers, and back; none where there is none. */
    CHECK(lb_atom_named(TEXT("ldmatrix.x1")) == 93 && lb_atom_named(TEXT("no_such")) == 0);
    CHECK(lb_atom_name(93, &bytes) != 0 && bytes == 11 && lb_atom_named(lb_atom_name(93, 0), bytes) == 93);
    CHECK(lb_atom_id(0) > 0 && lb_atom_id((size_t)-1) == 0 && lb_atom_name(0, &bytes) == 0 && bytes == 0);
    compile(TEXT("sm_80"), ".version", 8);
    compile(TEXT("gfx950"), "    .amdgcn_target", 18);
    mistakes();
    maps();
    launches();
    layouts();
    tables();
    reasons();
    questions();
    conversions();
    movements();
    PUT(1, "as the header says\n");
    leave(0);
}

__attribute__((naked)) void _start(void) { __asm__("xor %ebp, %ebp\n and $-16, %rsp\n call enter\n"); }
__attribute__((used)) void enter(void) { run(); }
