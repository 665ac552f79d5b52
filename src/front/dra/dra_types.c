/* Types of Global Arrays, which have names for C and for Fortran, and those of Weir. */
#include <macdecls.h>

#include "dra_state.h"

static const struct {
    int ga, fortran, type;
} types[] = {
    {MT_C_INT, MT_C_INT, WEIR_I4},      {MT_C_LONGINT, MT_F_INT, WEIR_I8},
    {MT_C_LONGLONG, MT_F_INT, WEIR_I8}, {MT_C_FLOAT, MT_F_REAL, WEIR_F4},
    {MT_C_DBL, MT_F_DBL, WEIR_F8},      {MT_C_SCPL, MT_F_SCPL, WEIR_C8},
    {MT_C_DCPL, MT_F_DCPL, WEIR_C16},   {MT_C_LONGINT, MT_F_LOG, WEIR_I8},
};

enum { TYPES = sizeof types / sizeof *types };

int wr_dra_type(int ga_type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].ga == ga_type || types[i].fortran == ga_type)
            return types[i].type;
    return 0;
}

int wr_dra_ga_type(int type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].ga;
    return 0;
}

int wr_dra_fortran_type(int ga_type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].ga == ga_type)
            return types[i].fortran;
    return ga_type;
}
