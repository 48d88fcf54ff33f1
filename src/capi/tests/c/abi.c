// Sizes, offsets and numbers of the header, as this compiler has them: compared with tests/abi.txt.
#include "lanebook.h"
#include <stdio.h>

#define S(type) printf("%s: %zu bytes, aligned to %zu\n", #type, sizeof(type), _Alignof(type))
#define F(type, field) printf("  %s at %zu, %zu bytes\n", #field, offsetof(type, field), sizeof(((type *)0)->field))
#define N(name) printf("%s = %d\n", #name, (int)name)

int main(void) {
#include "abi.inc"
    return 0;
}
