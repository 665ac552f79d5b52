/* Element types: names and sizes, by number. */
#include "weir/type.h"

#include <string.h>

static const struct {
    const char *name;
    int64_t bytes;
} types[] = {
    [WEIR_BOOL] = {"bool", 1}, [WEIR_I1] = {"i1", 1},    [WEIR_I2] = {"i2", 2},
    [WEIR_I4] = {"i4", 4},     [WEIR_I8] = {"i8", 8},    [WEIR_U1] = {"u1", 1},
    [WEIR_U2] = {"u2", 2},     [WEIR_U4] = {"u4", 4},    [WEIR_U8] = {"u8", 8},
    [WEIR_F2] = {"f2", 2},     [WEIR_F4] = {"f4", 4},    [WEIR_F8] = {"f8", 8},
    [WEIR_C8] = {"c8", 8},     [WEIR_C16] = {"c16", 16},
};

int64_t weir_type_bytes(int type)
{
    return type >= WEIR_BOOL && type <= WEIR_C16 ? types[type].bytes : 0;
}

const char *weir_type_name(int type)
{
    return type >= WEIR_BOOL && type <= WEIR_C16 ? types[type].name : "?";
}

int weir_type_find(const char *name)
{
    if (*name && strchr("<>|=", *name))
        name++;
    if (!strcmp(name, "b1"))
        return WEIR_BOOL;
    for (int type = WEIR_BOOL; type <= WEIR_C16; type++)
        if (!strcmp(name, types[type].name))
            return type;
    return 0;
}
