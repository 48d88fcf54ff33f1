// What an embedder without a C library supplies: the five functions that compiled code calls.
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n) { for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i]; return to; }
void *memmove(void *to, const void *from, size_t n) {
    char *t = to; const char *f = from;
    if (t < f) for (size_t i = 0; i < n; i++) t[i] = f[i];
    else for (size_t i = n; i > 0; i--) t[i - 1] = f[i - 1];
    return to;
}
void *memset(void *to, int byte, size_t n) { for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)byte; return to; }
int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++) if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}
int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
