/* The C side of npy_numpy.py.
 * usage: npy_dump build FOLDER   a header of every type, order and number of dimensions, in files
 *                                TYPE-ORDER-DIMENSIONS.npy
 *        npy_dump show FILE...   a line for each: type order swapped data_offset bytes shape... */
#include <stdio.h>
#include <string.h>

#include "format/npy.h"

static int build(const char *folder, int type, bool columns, int dimensions)
{
    char path[4096], header[WR_NPY_WRITTEN];
    wr_description d = {.type = type, .dimensions = dimensions, .columns = columns};
    for (int i = 0; i < dimensions; i++)
        d.shape[i] = dimensions < 6 ? 2 + i : 1 + i % 2;
    if (wr_npy_build(&d, header)) {
        fprintf(stderr, "%s\n", weir_error_last()->text);
        return 1;
    }
    snprintf(path, sizeof path, "%s/%s-%c-%d.npy", folder, weir_type_name(type),
             columns ? 'F' : 'C', dimensions);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(header, sizeof header, 1, file) == 1;
    if (file && fclose(file))
        good = false;
    return !good;
}

static int build_all(const char *folder)
{
    int failures = 0;
    for (int type = WEIR_BOOL; type <= WEIR_C16; type++)
        for (int dimensions = 0; dimensions <= WR_DIMENSIONS; dimensions++)
            failures +=
                build(folder, type, false, dimensions) + build(folder, type, true, dimensions);
    return failures != 0;
}

static int show(const char *path)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    int64_t length = (int64_t)fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    wr_description d;
    if (wr_npy_parse(bytes, length, &d)) {
        printf("%s\n", weir_error_last()->text);
        return 0;
    }
    printf("%s %c %d %lld %lld", weir_type_name(d.type), d.columns ? 'F' : 'C', d.swapped,
           (long long)d.data_offset, (long long)d.bytes);
    for (int i = 0; i < d.dimensions; i++)
        printf(" %lld", (long long)d.shape[i]);
    printf("\n");
    return 0;
}

int main(int count, char **argument)
{
    if (count == 3 && !strcmp(argument[1], "build"))
        return build_all(argument[2]);
    int failures = count < 3 || strcmp(argument[1], "show") != 0;
    for (int i = 2; !failures && i < count; i++)
        failures = show(argument[i]);
    return failures;
}
