/* Words are read one at a time, however long the text is. */
#include "text_file.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "failure.h"

bool cli_name_ends(const char *path, const char *ending)
{
    const size_t length = strlen(path), end = strlen(ending);
    return length > end && path[length - end - 1] != '/' &&
           !strcasecmp(path + length - end, ending);
}

/* Not raw:..., nor FILE:/NAME. */
static bool is_plain(const char *path)
{
    return strncmp(path, "raw:", 4) != 0 && !strstr(path, ":/");
}

bool cli_is_csv(const char *path)
{
    return is_plain(path) && cli_name_ends(path, ".csv");
}

bool cli_is_bare(const char *path)
{
    return is_plain(path) && (cli_name_ends(path, ".bin") || cli_name_ends(path, ".raw"));
}

bool cli_file_begins(const char *path, const char *text)
{
    char begin[32] = "";
    const size_t length = strlen(text);
    FILE *f = fopen(path, "re");
    const bool read = f && length < sizeof begin && fread(begin, 1, length, f) == length;
    if (f)
        fclose(f);
    return read && !memcmp(begin, text, length);
}

int cli_text_open(const char *path, FILE **out)
{
    struct stat there;
    *out = fopen(path, "re");
    if (!*out)
        return cli_fail_errno(path, "cannot be opened");
    if (!fstat(fileno(*out), &there) && S_ISDIR(there.st_mode))
        return cli_fail(WEIR_EINVAL, path, 0, "is a folder");
    return 0;
}

static int next_character(cli_text_reader *r)
{
    int c = getc(r->in);
    if (c != EOF && r->copy)
        putc(c, r->copy);
    return c;
}

static bool ends_cell(int c)
{
    return c == ',' || c == '\n' || c == '#' || c == EOF;
}

int cli_text_next(cli_text_reader *r)
{
    size_t length = 0;
    bool due = false; /* there was a comma, and nothing yet behind it */
    int c = r->line ? r->next : '\n';
    while (c != EOF && strchr(", \t\r\n#", c)) {
        if (due ? ends_cell(c) : c == ',' && !r->in_line)
            break;
        due = due || c == ',';
        if (c == '\n') {
            r->line++;
            r->in_line = 0;
        }
        const bool remark = c == '#';
        c = next_character(r);
        while (remark && c != '\n' && c != EOF)
            c = next_character(r);
    }
    r->in_line++;
    if (due ? ends_cell(c) : c == ',')
        return CLI_TEXT_EMPTY;
    for (; c != EOF && !strchr(", \t\r\n#", c); c = next_character(r)) {
        if (length + 1 == sizeof r->word)
            return CLI_TEXT_LONG;
        r->word[length++] = (char)c;
    }
    r->word[length] = 0;
    r->next = c;
    return length > 0;
}

void cli_raw_name(const char *path, const weir_array_info *info, char out[CLI_RAW_NAME])
{
    size_t used = (size_t)snprintf(out, CLI_RAW_NAME, "raw:%.*s:%s:%s", PATH_MAX, path,
                                   weir_type_name(info->type), info->dimensions ? "" : "()");
    for (int d = 0; d < info->dimensions; d++)
        used += (size_t)snprintf(out + used, CLI_RAW_NAME - used, "%s%lld", d ? "," : "",
                                 (long long)info->shape[d]);
}
