/* Which functions of MPI a program has been linked with. */
#ifndef WR_FRONT_MPIIO_PROGRAM_NAMES_H
#define WR_FRONT_MPIIO_PROGRAM_NAMES_H

/* A function by which the program can have a collective transfer under way while it is inside MPI,
 * such as "MPI_File_iwrite_all", if it or a library it has loaded names one; otherwise NULL. What
 * is loaded later is not seen. The text belongs to the library that has it. */
const char *wr_program_names_overlap(void);

#endif
