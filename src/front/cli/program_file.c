/* A program's file says by its headers who loads it, the loader says with which libraries, and
 * their symbols which functions can be called. */
#include "program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "run_environment.h"

/* A file in memory; all of its numbers may be wrong. */
typedef struct image {
    const char *bytes;
    size_t size;
} image;

static image map_file(const char *path)
{
    struct stat s;
    image i = {0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return i;
    if (!fstat(file, &s) && S_ISREG(s.st_mode) && s.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED)
            i = (image){bytes, (size_t)s.st_size};
    }
    close(file);
    return i;
}

static void unmap(image i)
{
    if (i.bytes)
        munmap((void *)(uintptr_t)i.bytes, i.size);
}

/* NULL if they are not all there. */
static const void *part(image i, uint64_t at, uint64_t size)
{
    return at <= i.size && size <= i.size - at ? i.bytes + at : NULL;
}

/* Records lie at multiples of 8. */
static const void *record(image i, uint64_t at, uint64_t size)
{
    return at % 8 ? NULL : part(i, at, size);
}

static const Elf64_Ehdr *header_of(image i)
{
    const Elf64_Ehdr *e = part(i, 0, sizeof *e);
    return e && !memcmp(e->e_ident, ELFMAG, SELFMAG) ? e : NULL;
}

static bool is_foreign(const Elf64_Ehdr *e)
{
    image own = map_file("/proc/self/exe");
    const Elf64_Ehdr *ours = header_of(own);
    const bool foreign = ours && (e->e_ident[EI_CLASS] != ours->e_ident[EI_CLASS] ||
                                  e->e_machine != ours->e_machine);
    unmap(own);
    return foreign;
}

/* Who loads the program's libraries; NULL: nobody, or *cut. */
static const char *interpreter_of(image i, const Elf64_Ehdr *e, bool *cut)
{
    const char *found = NULL;
    for (uint64_t n = 0; n < e->e_phnum; n++) {
        const Elf64_Phdr *p = record(i, e->e_phoff + n * sizeof *p, sizeof *p);
        const char *content = p ? part(i, p->p_offset, p->p_filesz) : NULL;
        *cut = *cut || !content;
        if (content && p->p_type == PT_INTERP && p->p_filesz && !content[p->p_filesz - 1])
            found = content;
    }
    return *cut ? NULL : found;
}

/* --- functions --- */

/* Those for which src/front/mpiio/program_names.c asks for threads. */
static bool is_overlapping(const char *name)
{
    static const char prefix[] = "mpi_file_";
    const char *rest = name + sizeof prefix - 1;
    return !strncasecmp(name, prefix, sizeof prefix - 1) &&
           ((!strncasecmp(rest, "i", 1) && strcasestr(rest, "_all")) || strcasestr(rest, "_begin"));
}

/* Sections are used, as relocations would have to be found by addresses; without them, no names. */
static void find_overlap(image i, const Elf64_Shdr *section, const Elf64_Shdr *names, char out[100])
{
    const char *text = part(i, names->sh_offset, names->sh_size);
    if (!text || !names->sh_size || text[names->sh_size - 1])
        return;
    for (uint64_t n = 0; n < section->sh_size / sizeof(Elf64_Sym); n++) {
        const Elf64_Sym *s = record(i, section->sh_offset + n * sizeof *s, sizeof *s);
        if (!s)
            return;
        if (s->st_shndx == SHN_UNDEF && s->st_name < names->sh_size &&
            is_overlapping(text + s->st_name)) {
            snprintf(out, 100, "%s", text + s->st_name);
            return;
        }
    }
}

static void look_for_overlap(const char *path, char out[100])
{
    image i = map_file(path);
    const Elf64_Ehdr *e = header_of(i);
    for (uint64_t n = 0; e && !*out && n < e->e_shnum; n++) {
        const Elf64_Shdr *s = record(i, e->e_shoff + n * sizeof *s, sizeof *s);
        const Elf64_Shdr *names =
            s && s->sh_type == SHT_DYNSYM
                ? record(i, e->e_shoff + (uint64_t)s->sh_link * sizeof *s, sizeof *s)
                : NULL;
        if (names)
            find_overlap(i, s, names, out);
    }
    unmap(i);
}

/* --- libraries --- */

static const struct {
    const char *prefix;
    enum cli_mpi mpi;
} libraries[] = {{"libmpi.so.40", CLI_MPI_OPENMPI},
                 {"libopen-rte.so", CLI_MPI_OPENMPI},
                 {"libprrte.so", CLI_MPI_OPENMPI},
                 {"libmpich.so", CLI_MPI_MPICH},
                 {"libmpi.so.12", CLI_MPI_MPICH}};

/* A line of the loader: "NAME => PATH (ADDRESS)". MPI names all functions, and so do we. */
static void take_library(char *line, cli_program *out)
{
    char *name = line + strspn(line, "\t "), *path = strstr(name, "=> /");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !out->mpi; i++)
        if (!strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix)))
            out->mpi = libraries[i].mpi;
    if (!path || !strncmp(name, "libmpi", 6) || !strncmp(name, "libweir", 7) || *out->overlaps)
        return;
    path += strlen("=> ");
    char *end = strrchr(path, ' ');
    if (end)
        *end = 0;
    look_for_overlap(path, out->overlaps);
}

static void list_libraries(const char *interpreter, cli_program *out)
{
    char line[CLI_PATH + 200];
    int ends[2];
    if (pipe(ends))
        return;
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(ends[0]);
        execl(interpreter, interpreter, "--list", out->path, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    while (lines && fgets(line, sizeof line, lines))
        take_library(line, out);
    if (lines)
        fclose(lines);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* --- the program --- */

bool cli_program_find(const char *name, char path[CLI_PATH])
{
    const char *folders = cli_variable_get("PATH");
    struct stat s;
    if (strchr(name, '/')) {
        snprintf(path, CLI_PATH, "%s", name);
        return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
    }
    while (folders && *folders && *name) {
        const int length = (int)strcspn(folders, ":");
        snprintf(path, CLI_PATH, "%.*s/%s", length, length ? folders : ".", name);
        if (!stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* As the kernel decides that a program must not be told what to load. */
static bool is_privileged(const char *path)
{
    struct stat s;
    if (stat(path, &s))
        return false;
    return ((s.st_mode & S_ISUID) && s.st_uid != getuid()) ||
           ((s.st_mode & S_ISGID) && (s.st_mode & S_IXGRP) && s.st_gid != getgid()) ||
           (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

bool cli_program_look(const char *name, cli_program *out)
{
    *out = (cli_program){0};
    if (!cli_program_find(name, out->path))
        return false;
    image i = map_file(out->path);
    const Elf64_Ehdr *e = header_of(i);
    out->foreign = e && is_foreign(e);
    const char *interpreter = e && !out->foreign ? interpreter_of(i, e, &out->cut) : NULL;
    out->is_static = e && !out->foreign && !out->cut && !interpreter;
    out->privileged = is_privileged(out->path);
    if (interpreter) {
        look_for_overlap(out->path, out->overlaps);
        list_libraries(interpreter, out);
    }
    unmap(i);
    return true;
}
