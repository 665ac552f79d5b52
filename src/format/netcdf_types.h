/* Numbers that stand in headers of NetCDF files; for netcdf*.c only. */
#ifndef WR_FORMAT_NETCDF_TYPES_H
#define WR_FORMAT_NETCDF_TYPES_H

#include "weir/type.h"

/* Before lists. */
enum { WR_NETCDF_DIMENSION = 10, WR_NETCDF_VARIABLE = 11, WR_NETCDF_ATTRIBUTE = 12 };

/* Of types: those from OF_2 on came with CDF-5. */
enum { WR_NETCDF_TEXT = 2, WR_NETCDF_TYPES_OF_2 = 7, WR_NETCDF_TYPES = 12 };

static const int wr_netcdf_types[WR_NETCDF_TYPES] = {
    0, WEIR_I1, 0, WEIR_I2, WEIR_I4, WEIR_F4, WEIR_F8, WEIR_U1, WEIR_U2, WEIR_U4, WEIR_I8, WEIR_U8};

#endif
