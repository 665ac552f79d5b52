/* Types are found by comparing with those that would be written: what is equal is the same in size,
 * precision, place of bits and order of bytes. */
#include <stdbool.h>
#include <string.h>

#include "hdf5/dataset.h"

/* Integers and floats, in both orders; HDF5's are known only once it runs. */
static hid_t plain_type(int type, bool little)
{
    switch (type) {
    case WEIR_I1:
        return little ? H5T_STD_I8LE : H5T_STD_I8BE;
    case WEIR_I2:
        return little ? H5T_STD_I16LE : H5T_STD_I16BE;
    case WEIR_I4:
        return little ? H5T_STD_I32LE : H5T_STD_I32BE;
    case WEIR_I8:
        return little ? H5T_STD_I64LE : H5T_STD_I64BE;
    case WEIR_U1:
        return little ? H5T_STD_U8LE : H5T_STD_U8BE;
    case WEIR_U2:
        return little ? H5T_STD_U16LE : H5T_STD_U16BE;
    case WEIR_U4:
        return little ? H5T_STD_U32LE : H5T_STD_U32BE;
    case WEIR_U8:
        return little ? H5T_STD_U64LE : H5T_STD_U64BE;
    case WEIR_F2:
    case WEIR_F4:
    case WEIR_C8:
        return little ? H5T_IEEE_F32LE : H5T_IEEE_F32BE;
    case WEIR_F8:
    case WEIR_C16:
        return little ? H5T_IEEE_F64LE : H5T_IEEE_F64BE;
    default:
        return H5I_INVALID_HID;
    }
}

/* As h5py has them. */
static hid_t bool_type(bool little)
{
    const hid_t base = plain_type(WEIR_I1, little), type = H5Tenum_create(base);
    const signed char no = 0, yes = 1;
    if (type < 0 ||
        (H5Tenum_insert(type, "FALSE", &no) >= 0 && H5Tenum_insert(type, "TRUE", &yes) >= 0))
        return type;
    H5Tclose(type);
    return H5I_INVALID_HID;
}

static hid_t complex_type(int type, bool little)
{
    const hid_t part = plain_type(type, little);
    const size_t bytes = H5Tget_size(part);
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 2 * bytes);
    if (pair < 0 || (H5Tinsert(pair, "r", 0, part) >= 0 && H5Tinsert(pair, "i", bytes, part) >= 0))
        return pair;
    H5Tclose(pair);
    return H5I_INVALID_HID;
}

/* IEEE's of 16 bits: a sign, 5 bits of exponent, 10 of mantissa. */
static hid_t half_type(bool little)
{
    const hid_t type = H5Tcopy(plain_type(WEIR_F2, little));
    if (type < 0 || (H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
                     H5Tset_ebias(type, 15) >= 0))
        return type;
    H5Tclose(type);
    return H5I_INVALID_HID;
}

hid_t wr_dataset_type_build(int type, int swapped)
{
    const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != (swapped != 0);
    if (type == WEIR_BOOL)
        return bool_type(little);
    if (type == WEIR_F2)
        return half_type(little);
    if (type == WEIR_C8 || type == WEIR_C16)
        return complex_type(type, little);
    return H5Tcopy(plain_type(type, little));
}

static int refuse(hid_t type, char *text)
{
    static const char *const classes[] = {
        [H5T_TIME] = "times",
        [H5T_STRING] = "text",
        [H5T_BITFIELD] = "bits",
        [H5T_OPAQUE] = "opaque bytes",
        [H5T_COMPOUND] = "records",
        [H5T_REFERENCE] = "references",
        [H5T_ENUM] = "enumerated values",
        [H5T_VLEN] = "lists of any length",
        [H5T_ARRAY] = "arrays",
    };
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_INTEGER || class == H5T_FLOAT)
        return wr_say(text, WEIR_EUNSUPPORTED,
                      "the dataset holds %s of %zu bytes and %zu bits, in a form unknown here",
                      class == H5T_FLOAT ? "floats" : "integers", H5Tget_size(type),
                      H5Tget_precision(type));
    const bool known = class > 0 && (size_t) class < sizeof classes / sizeof *classes;
    return wr_say(text, WEIR_EUNSUPPORTED, "the dataset holds %s",
                  known && classes[class] ? classes[class] : "elements of unknown type");
}

int wr_dataset_type_find(hid_t type, wr_hdf5_facts *f, char *text)
{
    for (int i = 0; i < 2 * WEIR_C16; i++) {
        const hid_t one = wr_dataset_type_build(1 + i / 2, i % 2);
        if (one < 0)
            return wr_say_hdf5(text, WEIR_ENOMEM, "cannot make a type");
        const bool equal = H5Tequal(one, type) > 0;
        const size_t bytes = H5Tget_size(one);
        H5Tclose(one);
        if (equal) {
            f->type = 1 + i / 2;
            f->swapped = bytes > 1 && i % 2;
            return 0;
        }
    }
    return refuse(type, text);
}

void wr_dataset_type_turn(const wr_hdf5_facts *f, char *element)
{
    const bool pair = f->type == WEIR_C8 || f->type == WEIR_C16;
    const hid_t type = wr_dataset_type_build(f->type, 0);
    const size_t bytes = H5Tget_size(type) / (pair ? 2 : 1);
    H5Tclose(type);
    for (size_t part = 0; f->swapped && part < (pair ? 2 : 1); part++) {
        char *at = element + part * bytes;
        for (size_t i = 0; i < bytes / 2; i++) {
            const char kept = at[i];
            at[i] = at[bytes - 1 - i];
            at[bytes - 1 - i] = kept;
        }
    }
}
