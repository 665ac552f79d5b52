/* Local arrays on several disks: neighbours share one (PASSION_oc_disk_map). Here disks are folders
 * in the array's; on a cluster they are where disks are mounted. The array stays in the folder.
 * usage: mpirun -n RANKS disk_map FOLDER */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/weir.h>

enum { ROWS = 100, COLUMNS = 50, EACH = 2, DISKS = 3 }; /* EACH rank has so many local arrays */

static const char *const disk[DISKS] = {"disk0", "disk1", "disk2"};

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

static int count_files(const char *on)
{
    char folder[100];
    int files = 0;
    snprintf(folder, sizeof folder, "mapped/%s", on);
    DIR *all = opendir(folder);
    for (struct dirent *one; all && (one = readdir(all));)
        files += one->d_name[0] != '.';
    if (all)
        closedir(all);
    return files;
}

int main(int argc, char **argv)
{
    static double local[ROWS * COLUMNS];
    int rank, ranks;
    weir_array *array;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: disk_map FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    const int members = ranks * EACH;
    int *map = malloc((size_t)members * sizeof *map);
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS * members}};
    weir_array_options options = {.overwrite = 1, .disks = DISKS, .disk = disk, .map = map};
    info.members = members;
    info.distribution.grid[1] = members;
    stop_if(weir_disk_map(DISKS, members, 1, map));
    stop_if(weir_array_create(MPI_COMM_WORLD, "mapped", &info, &options, NULL, &array));
    for (int m = rank * EACH; m < (rank + 1) * EACH; m++) {
        for (int i = 0; i < ROWS * COLUMNS; i++)
            local[i] = m * 1e6 + i;
        stop_if(weir_array_write(array, &(weir_selection){.local = m + 1}, NULL, local, NULL));
    }
    stop_if(weir_array_close(array));

    int64_t wrong = 0; /* opened again it is one array, wherever its parts are */
    stop_if(weir_array_open(MPI_COMM_WORLD, "mapped", WEIR_READ, NULL, &array));
    for (int m = rank * EACH; m < (rank + 1) * EACH; m++) {
        int64_t lo[] = {0, m * COLUMNS}, hi[] = {ROWS, (m + 1) * COLUMNS};
        stop_if(weir_array_read(array, &(weir_selection){.lo = lo, .hi = hi}, NULL, local, NULL));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            wrong += local[i] != m * 1e6 + i;
    }
    stop_if(weir_array_close(array));
    for (int d = 0; d < DISKS; d++) {
        int files = count_files(disk[d]);
        for (int m = 0; m < members; m++)
            files -= map[m] == d;
        wrong += files != 0;
    }
    printf("rank %d: local arrays on disks %d to %d, %lld wrong\n", rank, map[rank * EACH],
           map[(rank + 1) * EACH - 1], (long long)wrong);
    free(map);
    MPI_Finalize();
    return wrong != 0;
}
