/* Every function that libweir_mpiio.so has, in one list: M(name) is MPI_name and PMPI_name, P(name)
 * has that name only, L(name) likewise and seven arguments instead of at most six. The engine has
 * the same, which a test checks. */
#ifndef WR_PRELOAD_NAMES_H
#define WR_PRELOAD_NAMES_H

/* Those whose counts may be large, which have a second name in MPI 4. */
#define WR_COUNTED_NAMES(M, s)                                                                     \
    M(File_get_type_extent##s)                                                                     \
    M(File_read##s)                                                                                \
    M(File_read_all##s)                                                                            \
    M(File_read_all_begin##s)                                                                      \
    M(File_read_at##s)                                                                             \
    M(File_read_at_all##s)                                                                         \
    M(File_read_at_all_begin##s)                                                                   \
    M(File_read_ordered##s)                                                                        \
    M(File_read_ordered_begin##s)                                                                  \
    M(File_read_shared##s)                                                                         \
    M(File_write##s)                                                                               \
    M(File_write_all##s)                                                                           \
    M(File_write_all_begin##s)                                                                     \
    M(File_write_at##s)                                                                            \
    M(File_write_at_all##s)                                                                        \
    M(File_write_at_all_begin##s)                                                                  \
    M(File_write_ordered##s)                                                                       \
    M(File_write_ordered_begin##s)                                                                 \
    M(File_write_shared##s)                                                                        \
    M(File_iread##s)                                                                               \
    M(File_iread_all##s)                                                                           \
    M(File_iread_at##s)                                                                            \
    M(File_iread_at_all##s)                                                                        \
    M(File_iread_shared##s)                                                                        \
    M(File_iwrite##s)                                                                              \
    M(File_iwrite_all##s)                                                                          \
    M(File_iwrite_at##s)                                                                           \
    M(File_iwrite_at_all##s)                                                                       \
    M(File_iwrite_shared##s)                                                                       \
    M(Register_datarep##s)

#define WR_FILE_NAMES(M)                                                                           \
    M(File_c2f)                                                                                    \
    M(File_call_errhandler)                                                                        \
    M(File_close)                                                                                  \
    M(File_create_errhandler)                                                                      \
    M(File_delete)                                                                                 \
    M(File_f2c)                                                                                    \
    M(File_get_amode)                                                                              \
    M(File_get_atomicity)                                                                          \
    M(File_get_byte_offset)                                                                        \
    M(File_get_errhandler)                                                                         \
    M(File_get_group)                                                                              \
    M(File_get_info)                                                                               \
    M(File_get_position)                                                                           \
    M(File_get_position_shared)                                                                    \
    M(File_get_size)                                                                               \
    M(File_get_view)                                                                               \
    M(File_open)                                                                                   \
    M(File_preallocate)                                                                            \
    M(File_read_all_end)                                                                           \
    M(File_read_at_all_end)                                                                        \
    M(File_read_ordered_end)                                                                       \
    M(File_seek)                                                                                   \
    M(File_seek_shared)                                                                            \
    M(File_set_atomicity)                                                                          \
    M(File_set_errhandler)                                                                         \
    M(File_set_info)                                                                               \
    M(File_set_size)                                                                               \
    M(File_set_view)                                                                               \
    M(File_sync)                                                                                   \
    M(File_write_all_end)                                                                          \
    M(File_write_at_all_end)                                                                       \
    M(File_write_ordered_end)

#define WR_OTHER_NAMES(M)                                                                          \
    M(Cancel)                                                                                      \
    M(Error_string)                                                                                \
    M(Init)                                                                                        \
    M(Init_thread)                                                                                 \
    M(Query_thread)                                                                                \
    M(Request_free)                                                                                \
    M(Request_get_status)                                                                          \
    M(Test)                                                                                        \
    M(Testall)                                                                                     \
    M(Testany)                                                                                     \
    M(Testsome)                                                                                    \
    M(Wait)                                                                                        \
    M(Waitall)                                                                                     \
    M(Waitany)                                                                                     \
    M(Waitsome)

/* gfortran's names of what makes error handlers and representations. */
#define WR_FORTRAN_NAMES(P, L)                                                                     \
    P(mpi_file_create_errhandler_)                                                                 \
    P(mpi_file_create_errhandler_f08_)                                                             \
    L(mpi_register_datarep_)                                                                       \
    L(mpi_register_datarep_f08_)

#if WR_MPI_VERSION >= 4
#define WR_LARGE_NAMES(M) WR_COUNTED_NAMES(M, _c)
#else
#define WR_LARGE_NAMES(M)
#endif

#if WR_MPI_VERSION >= 5
#define WR_INTEGER_NAMES(M) M(File_fromint) M(File_toint)
#else
#define WR_INTEGER_NAMES(M)
#endif

/* What Open MPI's C++ bindings have instead of MPI_File_create_errhandler. */
#ifdef WR_OPEN_MPI
#define WR_CXX_NAMES(P) P(ompi_cxx_errhandler_create_file)
#else
#define WR_CXX_NAMES(P)
#endif

#define WR_NAMES(M, P, L)                                                                          \
    WR_COUNTED_NAMES(M, )                                                                          \
    WR_LARGE_NAMES(M)                                                                              \
    WR_FILE_NAMES(M)                                                                               \
    WR_INTEGER_NAMES(M)                                                                            \
    WR_OTHER_NAMES(M)                                                                              \
    WR_FORTRAN_NAMES(P, L)                                                                         \
    WR_CXX_NAMES(P)

#endif
