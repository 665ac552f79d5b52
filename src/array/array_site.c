/* A new array is written under an invented name beside its own, and exchanges names when it is
 * whole; what had the name before is removed last. Where the file system can exchange two names
 * there is always a whole array of that name. */
#include "array/array_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

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
int wr_site_invent(wr_site *s)
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
        code = wr_fail(WEIR_EEXIST, WR_SITE_TAKEN);
    if (!code)
        code = wr_array_check_owned(&s->folder, s->name, named, &found);
    s->owned = !code && found.kind != WR_ENTRY_NONE;
    if (s->owned)
        code = wr_array_owner(&s->folder, s->name, &s->owner);
    if (!code)
        code = wr_site_invent(s);
    return blame(s, code);
}

int wr_site_join(wr_site *s)
{
    int code = wr_array_owner(&s->folder, s->name, &s->owner);
    s->owned = !code;
    return blame(s, code ? code : wr_site_invent(s));
}

/* Where names cannot be exchanged at once. A file gets a second name first, so that there is always
 * one of the first; where that cannot be, as of folders, for a moment there is nothing. The older
 * array has an invented name then, as after an exchange. */
static int exchange_in_steps(wr_site *s)
{
    char made[WR_ENTRY_NAME];
    wr_folder_entry newer = {0}, older = {0};
    memcpy(made, s->made, sizeof made);
    int code = wr_folder_look(&s->folder, made, false, &newer);
    if (!code)
        code = wr_folder_look(&s->folder, s->name, false, &older);
    if (!code)
        code = wr_site_invent(s);
    const bool linked = !code && newer.kind != WR_ENTRY_FOLDER && older.kind != WR_ENTRY_FOLDER &&
                        !wr_folder_link(&s->folder, s->name, s->made);
    if (!code && !linked)
        code = wr_folder_rename(&s->folder, s->name, s->made, false);
    if (!code && (code = wr_folder_rename(&s->folder, made, s->name, linked))) {
        weir_error error = *weir_error_last();
        if (linked)
            wr_folder_remove(&s->folder, s->made);
        else
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

/* After a failure, which it keeps. */
static int take_back(wr_site *s, bool replaced)
{
    weir_error error = *weir_error_last();
    s->named = replaced ? exchange(s) : wr_folder_rename(&s->folder, s->name, s->made, false);
    if (s->named && !replaced)
        memcpy(s->made, s->name, sizeof s->made);
    return wr_error_raise(&error);
}

int wr_site_restrict(const wr_site *s)
{
    wr_folder_entry made;
    int code = s->owned ? wr_folder_look(&s->folder, s->made, false, &made) : 0;
    if (!code && s->owned && made.kind == WR_ENTRY_FILE)
        code = wr_folder_restrict(&s->folder, s->made, s->owner.file);
    return code;
}

/* What is no longer there need not be said. */
static int remove_old(wr_site *s, const wr_named_disks *named)
{
    wr_folder_entry left;
    wr_array_erase(&s->folder, s->made, named);
    int code = wr_folder_look(&s->folder, s->made, false, &left);
    if (!code && left.kind != WR_ENTRY_NONE)
        code = wr_folder_remove(&s->folder, s->made); /* tells why it cannot be */
    s->named = code;
    return code;
}

int wr_site_publish(wr_site *s, bool durable, const wr_named_disks *named)
{
    wr_folder_entry old = {0};
    int code = s->overwrite ? wr_array_check_owned(&s->folder, s->name, named, &old) : 0;
    const bool replaces = old.kind != WR_ENTRY_NONE;
    if (!code)
        code = replaces ? exchange(s) : wr_folder_rename(&s->folder, s->made, s->name, false);
    if (code)
        return blame(s, code);
    if (replaces) /* somebody may have put another there since */
        code = wr_array_check_owned(&s->folder, s->made, named, &old);
    if (!code && durable)
        code = wr_folder_sync(&s->folder);
    if (code)
        take_back(s, replaces);
    else if (replaces)
        code = remove_old(s, named);
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
