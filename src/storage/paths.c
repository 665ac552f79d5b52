/* The functions of folder.h for paths, which count from the working directory; and joining and
 * splitting paths. */
#include "storage/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "storage/systems.h"

int wr_path_is_folder(const char *path, bool *folder)
{
    struct stat status;
    wr_system_list(AT_FDCWD, path);
    if (stat(path, &status))
        return wr_fail_system(errno, path, -1, "look at");
    *folder = S_ISDIR(status.st_mode);
    return 0;
}

int wr_path_rename(const char *from, const char *to, bool replace)
{
    return wr_folder_rename(&wr_folder_here, from, to, replace);
}

int wr_path_remove(const char *path)
{
    return wr_folder_remove(&wr_folder_here, path);
}

int wr_path_read(const char *path, int64_t most, char **text, int64_t *length)
{
    return wr_folder_read(&wr_folder_here, path, most, text, length);
}

int wr_path_head(const char *path, int64_t most, char *out, int64_t *got, int64_t *size)
{
    return wr_folder_head(&wr_folder_here, path, most, out, got, size);
}

int wr_path_write(const char *path, const void *data, int64_t bytes, bool exclusive)
{
    wr_content content = {.data = data, .bytes = bytes, .exclusive = exclusive, .sync = true};
    return wr_folder_put(&wr_folder_here, path, &content);
}

int wr_path_fill(const char *path, const void *head, int64_t head_bytes, int64_t size)
{
    if (head_bytes > size) {
        wr_fail(WEIR_EINVAL, "%lld bytes cannot start with %lld", (long long)size,
                (long long)head_bytes);
        wr_error_note_file(path, -1);
        return WEIR_EINVAL;
    }
    wr_content content = {.data = head, .bytes = head_bytes, .size = size, .exclusive = true};
    return wr_folder_put(&wr_folder_here, path, &content);
}

static int too_long(const char *path)
{
    wr_fail(WEIR_ERANGE, "the path is too long");
    wr_error_note_file(path, -1);
    return WEIR_ERANGE;
}

int wr_path_join(const char *folder, const char *name, char *out, int64_t room)
{
    size_t length = strlen(folder);
    bool bare = *name == '/' || !length;
    const char *slash = bare || folder[length - 1] == '/' ? "" : "/";
    int need = snprintf(out, (size_t)room, "%s%s%s", bare ? "" : folder, slash, name);
    return need < 0 || need >= room ? too_long(name) : 0;
}

int wr_path_folder(const char *path, char *out, int64_t room)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    while (end > 0 && path[end - 1] != '/')
        end--;
    while (end > 1 && path[end - 1] == '/')
        end--;
    const char *from = end ? path : ".";
    end = end ? end : 1;
    if ((int64_t)end >= room)
        return too_long(path);
    memcpy(out, from, end);
    out[end] = 0;
    return 0;
}
