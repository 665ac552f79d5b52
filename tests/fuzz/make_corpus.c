/* Writes encoded random patterns into a folder: seeds for fuzz_pattern. */
#include <stdio.h>
#include <stdlib.h>

#include "pattern/random_pattern.h"
#include "pattern/wire.h"

int main(int argc, char **argv)
{
    if (argc != 3)
        return fputs("usage: make_corpus FOLDER COUNT\n", stderr), 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        rng r = {(uint64_t)i * 7919};
        modelled m = random_pattern(&r, 1 + i % 6, i % 2);
        int64_t size = wr_pattern_encoded_size(m.pattern);
        uint8_t *bytes = malloc((size_t)size);
        wr_pattern_encode(m.pattern, bytes);
        char path[512];
        snprintf(path, sizeof path, "%s/seed-%02d", argv[1], i);
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(bytes, 1, (size_t)size, f) != (size_t)size || fclose(f))
            return perror(path), 1;
        free(bytes);
        modelled_free(&m);
    }
    return 0;
}
