/* The heat equation on a plate larger than the memory for it: each step walks slabs with a halo of
 * one from one array to the other. usage: mpirun -n RANKS heat FOLDER */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

enum { N = 2048, STEPS = 6, MEMORY = 2 << 20 }; /* arrays of 32 MiB; 2 MiB of buffers a rank */
static int64_t right;                           /* points that came out so */

static void stop_if(int code)
{
    char text[600];
    if (code && weir_error_format(weir_error_last(), text, sizeof text))
        fprintf(stderr, "%s\n", text), MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Points become the mean of their neighbours; i * i + j * j + step must come out, exactly. */
static void compute(const weir_slab *slab, int step)
{
    const int64_t row = slab->in_stride[0], rest = row - (slab->hi[1] - slab->lo[1]);
    const double *u = slab->in[0];
    double *v = slab->out[0];
    for (int64_t i = slab->lo[0]; i < slab->hi[0]; i++, u += rest)
        for (int64_t j = slab->lo[1]; j < slab->hi[1]; j++, u++, v++) {
            int given = step == 0 || i == 0 || i == N - 1 || j == 0 || j == N - 1;
            double exact = (double)(i * i + j * j + step);
            *v = given ? exact : (u[-row] + u[row] + u[-1] + u[1]) / 4;
            right += *v == exact;
        }
}

int main(int argc, char **argv)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {N, N}};
    weir_slabs_options walk = {.inputs = 1, .outputs = 1, .memory = MEMORY, .halo = {1, 1}};
    weir_array *plate[2];
    MPI_Init(&argc, &argv);
    if (argc < 2 || chdir(argv[1]))
        return fprintf(stderr, "usage: heat FOLDER\n"), MPI_Abort(MPI_COMM_WORLD, 2), 2;
    stop_if(weir_array_create(MPI_COMM_WORLD, "even.npy", &info, NULL, NULL, &plate[0]));
    stop_if(weir_array_create(MPI_COMM_WORLD, "odd.npy", &info, NULL, NULL, &plate[1]));
    for (int step = 0; step <= STEPS; step++) {
        weir_slabs *slabs;
        weir_slab slab;
        walk.input = &plate[(step + 1) % 2];
        walk.output = &plate[step % 2];
        stop_if(weir_slabs_begin(&walk, &slabs));
        while (weir_slabs_next(slabs, &slab) > 0)
            compute(&slab, step);
        stop_if(weir_slabs_end(slabs));
        MPI_Barrier(MPI_COMM_WORLD); /* halos of the next step are what other ranks write in this */
    }
    printf("%d steps: %lld points right\n", STEPS, (long long)right);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    stop_if(weir_array_discard(plate[0]));
    stop_if(weir_array_discard(plate[1]));
    MPI_Finalize();
    return right != (STEPS + 1) * (int64_t)N * N;
}
