/* weir put: writes a section of an array, from another array, from text, or with one value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "account.h"
#include "command.h"
#include "element_text.h"
#include "failure.h"
#include "stream.h"
#include "text_file.h"

enum { DEFAULT_MEMORY = 64 << 20, SHARES = 3 }; /* a buffer, and twice that to convert */
enum { TELL_EACH = 1 << 16 };

typedef struct options {
    const char *value, *text, *hints;
    int64_t memory;
    cli_manner manner;
} options;

static const cli_option table[] = {{"--value", 0, "NUMBER", offsetof(options, value),
                                    cli_parse_text, "every element becomes this one", NULL},
                                   {"--text", 0, "NUMBERS", offsetof(options, text), cli_parse_text,
                                    "elements by rows, with commas or spaces between them", NULL},
                                   CLI_OPTION_MEMORY(offsetof(options, memory)),
                                   CLI_OPTION_HINTS(offsetof(options, hints)),
                                   CLI_MANNER(offsetof(options, manner)),
                                   {0}};

typedef struct putting {
    const char *command;
    cli_source to;
    cli_account account;
    int64_t memory;
    cli_progress *tell; /* of text, with `bar`; or NULL */
    void *bar;
} putting;

static char message[900];

/* --- from an array --- */

/* Size 1, or as many; what is missing at the front is 1. */
static bool fits(const cli_source *from, const cli_source *to)
{
    const int behind = to->dimensions - from->dimensions;
    for (int d = 0; d < from->dimensions; d++)
        if (from->shape[d] != 1 && (d + behind < 0 || from->shape[d] != to->shape[d + behind]))
            return false;
    return true;
}

static size_t say_shape(const cli_source *s, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int d = 0; d < s->dimensions; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? ", " : "",
                                 (long long)s->shape[d]);
    return used + (size_t)snprintf(text + used, size - used, ")");
}

/* The same file, and, if it has several arrays, the same of these. */
static bool is_same(const char *a, const cli_source *from, const char *b, const cli_source *to)
{
    struct stat x, y;
    const char *inner_a = strstr(a, ":/"), *inner_b = strstr(b, ":/");
    if (stat(weir_array_where(from->array), &x) || stat(weir_array_where(to->array), &y) ||
        x.st_dev != y.st_dev || x.st_ino != y.st_ino)
        return false;
    if (!inner_a || !inner_b || from->info->format != WEIR_HDF5)
        return true;
    const size_t length = (size_t)(cli_bracket_find(inner_a) - inner_a);
    return length == (size_t)(cli_bracket_find(inner_b) - inner_b) &&
           !strncmp(inner_a, inner_b, length);
}

/* What is written in boxes of some rows, dealt round-robin; all ranks take part in each step. */
typedef struct dealing {
    int dimensions;
    int64_t shape[WEIR_MAX_DIMENSIONS], block[WEIR_MAX_DIMENSIONS], boxes;
} dealing;

static dealing deal(const cli_source *to, int64_t memory)
{
    dealing d = {.dimensions = to->dimensions, .boxes = 1};
    int64_t room = memory / SHARES / weir_type_bytes(to->info->type);
    for (int i = to->dimensions - 1; i >= 0; i--) {
        d.shape[i] = to->shape[i];
        d.block[i] = room < to->shape[i] ? room : to->shape[i];
        d.block[i] = d.block[i] < 1 ? 1 : d.block[i];
        room /= d.block[i];
        d.boxes *= (d.shape[i] + d.block[i] - 1) / d.block[i];
    }
    return d;
}

static void find_box(const dealing *d, int64_t number, int64_t *lo, int64_t *hi)
{
    for (int i = d->dimensions - 1; i >= 0; i--) {
        const int64_t count = (d->shape[i] + d->block[i] - 1) / d->block[i];
        lo[i] = number % count * d->block[i];
        hi[i] = lo[i] + d->block[i] < d->shape[i] ? lo[i] + d->block[i] : d->shape[i];
        number /= count;
    }
}

/* The part of the source that a box of the target gets, and where it is in memory: along what has
 * one index only, everything is the same. */
typedef struct piece {
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS];
    int64_t stride[WEIR_MAX_DIMENSIONS], to_stride[WEIR_MAX_DIMENSIONS];
} piece;

static void find_piece(const cli_source *from, const cli_source *to, const int64_t *lo,
                       const int64_t *hi, piece *out)
{
    int64_t elements = 1;
    memset(out->to_stride, 0, sizeof out->to_stride);
    for (int d = from->dimensions - 1; d >= 0; d--) {
        const int at = d + to->dimensions - from->dimensions;
        const bool one = from->shape[d] == 1;
        out->lo[d] = one ? 0 : lo[at];
        out->hi[d] = one ? 1 : hi[at];
        out->stride[d] = elements;
        if (!one)
            out->to_stride[at] = elements;
        elements *= out->hi[d] - out->lo[d];
    }
}

/* [collective] One box of each rank; `number` beyond the last: none. `from` NULL: the buffer has
 * the only element. */
static int put_box(const cli_source *from, const cli_source *to, const dealing *d, int64_t number,
                   void *buffer)
{
    int code = 0;
    weir_layout layout;
    int64_t lo[WEIR_MAX_DIMENSIONS], hi[WEIR_MAX_DIMENSIONS], bytes[WEIR_MAX_DIMENSIONS];
    piece p = {0};
    cli_chosen chosen = {0};
    const bool there = number < d->boxes;
    const int type = to->info->type;
    if (there)
        find_box(d, number, lo, hi);
    if (from) {
        if (there) {
            find_piece(from, to, lo, hi, &p);
            cli_source_choose(from, p.lo, p.hi, &chosen);
        }
        layout = cli_source_layout(from, p.stride, type, bytes);
        code = weir_array_read_all(from->array, there ? &chosen.selection : NULL, &layout, buffer,
                                   NULL);
    }
    if (there)
        cli_source_choose(to, lo, hi, &chosen);
    layout = cli_source_layout(to, p.to_stride, type, bytes);
    return code ? code
                : weir_array_write_all(to->array, there ? &chosen.selection : NULL, &layout, buffer,
                                       NULL);
}

/* `from` NULL: all become `element`. */
static int put_boxes(putting *p, const cli_source *from, const void *element)
{
    const dealing d = deal(&p->to, p->memory);
    const int64_t bytes = weir_type_bytes(p->to.info->type), ranks = cli_ranks();
    const int64_t all = p->to.elements ? d.boxes : 0;
    int64_t room = bytes;
    for (int i = 0; i < d.dimensions; i++)
        room *= d.block[i];
    void *buffer = malloc((size_t)(from ? room : CLI_ELEMENT));
    int status = cli_settle(p->command, buffer ? 0 : WEIR_ENOMEM);
    if (buffer && !from)
        memcpy(buffer, element, CLI_ELEMENT);
    cli_progress *tell = cli_account_progress(&p->account, p->to.elements * bytes);
    for (int64_t k = 0; k < all && !status; k += ranks) {
        status = cli_settle(p->command, put_box(from, &p->to, &d, k + cli_rank(), buffer));
        if (tell)
            tell(&p->account.bar, k + ranks < all ? k + ranks : all, all);
    }
    free(buffer);
    return status;
}

/* Types that do not convert are found before something is written. */
static const char *check_array(const cli_source *from, const cli_source *to)
{
    const int a = from->info->type, b = to->info->type;
    char shapes[2][400];
    if ((a >= WEIR_C8 && b < WEIR_C8) || (a != b && (a == WEIR_F2 || b == WEIR_F2))) {
        snprintf(message, sizeof message, "%s does not convert to %s", weir_type_name(a),
                 weir_type_name(b));
        return message;
    }
    if (fits(from, to))
        return NULL;
    say_shape(from, shapes[0], sizeof shapes[0]);
    say_shape(to, shapes[1], sizeof shapes[1]);
    snprintf(message, sizeof message, "shape %s does not fit the section, which has %s", shapes[0],
             shapes[1]);
    return message;
}

/* Elements alone must be as many as there are places. */
static int check_raw(putting *p, const char *path)
{
    struct stat s;
    const int64_t bytes = p->to.elements * weir_type_bytes(p->to.info->type);
    int code = 0;
    if (cli_rank() == 0 && !stat(path, &s) && s.st_size != bytes)
        code = cli_fail(WEIR_EINVAL, path, 0, "has %lld bytes, and the section takes %lld",
                        (long long)s.st_size, (long long)bytes);
    return cli_settle(p->command, code);
}

static int put_array(putting *p, const char *name, const char *to_name, const char *hints)
{
    cli_source from;
    char raw[CLI_RAW_NAME];
    const bool bare = cli_is_bare(name);
    const char *path = bare ? raw : name;
    weir_array_info info = {.type = p->to.info->type, .dimensions = p->to.dimensions};
    memcpy(info.shape, p->to.shape, sizeof info.shape);
    cli_raw_name(name, &info, raw);
    int status = bare ? check_raw(p, name) : 0;
    if (!status)
        status = cli_source_open(p->command, path, hints, &from);
    if (status)
        return status;
    const char *problem = check_array(&from, &p->to);
    if (!problem && is_same(path, &from, to_name, &p->to))
        problem = "an array cannot be read and written at once; weir copy first";
    status = problem ? cli_usage_of(p->command, name, problem) : put_boxes(p, &from, NULL);
    cli_source_close(&from);
    return status;
}

/* --- from text --- */

/* All words are elements, as many as the section has, each row of a matrix in lines of its own. */
static int check_text(const putting *p, cli_text_reader *r, const char *name)
{
    char element[CLI_ELEMENT];
    const cli_source *to = &p->to;
    const int64_t row = to->dimensions > 1 ? to->shape[to->dimensions - 1] : 0;
    int64_t count = 0;
    int there;
    while ((there = cli_text_next(r)) > 0) {
        const char *problem = cli_element_parse(r->word, to->info->type, element);
        if (problem)
            return cli_fail(WEIR_EINVAL, name, 0, "line %lld: \"%.40s\" %s", (long long)r->line,
                            r->word, problem);
        if (row && r->in_line == 1 && count % row)
            return cli_fail(WEIR_EINVAL, name, 0,
                            "line %lld begins, but the row before it has %lld of %lld numbers",
                            (long long)r->line, (long long)(count % row), (long long)row);
        if (p->tell && count && count % TELL_EACH == 0)
            p->tell(p->bar, count, 2 * to->elements);
        count++;
    }
    if (there == CLI_TEXT_EMPTY)
        return cli_fail(WEIR_EINVAL, name, 0, "line %lld, column %lld: there is no number",
                        (long long)r->line, (long long)r->in_line);
    if (there < 0)
        return cli_fail(WEIR_EINVAL, name, 0, "line %lld: a word is too long for a number",
                        (long long)r->line);
    if (count != to->elements)
        return cli_fail(WEIR_EINVAL, name, 0, "%lld numbers, and the section has %lld",
                        (long long)count, (long long)to->elements);
    return 0;
}

static int write_text(const putting *p, cli_text_reader *r)
{
    char element[CLI_ELEMENT];
    cli_stream stream;
    int code = cli_stream_open(&stream, &p->to, false, p->memory);
    stream.tell = p->tell;
    stream.user = p->bar;
    stream.passes = 2;
    stream.passed = 1;
    while (!code && cli_text_next(r) > 0) {
        cli_element_parse(r->word, p->to.info->type, element);
        code = cli_stream_put(&stream, element);
    }
    cli_stream_close(&stream);
    return code;
}

/* Twice through, first without writing; what cannot be read twice is copied. */
static int put_words(const putting *p, FILE *in, const char *name, bool once)
{
    FILE *copy = once ? tmpfile() : NULL;
    if (once && !copy)
        return cli_fail(WEIR_EINVAL, name, 0, "there is no room for a copy");
    cli_text_reader reader = {.in = in, .copy = copy};
    int code = check_text(p, &reader, name);
    if (!code && (ferror(in) || (copy && (fflush(copy) || ferror(copy)))))
        code = cli_fail(WEIR_EINVAL, name, 0, "cannot be read or copied");
    FILE *again = copy ? copy : in;
    rewind(again);
    if (!code)
        code = write_text(p, &(cli_text_reader){.in = again});
    if (copy)
        fclose(copy);
    return code;
}

/* [collective] Rank 0 reads and writes. */
static int put_text(putting *p, const char *name, const char *text)
{
    int code = 0;
    const bool once = name && !strcmp(name, "-");
    if (cli_rank() == 0) {
        FILE *in = text ? fmemopen((void *)text, strlen(text) + !*text, "r") : once ? stdin : NULL;
        if (text && !in)
            code = WEIR_ENOMEM;
        else if (!in)
            code = cli_text_open(name, &in);
        p->tell =
            cli_account_progress(&p->account, p->to.elements * weir_type_bytes(p->to.info->type));
        p->bar = &p->account.bar;
        if (!code)
            code = put_words(p, in, text ? "--text" : once ? "standard input" : name, once);
        if (in && !once)
            fclose(in);
        cli_account_quiet(&p->account);
    }
    return cli_settle(p->command, code);
}

/* --- one value --- */

static int put_value(putting *p, const char *text)
{
    char element[CLI_ELEMENT];
    const char *problem = cli_element_parse(text, p->to.info->type, element);
    if (problem) {
        snprintf(message, sizeof message, "value \"%.40s\": %s", text, problem);
        return cli_usage(p->command, message);
    }
    return put_boxes(p, NULL, element);
}

static int run(int argc, char **argv)
{
    int arguments;
    options o = {0};
    const char *problem = cli_options_parse(argc, argv, table, &o, &arguments);
    if (!problem && (arguments < 1 || arguments - 1 + (o.value != NULL) + (o.text != NULL) != 1))
        problem = "takes a section of an array, and a file, -, --text or --value";
    if (problem)
        return cli_usage(argv[0], problem);
    putting p = {.command = argv[0], .memory = o.memory ? o.memory : DEFAULT_MEMORY};
    cli_account_begin(&p.account, argv[0], &o.manner);
    int status = cli_source_open_writing(argv[0], argv[1], o.hints, &p.to);
    if (status)
        return status;
    const char *name = arguments > 1 ? argv[2] : NULL;
    if (o.value)
        status = put_value(&p, o.value);
    else if (o.text || !strcmp(name, "-") || cli_is_csv(name))
        status = put_text(&p, name, o.text);
    else
        status = put_array(&p, name, argv[1], o.hints);
    if (!status)
        status = cli_settle(argv[0], weir_array_sync_durable(p.to.array));
    cli_account_quiet(&p.account);
    cli_source_close(&p.to);
    if (!status)
        cli_account_end(&p.account, &(cli_outcome){.plan = ""});
    return status;
}

const cli_command cli_put = {
    .name = "put",
    .group = CLI_MAKE,
    .arguments = "'ARRAY[...]' FILE|-",
    .help = "writes a section of an array, from a file, from text, or with one value",
    .about =
        "FILE is an array, or a section of one, whose shape fits as in NumPy: sizes are equal or "
        "1; elements convert as weir convert has it. Or it is .bin or .raw, elements of the "
        "array's type alone, by rows; or .csv, or - for standard input: numbers by rows with "
        "commas, spaces or ends of lines between them, and remarks behind #. What does not fit "
        "changes nothing; what fails or is interrupted later leaves elements of both kinds. The "
        "bracket is that of weir get, but indices must not repeat.",
    .options = table,
    .example = {"weir put 'a.npy[0, :3]' --text '1 2 3'",
                "mpirun -n 2 weir put 'a.npy[:, ::2]' --value 0"},
    .run = run};
