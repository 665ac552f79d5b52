/* Endings of file names that other libraries use, so that an error can name the format. */
#include "foreign.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *ending, *format;
} table[] = {
    {".h5", "HDF5"},       {".hdf5", "HDF5"},       {".he5", "HDF5"},    {".hdf", "HDF"},
    {".nc", "netCDF"},     {".nc4", "netCDF"},      {".cdf", "netCDF"},  {".n5", "N5"},
    {".npz", "npz"},       {".zip", "zip"},         {".gz", "gzip"},     {".bz2", "bzip2"},
    {".xz", "xz"},         {".zst", "Zstandard"},   {".tif", "TIFF"},    {".tiff", "TIFF"},
    {".png", "PNG"},       {".jpg", "JPEG"},        {".jpeg", "JPEG"},   {".mat", "MATLAB"},
    {".fits", "FITS"},     {".parquet", "Parquet"}, {".arrow", "Arrow"}, {".bp", "ADIOS"},
    {".csv", "CSV"},       {".txt", "text"},        {".json", "JSON"},   {".raw", "bare data"},
    {".bin", "bare data"},
};

const char *cli_foreign_format(const char *path)
{
    size_t length = strlen(path);
    while (length && path[length - 1] == '/')
        length--;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t ending = strlen(table[i].ending);
        if (length > ending && path[length - ending - 1] != '/' &&
            !strncasecmp(path + length - ending, table[i].ending, ending))
            return table[i].format;
    }
    return NULL;
}
