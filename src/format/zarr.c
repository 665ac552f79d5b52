/* What both versions share: the text as a whole, lists of sizes, and what is checked. */
#include "format/zarr.h"

#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/zarr_parts.h"

static const char *file_of(int version)
{
    return version == 3 ? "zarr.json" : ".zarray";
}

int wr_zarr_sizes_read(wr_json list, const char *key, int64_t lo, int64_t out[WR_DIMENSIONS])
{
    wr_json name, value;
    int count = 0;
    while (wr_json_next(&list, &name, &value)) {
        if (count == WR_DIMENSIONS)
            return wr_fail(WEIR_EUNSUPPORTED, "\"%s\" has more than %d dimensions", key,
                           WR_DIMENSIONS);
        if (wr_json_kind(value) != '0' || !wr_json_within(value, lo, INT64_MAX, &out[count]))
            return wr_fail(WEIR_EFORMAT, "\"%s\" has something other than numbers from %lld on",
                           key, (long long)lo);
        count++;
    }
    return count;
}

void wr_zarr_sizes_print(const int64_t *sizes, int count, wr_text *text)
{
    wr_text_put(text, "[");
    for (int i = 0; i < count; i++)
        wr_text_put(text, "%s%lld", i ? ", " : "", (long long)sizes[i]);
    wr_text_put(text, "]");
}

/* What the file says is at fault, not the caller. */
static int settle(wr_description *d)
{
    int code = wr_description_settle(d);
    if (!code)
        return 0;
    weir_error error;
    wr_error_take(&error);
    error.code = WEIR_EFORMAT;
    return wr_error_raise(&error);
}

static int parse_root(wr_json root, wr_zarr *z)
{
    wr_description *d = &z->what;
    if (wr_json_kind(root) != '{')
        return wr_fail(WEIR_EFORMAT, "not a JSON object");
    d->tiling.levels = 1;
    int code = z->version == 3 ? wr_zarr3_parse(root, z) : wr_zarr2_parse(root, z);
    return code ? code : settle(d);
}

int wr_zarr_parse(int version, const char *text, int64_t length, wr_zarr *out)
{
    wr_json root;
    int code = 0;
    *out = (wr_zarr){
        .version = version, .what.format = version == 3 ? WEIR_ZARR : WEIR_ZARR2, .separator = '.'};
    if (version != 2 && version != 3)
        code = wr_fail(WEIR_EINVAL, "version %d of Zarr is not known here", version);
    else if (length > WR_ZARR_LONGEST)
        code = wr_fail(WEIR_EFORMAT, "%lld bytes, at most %d can be read", (long long)length,
                       WR_ZARR_LONGEST);
    if (!code)
        code = wr_json_check(text, length, &root);
    if (!code)
        code = parse_root(root, out);
    if (!code)
        return 0;
    wr_error_prefix(file_of(version));
    const wr_zarr known = {.what.dimensions = out->what.dimensions,
                           .separator = out->separator,
                           .prefixed = out->prefixed,
                           .named = code == WEIR_EUNSUPPORTED && out->named};
    wr_zarr_release(out);
    if (known.named)
        *out = known;
    return code;
}

bool wr_zarr_is_group(const char *text, int64_t length)
{
    static const wr_json_key key = {"node_type", "\"", false};
    const weir_error error = *weir_error_last();
    wr_json root, type;
    const bool is = !wr_json_check(text, length, &root) && wr_json_kind(root) == '{' &&
                    !wr_json_collect(root, &(wr_json_form){&key, 1, true}, &type) &&
                    wr_json_is(type, "group");
    wr_error_raise(&error);
    return is;
}

void wr_zarr_release(wr_zarr *zarr)
{
    wr_free(zarr->attributes);
    wr_free(zarr->names);
    *zarr = (wr_zarr){0};
}

/* That what is printed can be parsed. */
static int check_zarr(const wr_zarr *z)
{
    wr_description d = z->what;
    int code = wr_description_settle(&d);
    if (code)
        return code;
    if (z->version != 2 && z->version != 3)
        return wr_fail(WEIR_EINVAL, "version %d of Zarr is not known here", z->version);
    if (z->separator != '.' && z->separator != '/')
        return wr_fail(WEIR_EINVAL, "names of tiles with character %d between numbers",
                       z->separator);
    if (d.columns || d.data_offset || d.record || d.tiling.levels < 1 || d.tiling.levels > 2)
        return wr_fail(WEIR_EINVAL, "an array that is not in tiles");
    if (!wr_is_permutation(d.dimensions, d.tiling.order))
        return wr_fail(WEIR_EINVAL, "the order of a tile does not have each dimension once");
    if (d.tiling.codecs.count < 0 || d.tiling.codecs.count > WR_CODECS)
        return wr_fail(WEIR_EINVAL, "%d codecs, at most %d are possible", d.tiling.codecs.count,
                       WR_CODECS);
    return 0;
}

int wr_zarr_print(const wr_zarr *zarr, char **text, int64_t *length)
{
    wr_text out = {.name = file_of(zarr->version), .most = WR_ZARR_LONGEST};
    int code = check_zarr(zarr);
    if (!code)
        code = zarr->version == 3 ? wr_zarr3_print(zarr, &out) : wr_zarr2_print(zarr, &out);
    if (code) {
        wr_free(out.bytes);
        return code;
    }
    return wr_text_take(&out, text, length);
}
