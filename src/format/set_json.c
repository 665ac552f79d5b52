/* array.json is read through cJSON's tree and written as text. cJSON takes its memory from malloc:
 * its hooks are the whole process's, and not ours to set. A tree takes at most about 40 bytes for
 * each byte of the text, until wr_set_parse returns. */
#include "format/set_json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/text.h"

enum { VERSION = 1, MEMBERS = 1 << 24, MEMBERS_UNMAPPED = 1 << 16, FOLDER = 4095 };

/* Numbers of JSON are doubles here: from 2^53 on, two integers can be the same one. */
#define LARGEST ((INT64_C(1) << 53) - 1)
#define KIND "local-array set"

enum key { KEY_WEIR, KEY_VERSION, TYPE, ORDER, SHAPE, GRID, BLOCK, NAME, DISKS, MAP, KEYS };

static const struct {
    const char *name;
    cJSON_bool (*fits)(const cJSON *item);
    const char *unfit;
    bool optional;
} keys[KEYS] = {
    [KEY_WEIR] = {"weir", cJSON_IsString, "is not a string", false},
    [KEY_VERSION] = {"version", cJSON_IsNumber, "is not a number", false},
    [TYPE] = {"type", cJSON_IsString, "is not a string", false},
    [ORDER] = {"order", cJSON_IsString, "is not a string", false},
    [SHAPE] = {"shape", cJSON_IsArray, "is not a list", false},
    [GRID] = {"grid", cJSON_IsArray, "is not a list", false},
    [BLOCK] = {"block", cJSON_IsArray, "is not a list", true},
    [NAME] = {"name", cJSON_IsString, "is not a string", false},
    [DISKS] = {"disks", cJSON_IsArray, "is not a list", false},
    [MAP] = {"map", cJSON_IsArray, "is not a list", true},
};

static int wrong(enum key key, const char *what)
{
    wr_fail(WEIR_EFORMAT, "array.json: \"%s\" %s", keys[key].name, what);
    return WEIR_EFORMAT;
}

/* cJSON ends strings at \u0000 and takes 0 for a space. */
static int check_text(const char *text, int64_t length)
{
    if (length > WR_SET_LONGEST)
        return wr_fail(WEIR_EFORMAT, "array.json: %lld bytes, at most %d can be read",
                       (long long)length, WR_SET_LONGEST);
    for (int64_t i = 0; i < length; i++) {
        bool escaped = text[i] == '\\' && length - i >= 6 && !memcmp(text + i, "\\u0000", 6);
        if (escaped || !text[i])
            return wr_fail(WEIR_EFORMAT, "array.json: character 0 at byte %lld", (long long)i);
        i += text[i] == '\\';
    }
    return 0;
}

static int parse_tree(const char *text, int64_t length, cJSON **out)
{
    const char *end = text;
    errno = 0;
    cJSON *root = cJSON_ParseWithLengthOpts(text, (size_t)length, &end, 0);
    if (!root && errno == ENOMEM)
        return wr_fail(WEIR_ENOMEM, "out of memory reading array.json");
    int64_t at = end - text;
    while (root && at < length && strchr(" \t\r\n", text[at]))
        at++;
    if (!root || at < length) {
        cJSON_Delete(root);
        return wr_fail(WEIR_EFORMAT, "array.json: malformed JSON at byte %lld", (long long)at);
    }
    *out = root;
    return 0;
}

/* Items by key, borrowed from the tree; NULL where one may be missing and is. */
static int collect(const cJSON *root, const cJSON *item[KEYS])
{
    const cJSON *each;
    cJSON_ArrayForEach(each, root)
    {
        int key = 0;
        while (key < KEYS && strcmp(each->string, keys[key].name) != 0)
            key++;
        if (key == KEYS)
            continue;
        if (item[key])
            return wrong((enum key)key, "stands there twice");
        if (!keys[key].fits(each))
            return wrong((enum key)key, keys[key].unfit);
        item[key] = each;
    }
    for (int key = 0; key < KEYS; key++)
        if (!item[key] && !keys[key].optional)
            return wrong((enum key)key, "is missing");
    return 0;
}

static int read_number(const cJSON *item, enum key key, int64_t lo, int64_t hi, int64_t *out)
{
    double v = item->valuedouble;
    if (!cJSON_IsNumber(item) || !(v >= (double)lo && v <= (double)hi) || v != (double)(int64_t)v) {
        wr_fail(WEIR_EFORMAT, "array.json: \"%s\" has something other than %lld to %lld",
                keys[key].name, (long long)lo, (long long)hi);
        return WEIR_EFORMAT;
    }
    *out = (int64_t)v;
    return 0;
}

/* One number a dimension. */
static int read_sizes(const cJSON *list, enum key key, int dimensions, int64_t lo, int64_t *out)
{
    int count = 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, list)
    {
        if (count == dimensions)
            return wrong(key, "has too many dimensions");
        int code = read_number(each, key, lo, LARGEST, &out[count]);
        if (code)
            return code;
        count++;
    }
    return count;
}

static int read_whole(const cJSON *const item[KEYS], wr_description *d)
{
    int64_t version;
    if (strcmp(item[KEY_WEIR]->valuestring, KIND) != 0)
        return wrong(KEY_WEIR, "is not \"" KIND "\"");
    if (read_number(item[KEY_VERSION], KEY_VERSION, VERSION, VERSION, &version))
        return WEIR_EFORMAT;
    const char *type = item[TYPE]->valuestring, *order = item[ORDER]->valuestring;
    d->type = weir_type_find(type);
    if (strcmp(type, weir_type_name(d->type)) != 0 || !d->type)
        return wrong(TYPE, "is no element type");
    d->columns = !strcmp(order, "F");
    if (!d->columns && strcmp(order, "C") != 0)
        return wrong(ORDER, "is neither \"C\" nor \"F\"");
    d->dimensions = read_sizes(item[SHAPE], SHAPE, WR_DIMENSIONS, 0, d->shape);
    if (d->dimensions < 0)
        return d->dimensions;
    return wr_description_settle(d) ? wrong(SHAPE, "has too many elements") : 0;
}

/* The product of the grid, or -1. */
static int count_members(const wr_set *s)
{
    int64_t members = 1;
    for (int i = 0; i < s->whole.dimensions; i++) {
        if (s->grid[i] < 1 || s->grid[i] > MEMBERS / members)
            return -1;
        members *= s->grid[i];
    }
    return (int)members;
}

static int read_grid(const cJSON *const item[KEYS], wr_set *s)
{
    int64_t grid[WR_DIMENSIONS];
    int dimensions = s->whole.dimensions;
    int count = read_sizes(item[GRID], GRID, dimensions, 1, grid);
    if (count >= 0 && count < dimensions)
        return wrong(GRID, "has too few dimensions");
    if (count < 0)
        return count;
    for (int i = 0; i < dimensions; i++)
        s->grid[i] = (int)wr_min(grid[i], INT_MAX);
    s->members = count_members(s);
    if (s->members < 0)
        return wrong(GRID, "has too many local arrays");
    count = item[BLOCK] ? read_sizes(item[BLOCK], BLOCK, dimensions, 0, s->block) : dimensions;
    if (count >= 0 && count < dimensions)
        return wrong(BLOCK, "has too few dimensions");
    return count < 0 ? count : 0;
}

static const char *fault_of_name(const char *name)
{
    if (!*name)
        return "is empty";
    if (strnlen(name, WR_SET_NAME) == WR_SET_NAME)
        return "is too long";
    return strchr(name, '/') ? "has a slash" : NULL;
}

static const char *fault_of_disk(const char *folder)
{
    if (!*folder)
        return "has an empty name";
    return strnlen(folder, FOLDER + 1) > FOLDER ? "has a name that is too long" : NULL;
}

static int read_disks(const cJSON *list, wr_set *s)
{
    int count = cJSON_GetArraySize(list);
    if (!count)
        return wrong(DISKS, "is empty");
    s->disk = wr_alloc_array(count, sizeof *s->disk);
    if (!s->disk)
        return WEIR_ENOMEM;
    const cJSON *each;
    cJSON_ArrayForEach(each, list)
    {
        const char *fault =
            cJSON_IsString(each) ? fault_of_disk(each->valuestring) : "is not all strings";
        if (fault)
            return wrong(DISKS, fault);
        size_t bytes = strlen(each->valuestring) + 1;
        char *folder = wr_alloc((int64_t)bytes);
        if (!folder)
            return WEIR_ENOMEM;
        memcpy(folder, each->valuestring, bytes);
        s->disk[s->disks++] = folder;
    }
    return 0;
}

static int read_map(const cJSON *list, wr_set *s)
{
    if (!list && s->members > MEMBERS_UNMAPPED)
        return wrong(MAP, "is missing, which it may only be for up to 65536 local arrays");
    if (list && cJSON_GetArraySize(list) != s->members)
        return wrong(MAP, "does not name one disk for each local array");
    s->map = wr_alloc_array(s->members, sizeof *s->map);
    if (!s->map)
        return WEIR_ENOMEM;
    for (int m = 0; !list && m < s->members; m++)
        s->map[m] = m % s->disks;
    int m = 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, list)
    {
        int64_t disk;
        if (read_number(each, MAP, 0, s->disks - 1, &disk))
            return WEIR_EFORMAT;
        s->map[m++] = (int)disk;
    }
    return 0;
}

static int read_set(const cJSON *root, wr_set *s)
{
    const cJSON *item[KEYS] = {NULL};
    if (!cJSON_IsObject(root))
        return wr_fail(WEIR_EFORMAT, "array.json: not a JSON object");
    int code = collect(root, item);
    if (!code)
        code = read_whole(item, &s->whole);
    if (!code)
        code = read_grid(item, s);
    if (code)
        return code;
    const char *name = item[NAME]->valuestring, *fault = fault_of_name(name);
    if (fault)
        return wrong(NAME, fault);
    memcpy(s->name, name, strlen(name) + 1);
    code = read_disks(item[DISKS], s);
    return code ? code : read_map(item[MAP], s);
}

int wr_set_parse(const char *text, int64_t length, wr_set *out)
{
    cJSON *root = NULL;
    *out = (wr_set){0};
    int code = check_text(text, length);
    if (!code)
        code = parse_tree(text, length, &root);
    if (!code)
        code = read_set(root, out);
    if (code)
        wr_set_release(out);
    cJSON_Delete(root);
    return code;
}

void wr_set_release(wr_set *set)
{
    for (int i = 0; i < set->disks; i++)
        wr_free(set->disk[i]);
    wr_free(set->disk);
    wr_free(set->map);
    *set = (wr_set){0};
}

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

static void put_string(wr_text *w, const char *string)
{
    wr_text_add(w, "\"", 1);
    while (*string) {
        int64_t plain = 0;
        while (is_plain(string[plain]))
            plain++;
        wr_text_add(w, string, plain);
        string += plain;
        if (*string)
            wr_text_put(w, "\\u%04x", (unsigned)*string++);
    }
    wr_text_add(w, "\"", 1);
}

static const char *separator(int i)
{
    return i ? "," : "";
}

static void put_set(wr_text *w, const wr_set *s)
{
    const wr_description *d = &s->whole;
    wr_text_put(w, "{\n \"weir\": \"" KIND "\",\n \"version\": %d,\n", VERSION);
    wr_text_put(w, " \"type\": \"%s\",\n \"order\": \"%s\",\n \"shape\": [",
                weir_type_name(d->type), d->columns ? "F" : "C");
    for (int i = 0; i < d->dimensions; i++)
        wr_text_put(w, "%s%lld", separator(i), (long long)d->shape[i]);
    wr_text_put(w, "],\n \"grid\": [");
    for (int i = 0; i < d->dimensions; i++)
        wr_text_put(w, "%s%d", separator(i), s->grid[i]);
    wr_text_put(w, "],\n \"block\": [");
    for (int i = 0; i < d->dimensions; i++)
        wr_text_put(w, "%s%lld", separator(i), (long long)s->block[i]);
    wr_text_put(w, "],\n \"name\": ");
    put_string(w, s->name);
    wr_text_put(w, ",\n \"disks\": [");
    for (int i = 0; i < s->disks; i++) {
        wr_text_put(w, "%s", separator(i));
        put_string(w, s->disk[i]);
    }
    wr_text_put(w, "],\n \"map\": [");
    for (int m = 0; m < s->members; m++)
        wr_text_put(w, "%s%d", separator(m), s->map[m]);
    wr_text_put(w, "]\n}\n");
}

/* That what is written can be read. */
static int check_set(const wr_set *s)
{
    wr_description whole = s->whole;
    int code = wr_description_settle(&whole);
    if (code)
        return code;
    for (int i = 0; i < whole.dimensions; i++) {
        if (whole.shape[i] > LARGEST || s->block[i] > LARGEST)
            return wr_fail(WEIR_ERANGE, "dimension %d is too large for array.json", i);
        if (s->block[i] < 0)
            return wr_fail(WEIR_EINVAL, "blocks of %lld indices", (long long)s->block[i]);
    }
    if (s->members != count_members(s))
        return wr_fail(WEIR_EINVAL, "%d local arrays do not fit the grid, or are too many",
                       s->members);
    const char *fault = fault_of_name(s->name);
    if (fault)
        return wr_fail(WEIR_EINVAL, "the name of local arrays %s", fault);
    if (s->disks < 1)
        return wr_fail(WEIR_EINVAL, "no disk for local arrays");
    for (int i = 0; i < s->disks; i++) {
        fault = fault_of_disk(s->disk[i]);
        if (fault)
            return wr_fail(WEIR_EINVAL, "disk %d %s", i, fault);
    }
    for (int m = 0; m < s->members; m++)
        if (s->map[m] < 0 || s->map[m] >= s->disks)
            return wr_fail(WEIR_EINVAL, "local array %d is on disk %d of %d", m, s->map[m],
                           s->disks);
    return 0;
}

int wr_set_print(const wr_set *set, char **text, int64_t *length)
{
    wr_text w = {.name = "array.json", .most = WR_SET_LONGEST};
    int code = check_set(set);
    if (code)
        return code;
    put_set(&w, set);
    return wr_text_take(&w, text, length);
}
