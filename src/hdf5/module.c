/* What the module exports; what HDF5 prints of errors, unless told not to, is kept quiet meanwhile,
 * and comes back as text. */
#include "hdf5/module.h"

#include <stdarg.h>
#include <stdio.h>

#include "hdf5/dataset.h"

int wr_say(char *text, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, WR_HDF5_TEXT, format, arguments);
    va_end(arguments);
    return code;
}

/* The first is the innermost, which says most. */
static herr_t note_first(unsigned number, const H5E_error2_t *error, void *user)
{
    if (!number && error->desc)
        snprintf(user, WR_HDF5_TEXT, ": %s", error->desc);
    return number > 0;
}

int wr_say_hdf5(char *text, int code, const char *what)
{
    char said[WR_HDF5_TEXT] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_first, said);
    return wr_say(text, code, "%s%s", what, said);
}

typedef struct silence {
    H5E_auto2_t print;
    void *data;
    unsigned modern; /* else the program uses an old interface, and decides */
} silence;

/* A program may bring another HDF5, which would end the process when it notices the difference. */
static int silence_begin(silence *s, char *text)
{
    unsigned major = 0, minor = 0, release = 0;
    *s = (silence){0};
    if (H5get_libversion(&major, &minor, &release) < 0 || major != H5_VERS_MAJOR ||
        minor != H5_VERS_MINOR || release != H5_VERS_RELEASE)
        return wr_say(text, WEIR_EUNSUPPORTED,
                      "the program has HDF5 %u.%u.%u, and this build is for %d.%d.%d", major, minor,
                      release, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
    if (H5Eauto_is_v2(H5E_DEFAULT, &s->modern) >= 0 && s->modern) {
        H5Eget_auto2(H5E_DEFAULT, &s->print, &s->data);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    }
    return 0;
}

static int silence_end(const silence *s, int code)
{
    H5Eclear2(H5E_DEFAULT);
    if (s->modern)
        H5Eset_auto2(H5E_DEFAULT, s->print, s->data);
    return code;
}

static int look(const char *path, const char *name, const wr_hdf5_listener *listener, char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_look(path, name, listener, text));
}

static int make(const char *path, const char *name, const char *room, const wr_hdf5_facts *facts,
                char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_make(path, name, room, facts, text));
}

static int finish(const char *path, const char *name, const char *other,
                  const wr_hdf5_labels *labels, char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_finish(path, name, other, labels, text));
}

static int remove_set(const char *path, const char *name, char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_remove(path, name, text));
}

static int pack(const char *path, const char *name, wr_hdf5_source *source, void *user, char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_pack(path, name, source, user, text));
}

static int count(const char *path, char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_count(path, text));
}

static int list(const char *path, wr_hdf5_told *each, void *user, char *text)
{
    silence s;
    const int code = silence_begin(&s, text);
    return code ? code : silence_end(&s, wr_dataset_list(path, each, user, text));
}

const wr_hdf5_module weir_hdf5_module = {
    .version = WR_HDF5_VERSION,
    .look = look,
    .make = make,
    .finish = finish,
    .remove = remove_set,
    .pack = pack,
    .count = count,
    .list = list,
};
