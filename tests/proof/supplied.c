// What the embedder supplies, for links that must be complete.
#include "../../src/capi/tests/c/memory.c"

_Bool lanebook_proof_sink(const unsigned char *text, size_t bytes) { (void)text; (void)bytes; return 1; }
