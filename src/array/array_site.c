/* Names of arrays: what has one, what gets one. */
#include "array/array_site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "array/array_names.h"
#include "base/arith.h"
#include "base/error.h"
#include "storage/paths.h"

static const char between[] = ".partial-";

static int blame(const wr_site *s, int code)
{
    char path[WR_PATH];
    const weir_error error = *weir_error_last();
    if (code && !*error.file && !wr_path_join(s->folder.path, s->name, path, sizeof path)) {
        wr_error_raise(&error);
        wr_error_note_file(path, -1);
    }
    return code;
}

int wr_site_open(const char *path, wr_site *out)
{
    char folder[WR_PATH];
    size_t end = strlen(path), start;
    memset(out, 0, sizeof *out);
    out->folder.fd = -1;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/'; start--)
        continue;
    const char *name = path + start;
    const size_t length = end - start;
    if (!length || (length == 1 && *name == '.') || (length == 2 && !strncmp(name, "..", 2)))
        return wr_blame(wr_fail(WEIR_EINVAL, "no name for an array"), path);
    if (length >= sizeof out->name)
        return wr_fail_system(ENAMETOOLONG, path, -1, "open");
    memcpy(out->name, name, length);
    int code = wr_path_folder(path, folder, sizeof folder);
    if (!code)
        code = wr_folder_open(&wr_folder_here, folder, &out->folder);
    if (!start) /* errors name files as they were given */
        *out->folder.path = 0;
    if (code)
        wr_error_note_file(path, -1);
    return code;
}

void wr_site_close(wr_site *site)
{
    wr_folder_close(&site->folder);
}

/* The name is cut where it would be too long with its ending, but not within a character. */
static int invent(wr_site *s)
{
    unsigned number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return wr_fail_system(errno, s->name, -1, "find a name for");
    snprintf(s->tag, sizeof s->tag, "%08x", number);
    const int64_t room =
        wr_folder_longest(&s->folder) - (int64_t)(sizeof between + sizeof s->tag - 2);
    size_t kept = (size_t)wr_min(wr_max(room, 0), (int64_t)strlen(s->name));
    while (s->name[kept] && kept && ((unsigned char)s->name[kept] & 0xc0) == 0x80)
        kept--;
    snprintf(s->made, sizeof s->made, "%.*s%s%s", (int)kept, s->name, between, s->tag);
    return 0;
}

int wr_site_prepare(wr_site *s, bool overwrite, const wr_named_disks *named)
{
    wr_folder_entry found = {0};
    s->overwrite = overwrite;
    int code = wr_folder_look(&s->folder, s->name, false, &found);
    if (!code && found.kind != WR_ENTRY_NONE && !overwrite)
        code = wr_fail(WEIR_EEXIST, "there is something of that name, and overwrite was not given");
    if (!code)
        code = wr_array_check_owned(&s->folder, s->name, named, &found);
    s->owned = !code && found.kind != WR_ENTRY_NONE;
    if (s->owned)
        code = wr_array_owner(&s->folder, s->name, &s->owner);
    if (!code)
        code = invent(s);
    return blame(s, code);
}

/* Where names cannot be exchanged at once: for a moment there is nothing of that name. The older
 * array has the name that was the new one's then, as after an exchange. */
static int exchange_in_steps(wr_site *s)
{
    char made[WR_ENTRY_NAME];
    memcpy(made, s->made, sizeof made);
    int code = invent(s);
    if (!code)
        code = wr_folder_rename(&s->folder, s->name, s->made, false);
    if (!code && (code = wr_folder_rename(&s->folder, made, s->name, false))) {
        weir_error error = *weir_error_last();
        wr_folder_rename(&s->folder, s->made, s->name, false);
        wr_error_raise(&error);
    }
    if (code)
        memcpy(s->made, made, sizeof made);
    return code;
}

static int exchange(wr_site *s)
{
    int code = wr_folder_exchange(&s->folder, s->made, s->name);
    return code == WEIR_EUNSUPPORTED ? exchange_in_steps(s) : code;
}

/* The name must last, or it is taken back. */
static int sync_name(wr_site *s, bool replaced)
{
    int code = wr_folder_sync(&s->folder);
    if (!code)
        return 0;
    weir_error error = *weir_error_last();
    if (replaced)
        exchange(s);
    else
        wr_folder_rename(&s->folder, s->name, s->made, false);
    return wr_error_raise(&error);
}

/* Permissions that would have kept us from writing it. */
static void restore_mode(const wr_site *s)
{
    wr_folder_entry made;
    if (s->owned && !wr_folder_look(&s->folder, s->made, false, &made) &&
        made.kind == WR_ENTRY_FILE && made.mode != s->owner.file)
        fchmodat(s->folder.fd, s->made, s->owner.file, 0);
}

int wr_site_publish(wr_site *s, bool durable, const wr_named_disks *named)
{
    wr_folder_entry old = {0};
    int code = s->overwrite ? wr_array_check_owned(&s->folder, s->name, named, &old) : 0;
    const bool replaces = old.kind != WR_ENTRY_NONE;
    if (!code)
        restore_mode(s);
    if (!code)
        code = replaces ? exchange(s) : wr_folder_rename(&s->folder, s->made, s->name, false);
    if (!code && durable)
        code = sync_name(s, replaces);
    if (!code && replaces)
        wr_array_erase(&s->folder, s->made, named);
    return blame(s, code);
}

int wr_site_delete(wr_site *s, const wr_named_disks *named)
{
    wr_folder_entry found;
    int code = wr_array_check_owned(&s->folder, s->name, named, &found);
    const bool there = !code && found.kind != WR_ENTRY_NONE;
    if (there) {
        wr_array_erase(&s->folder, s->name, named);
        code = wr_folder_look(&s->folder, s->name, false, &found);
    }
    if (!code && (!there || found.kind != WR_ENTRY_NONE))
        code = wr_folder_remove(&s->folder, s->name); /* tells why it cannot be */
    return blame(s, code);
}
