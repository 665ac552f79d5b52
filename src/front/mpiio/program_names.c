/* Who calls a function of another library has a relocation for it, whose symbol is undefined there:
 * so the relocations of what is loaded tell which functions can be called.
 *
 * Two kinds of libraries name functions that the program may never call: those of MPI, whose
 * bindings of other languages name all, and tools, which pass on what they see to PMPI_ names. */
#include "front/mpiio/program_names.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A library or the program, as the loader sees it. */
typedef struct object {
    const Elf64_Sym *symbols;
    const char *strings;
    const Elf64_Rela *calls, *others;
    size_t call_bytes, other_bytes;
} object;

/* MPI_File_i..._all and MPI_File_..._begin, also as MPI 4 and Fortran have them. */
static bool is_overlapping(const char *name)
{
    static const char prefix[] = "mpi_file_";
    const char *rest = name + sizeof prefix - 1;
    return !strncasecmp(name, prefix, sizeof prefix - 1) &&
           ((!strncasecmp(rest, "i", 1) && strcasestr(rest, "_all")) || strcasestr(rest, "_begin"));
}

static const char *find_name(const object *o, const Elf64_Rela *relocation, size_t bytes)
{
    for (size_t i = 0; relocation && i < bytes / sizeof *relocation; i++) {
        const Elf64_Sym *symbol = o->symbols + ELF64_R_SYM(relocation[i].r_info);
        const char *name = o->strings + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF && is_overlapping(name))
            return name;
    }
    return NULL;
}

/* The loader has turned most of these into addresses, but not in what it must not write to. */
static const void *place(const struct dl_phdr_info *info, Elf64_Addr at)
{
    return (const void *)(at < info->dlpi_addr ? info->dlpi_addr + at : at);
}

static object read_object(const struct dl_phdr_info *info, const Elf64_Dyn *entry)
{
    object o = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *here = place(info, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            o.symbols = here;
        else if (entry->d_tag == DT_STRTAB)
            o.strings = here;
        else if (entry->d_tag == DT_JMPREL)
            o.calls = here;
        else if (entry->d_tag == DT_PLTRELSZ)
            o.call_bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            o.others = here;
        else if (entry->d_tag == DT_RELASZ)
            o.other_bytes = entry->d_un.d_val;
    }
    return o;
}

static bool is_mpi(const char *path)
{
    static const char prefix[] = "libmpi";
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, prefix, sizeof prefix - 1);
}

static int look(struct dl_phdr_info *info, size_t size, void *user)
{
    const char **found = user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !is_mpi(info->dlpi_name); i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        object o = read_object(info, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        if (!o.symbols || !o.strings)
            continue;
        *found = find_name(&o, o.calls, o.call_bytes);
        if (!*found)
            *found = find_name(&o, o.others, o.other_bytes);
    }
    return *found != NULL;
}

const char *wr_program_names_overlap(void)
{
    const char *found = NULL;
    dl_iterate_phdr(look, &found);
    return found;
}
