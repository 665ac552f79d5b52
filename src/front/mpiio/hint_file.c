/* ROMIO's file of hints: lines of a key and a value; `#` begins a comment; the first line of a key
 * counts, and other lines are ignored. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/mpiio/mpi_file.h"
#include "weir/weir.h"

enum { MOST = 64 << 10 }; /* of the file, which is read whole */

/* What is in a plain file, terminated; its length, or -1: there is none that can be read. */
static ssize_t read_file(const char *path, char *text)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t length = fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) ? read(fd, text, MOST) : -1;
    if (fd >= 0)
        close(fd);
    if (length >= 0)
        text[length] = '\0';
    return length;
}

static void take_line(char *line, MPI_Info info)
{
    static const char blanks[] = " \t\r";
    char *rest = NULL;
    char *key = strtok_r(line, blanks, &rest), *value = key ? strtok_r(NULL, blanks, &rest) : NULL;
    int known = 0, length;
    if (!value || *key == '#' || strtok_r(NULL, blanks, &rest))
        return;
    if (strlen(key) > MPI_MAX_INFO_KEY - 1 || strlen(value) > MPI_MAX_INFO_VAL - 1)
        return;
    PMPI_Info_get_valuelen(info, key, &length, &known);
    if (!known)
        PMPI_Info_set(info, key, value);
}

void wr_hint_file_read(MPI_Info info)
{
    bool wanted;
    const char *path = wr_tunables_hint_file(&wanted);
    char *text = wr_alloc(MOST + 1), *rest = NULL;
    ssize_t length = text ? read_file(path, text) : 0;
    if (length < 0 && wanted)
        weir_log("warning", "the file that ROMIO_HINTS names cannot be read");
    if (length > 0)
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            take_line(line, info);
    wr_free(text);
}
