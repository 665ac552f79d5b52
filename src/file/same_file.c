/* The same file on several hosts: proofs, and a probe where there is none. */
#include "file/same_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "file/inside.h"
#include "storage/paths.h"
#include "storage/patience.h"

enum { BLOCK = 4096, PROBE_NAME = 32 };

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static uint64_t mix_number(uint64_t hash, int64_t number)
{
    return mix(hash, &number, sizeof number);
}

/* Of the running kernel; equal for all ranks of a node. */
static uint64_t kernel_id(const wr_transport *t)
{
    char id[64];
    uint64_t hash = 1;
    int fd = t->nodes > 1 ? open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd < 0 ? 0 : read(fd, id, sizeof id);
    if (got > 0)
        hash = mix(hash, id, (size_t)got);
    else if (t->nodes > 1) /* every node may have its own */
        hash = mix_number(hash, t->node);
    if (fd >= 0)
        close(fd);
    return hash;
}

wr_likeness wr_file_likeness(const weir_file *f)
{
    enum { SECOND = 1000000000 };
    const wr_transport *t = f->group.handle.world->transport;
    const wr_storage_facts *facts = &f->group.handle.storage->facts;
    const wr_file_mark *m = &facts->mark;
    uint64_t number = mix_number(1, facts->identity);
    if (facts->disks || !m->number) /* the number is random, or there is no file */
        return (wr_likeness){.proof = (int64_t)number};
    const uint64_t kernel = kernel_id(t);
    uint64_t proof = mix_number(mix_number(kernel, m->device), m->number);
    uint64_t look = mix_number(mix_number(number, m->size), m->modified);
    look = mix_number(look, m->changed);
    if (facts->local) /* disks of hosts made from one image have like files */
        look = mix_number(look, (int64_t)kernel);
    if (m->changed % SECOND == 0) /* too coarse to tell one from another */
        look = mix_number(look, t->rank);
    return (wr_likeness){(int64_t)proof, (int64_t)look, (int64_t)kernel};
}

bool wr_file_mark_meets(const wr_file_mark *a, const wr_file_mark *b)
{
    return a->number == b->number || (a->size == b->size && a->modified == b->modified);
}

/* --- the probe --- */

/* What rank 0 tells of its file. */
typedef struct probe {
    char host[WR_HOST];
    char made[PROBE_NAME]; /* the name of the file beside it, or empty */
    int64_t proof, base;   /* base: of the last part of its path */
    int64_t disks;
    bool readable, local;
    int64_t blocks;
    wr_file_mark mark;
} probe;

/* Of an array's folder its description counts. */
static int64_t blocks_of(const char *path, bool folder, bool *readable)
{
    char inside[WR_PATH], block[BLOCK];
    uint64_t hash = 1;
    struct stat status;
    if (folder && wr_path_join(path, "array.json", inside, sizeof inside))
        return 0;
    int fd = open(folder ? inside : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *readable = fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode);
    const int64_t size = *readable ? status.st_size : 0;
    const int64_t at[] = {0, size / 2, wr_max(0, size - BLOCK)};
    for (int i = 0; i < 3 && *readable; i++) {
        ssize_t got = pread(fd, block, sizeof block, at[i]);
        *readable = got >= 0;
        hash = mix(mix_number(hash, size), block, got > 0 ? (size_t)got : 0);
    }
    if (fd >= 0)
        close(fd);
    return (int64_t)hash;
}

/* The folder to make the probe in, and a hash of what the file is called there. */
static bool find_folder(const char *path, bool folder, char out[WR_PATH], int64_t *base)
{
    char *real = realpath(path, NULL);
    const char *name = real ? strrchr(real, '/') : NULL;
    const bool found = name && strlen(real) < WR_PATH;
    if (found) {
        *base = (int64_t)mix(1, name, strlen(name));
        snprintf(out, WR_PATH, "%.*s", (int)(folder ? (ptrdiff_t)strlen(real) : name - real), real);
    }
    free(real);
    return found;
}

static void describe(const weir_file *f, const wr_opening *how, char folder[WR_PATH], probe *p)
{
    const wr_storage_facts *facts = &f->group.handle.storage->facts;
    *folder = 0;
    if (!find_folder(how->path, how->members, folder, &p->base))
        p->base = 0;
    p->proof = wr_file_likeness(f).proof;
    p->disks = facts->disks;
    p->local = facts->local;
    p->mark = facts->mark;
    p->blocks = blocks_of(how->path, how->members, &p->readable);
}

/* Rank 0: nothing is written into the folder of a file that is only read. */
static void make_probe(const char *folder, const wr_opening *how, probe *p)
{
    char path[WR_PATH];
    unsigned long long number;
    if (!(how->mode & WEIR_WRITE) || !*folder || getrandom(&number, sizeof number, 0) < 8)
        return;
    snprintf(p->made, sizeof p->made, ".weir-%016llx", number);
    int fd = wr_path_join(folder, p->made, path, sizeof path)
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    else
        *p->made = 0;
}

static bool sees_probe(const char *folder, const probe *first)
{
    char path[WR_PATH];
    struct stat status;
    wr_patience patience = wr_patience_start(true);
    if (wr_path_join(folder, first->made, path, sizeof path))
        return false;
    while (stat(path, &status)) {
        wr_fail_system(errno, path, -1, "find");
        if (!wr_patience_again(&patience, path))
            return false;
    }
    return true;
}

static bool is_same(const probe *first, const probe *own, const char *folder, bool writes)
{
    if (first->proof == own->proof)
        return true;
    if (first->disks || own->disks)
        return false;
    if (*first->made)
        return first->base == own->base && wr_file_mark_meets(&first->mark, &own->mark) &&
               sees_probe(folder, first);
    const bool alike = first->readable && own->readable && first->blocks == own->blocks;
    const bool untouched =
        first->mark.size == own->mark.size && first->mark.modified == own->mark.modified;
    const bool apart = first->local || own->local; /* disks made from one image have like files */
    return writes ? !apart && untouched && (alike || !own->readable) : alike;
}

static int fail_different(const char *path, const probe *first, const char *own)
{
    enum { SHOWN = 60 };
    wr_fail(WEIR_EDISAGREE,
            "hosts %.*s and %.*s have different files of this name (is the folder shared?)", SHOWN,
            first->host, SHOWN, own);
    wr_error_note_file(path, -1);
    return WEIR_EDISAGREE;
}

int wr_file_compare(weir_file *f, const wr_opening *how)
{
    const wr_transport *t = f->group.handle.world->transport;
    const bool writes = how->mode & WEIR_WRITE;
    char folder[WR_PATH] = "", path[WR_PATH];
    probe first = {0}, own = {0};
    if (t->nodes == 1)
        return wr_fail(WEIR_EDISAGREE, "ranks open different files");
    if (f->group.handle.ready)
        describe(f, how, folder, &own);
    if (t->rank == 0) {
        make_probe(folder, how, &own);
        memcpy(own.host, t->host, sizeof own.host);
        first = own;
    }
    int code = wr_channel_broadcast(&f->group.channel, &first, sizeof first);
    if (!code && t->rank && f->group.handle.ready && !is_same(&first, &own, folder, writes))
        code = fail_different(how->path, &first, t->host);
    code = wr_channel_agree(&f->group.channel, code);
    if (t->rank == 0 && *first.made && !wr_path_join(folder, first.made, path, sizeof path))
        unlink(path);
    return code;
}
