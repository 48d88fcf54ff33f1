// Uses an installed library, and with it (but for ALONE) another library that is written in Rust and has its own panics.
#include <lanebook.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ALONE
int other_rust(int n); // n + 1, or -1 where its panic was caught
#endif

int main(void) {
    uint64_t size = 0;
    const char text[] = "((2,2),4):((1,2),4)";
    if (lb_layout_size((const uint8_t *)text, sizeof text - 1, &size, 0) != LB_OK || size != 16) return 1;
    size_t bytes = 0, need = lb_query_scratch_bytes();
    uint8_t answer[64];
    void *scratch = aligned_alloc(64, (need + 63) / 64 * 64);
    const char query[] = "size(mma.m16n8k16.f32.f16.D)";
    if (!scratch || lb_query((const uint8_t *)query, sizeof query - 1, 0, 0, LB_TEXT, scratch, need, answer, sizeof answer, &bytes, 0) != LB_OK) return 2;
    free(scratch);
    if (lb_version() != LB_VERSION) return 3;
#ifndef ALONE
    if (other_rust(6) != 7 || other_rust(-1) != -1) return 4;
#endif
    printf("%.*s", (int)bytes, (const char *)answer);
    return 0;
}
