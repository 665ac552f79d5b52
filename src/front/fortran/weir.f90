! Sections of arrays larger than memory, between files and the memories of MPI processes, for
! programs in Fortran: docs/fortran.md.
!
! Most of it are interfaces of procedures in C: arrays of any kind and rank, slices of them too,
! reach those as descriptors, without a copy. Arguments that are type(*) here are integers of 4 or
! 8 bytes, where they are not data. `ierr` is 0 or one of the codes below; without it an error
! ends the program with its text. [collective] means that all ranks of the communicator make the
! call.
module weir
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  use mpi, only: MPI_Abort, MPI_COMM_NULL, MPI_COMM_WORLD, MPI_Finalized, MPI_Initialized
  use mpi_f08, only: MPI_Comm
  implicit none
  private

  ! An open array. A copy is the same array; closing sets only what it is given to "not open".
  type, bind(C), public :: weir_array
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: comm = 0
  end type

  ! An access under way.
  type, bind(C), public :: weir_request
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: together = 0, comm = 0
  end type

  ! A slab loop.
  type, bind(C), public :: weir_slabs
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! What an operator would do: bytes of all ranks, accesses of one, bytes of its buffers, and a
  ! line.
  type, bind(C), public :: weir_estimate
    integer(c_int64_t) :: read = 0, written = 0, calls = 0, memory = 0
    character(kind=c_char) :: how(160) = ' '
    integer(c_int64_t), private :: reserved(4) = 0
  end type

  ! Of all elements; those that are not a number count only in nans. exact_min and exact_max are
  ! those of integers, not rounded, and of weir_u8 from 2**63 up their bits; of reals 0.
  type, bind(C), public :: weir_statistics
    integer(c_int64_t) :: count = 0, nans = 0
    real(c_double) :: min = 0, max = 0, mean = 0, deviation = 0
    integer(c_int64_t) :: exact_min = 0, exact_max = 0
    integer(c_int64_t), private :: reserved(2) = 0
  end type

  enum, bind(C)
    enumerator :: weir_bool = 1, weir_i1, weir_i2, weir_i4, weir_i8, weir_u1, weir_u2, weir_u4
    enumerator :: weir_u8, weir_f2, weir_f4, weir_f8, weir_c8, weir_c16
  end enum
  public :: weir_bool, weir_i1, weir_i2, weir_i4, weir_i8, weir_u1, weir_u2, weir_u4
  public :: weir_u8, weir_f2, weir_f4, weir_f8, weir_c8, weir_c16

  enum, bind(C)
    enumerator :: weir_npy, weir_set, weir_raw, weir_netcdf, weir_zarr, weir_zarr2, weir_hdf5
  end enum
  public :: weir_npy, weir_set, weir_raw, weir_netcdf, weir_zarr, weir_zarr2, weir_hdf5

  enum, bind(C)
    enumerator :: weir_panels, weir_gaxpy
  end enum
  public :: weir_panels, weir_gaxpy

  enum, bind(C)
    enumerator :: weir_sum, weir_mean, weir_min, weir_max, weir_deviation
  end enum
  public :: weir_sum, weir_mean, weir_min, weir_max, weir_deviation

  integer(c_int), parameter, public :: weir_ok = 0, weir_einval = -1, weir_enomem = -2, &
    weir_ebudget = -3, weir_erange = -4, weir_eformat = -5, weir_enoent = -6, weir_eexist = -7, &
    weir_eaccess = -8, weir_enospc = -9, weir_eio = -10, weir_etransport = -11, &
    weir_edisagree = -12, weir_eunsupported = -13, weir_einterrupted = -14

  public :: weir_open, weir_create, weir_remove, weir_close, weir_discard, weir_sync
  public :: weir_inquire, weir_type_of, weir_type_name, weir_where, weir_attributes, weir_names
  public :: weir_read, weir_write, weir_read_all, weir_write_all
  public :: weir_iread, weir_iwrite, weir_iread_all, weir_iwrite_all
  public :: weir_wait, weir_wait_for, weir_test, weir_wait_all, weir_progress_poll
  public :: weir_read_distributed, weir_write_distributed, weir_part
  public :: weir_slabs_begin, weir_slabs_next, weir_slabs_end, weir_slab_bounds, weir_slab
  public :: weir_transpose, weir_copy, weir_multiply, weir_relax, weir_median, weir_reduce
  public :: weir_reduce_along, weir_fill
  public :: weir_error_text, weir_version, weir_progress

  ! What is told how far an operator or a loop is; all is 0 where nobody knows it.
  abstract interface
    subroutine weir_progress(done, all) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: done, all
    end subroutine
  end interface

  ! Opens an array on all ranks of a communicator, which is an integer or a type(MPI_Comm). action
  ! is 'read', the default, or 'readwrite'; hints as in docs/tunables.md. [collective]
  interface weir_open
    subroutine open_mpi(comm, path, array, action, hints, ierr) &
        bind(C, name='weir_fortran_open')
      import :: weir_array, c_int
      integer(c_int), intent(in) :: comm
      character(*), intent(in) :: path
      type(weir_array), intent(out) :: array
      character(*), intent(in), optional :: action, hints
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine open_f08(comm, path, array, action, hints, ierr) &
        bind(C, name='weir_fortran_open_f08')
      import :: MPI_Comm, weir_array, c_int
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: path
      type(weir_array), intent(out) :: array
      character(*), intent(in), optional :: action, hints
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Makes an array of a type above, or weir_type_of(u), stored by columns unless its format
  ! cannot. It gets its name when it is closed. fill is what elements are until they are written,
  ! of the array's kind. grid, and block, make a folder of local arrays; tile, shard and codec are
  ! for Zarr and HDF5, format for weir_zarr2; attributes are those of `like`. [collective]
  interface weir_create
    subroutine create_mpi(comm, path, array, shape, type, fill, overwrite, columns, grid, &
        block, tile, shard, codec, format, like, hints, ierr) &
        bind(C, name='weir_fortran_create')
      import :: weir_array, c_int
      integer(c_int), intent(in) :: comm
      character(*), intent(in) :: path
      type(weir_array), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(in) :: type
      type(*), dimension(..), intent(in), optional :: fill
      logical, intent(in), optional :: overwrite, columns
      type(*), dimension(:), intent(in), optional :: grid, block, tile, shard
      character(*), intent(in), optional :: codec
      integer(c_int), intent(in), optional :: format
      type(weir_array), intent(in), optional :: like
      character(*), intent(in), optional :: hints
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine create_f08(comm, path, array, shape, type, fill, overwrite, columns, grid, &
        block, tile, shard, codec, format, like, hints, ierr) &
        bind(C, name='weir_fortran_create_f08')
      import :: MPI_Comm, weir_array, c_int
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: path
      type(weir_array), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(in) :: type
      type(*), dimension(..), intent(in), optional :: fill
      logical, intent(in), optional :: overwrite, columns
      type(*), dimension(:), intent(in), optional :: grid, block, tile, shard
      character(*), intent(in), optional :: codec
      integer(c_int), intent(in), optional :: format
      type(weir_array), intent(in), optional :: like
      character(*), intent(in), optional :: hints
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! [collective]
  interface weir_remove
    subroutine remove_mpi(comm, path, ierr) bind(C, name='weir_fortran_remove')
      import :: c_int
      integer(c_int), intent(in) :: comm
      character(*), intent(in) :: path
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine remove_f08(comm, path, ierr) bind(C, name='weir_fortran_remove_f08')
      import :: MPI_Comm, c_int
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: path
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  interface
    ! Waits for all accesses; a new array gets its name. [collective]
    subroutine weir_close(array, ierr) bind(C, name='weir_fortran_close')
      import :: weir_array, c_int
      type(weir_array), intent(inout) :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! The same, but of a new array nothing is left. [collective]
    subroutine weir_discard(array, ierr) bind(C, name='weir_fortran_discard')
      import :: weir_array, c_int
      type(weir_array), intent(inout) :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! What was written before outlasts a power failure. [collective]
    subroutine weir_sync(array, ierr) bind(C, name='weir_fortran_sync')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! shape may be longer than the array has dimensions, and is 1 there; members is 0 for one file.
    subroutine weir_inquire(array, rank, shape, type, columns, bytes, format, members, ierr) &
        bind(C, name='weir_fortran_inquire')
      import :: weir_array, c_int, c_int64_t
      type(weir_array), intent(in) :: array
      integer(c_int), intent(out), optional :: rank
      type(*), dimension(:), intent(inout), optional :: shape
      integer(c_int), intent(out), optional :: type
      logical, intent(out), optional :: columns
      integer(c_int64_t), intent(out), optional :: bytes
      integer(c_int), intent(out), optional :: format, members, ierr
    end subroutine

    ! The type of arrays that hold what u holds; 0: there is none.
    integer(c_int) function weir_type_of(u) bind(C, name='weir_fortran_type_of')
      import :: c_int
      type(*), dimension(..), intent(in) :: u
    end function
  end interface

  ! Between a section of an array and u: of dimension d the indices lo(d):hi(d):step(d), from 1 on
  ! and inclusive. Without lo and hi all of them; with lo alone as many as u has. u has the
  ! section's shape, dimensions of extent 1 may be missing, and the kind of the array's type,
  ! unless convert is true. `_all`: [collective], also for ranks whose section is empty; otherwise
  ! by one rank alone. The forms with i return at once; u is the library's until their request is
  ! over.
  interface
    subroutine weir_read(array, u, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_read')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(inout) :: u
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_write(array, u, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_write')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(in) :: u
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_read_all(array, u, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_read_all')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(inout) :: u
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_write_all(array, u, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_write_all')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(in) :: u
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_iread(array, u, request, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_iread')
      import :: weir_array, c_int, weir_request
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(inout), asynchronous :: u
      type(weir_request), intent(out) :: request
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_iwrite(array, u, request, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_iwrite')
      import :: weir_array, c_int, weir_request
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(in), asynchronous :: u
      type(weir_request), intent(out) :: request
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_iread_all(array, u, request, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_iread_all')
      import :: weir_array, c_int, weir_request
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(inout), asynchronous :: u
      type(weir_request), intent(out) :: request
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_iwrite_all(array, u, request, lo, hi, step, convert, ierr) &
        bind(C, name='weir_fortran_iwrite_all')
      import :: weir_array, c_int, weir_request
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(in), asynchronous :: u
      type(weir_request), intent(out) :: request
      type(*), dimension(:), intent(in), optional :: lo, hi, step
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_wait(request, ierr) bind(C, name='weir_fortran_wait')
      import :: weir_request, c_int
      type(weir_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! So many seconds at most; over tells.
    subroutine weir_wait_for(request, seconds, over, ierr) bind(C, name='weir_fortran_wait_for')
      import :: weir_request, c_double, c_int
      type(weir_request), intent(inout) :: request
      real(c_double), intent(in) :: seconds
      logical, intent(out) :: over
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_test(request, over, ierr) bind(C, name='weir_fortran_test')
      import :: weir_request, c_int
      type(weir_request), intent(inout) :: request
      logical, intent(out) :: over
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! For all of them, whatever errors there are; the first of these is returned.
    subroutine weir_wait_all(requests, ierr) bind(C, name='weir_fortran_wait_all')
      import :: weir_request, c_int
      type(weir_request), dimension(:), intent(inout) :: requests
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Moves accesses under way that nothing else moves: docs/overlap.md.
    subroutine weir_progress_poll() bind(C, name='weir_progress_poll')
    end subroutine
  end interface

  ! All of an array that is dealt to a grid of ranks, numbered with the last dimension fastest as
  ! in MPI_Cart_create: by blocks of so many indices, round-robin, or one block each where block
  ! is 0 or missing. Without grid it is as square as can be. u is this rank's part. [collective]
  interface
    subroutine weir_read_distributed(array, u, grid, block, convert, ierr) &
        bind(C, name='weir_fortran_read_distributed')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(inout) :: u
      type(*), dimension(:), intent(in), optional :: grid, block
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_write_distributed(array, u, grid, block, convert, ierr) &
        bind(C, name='weir_fortran_write_distributed')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(in) :: u
      type(*), dimension(:), intent(in), optional :: grid, block
      logical, intent(in), optional :: convert
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! The shape of this rank's part; not collective.
    subroutine weir_part(array, shape, grid, block, ierr) bind(C, name='weir_fortran_part')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(:), intent(inout) :: shape
      type(*), dimension(:), intent(in), optional :: grid, block
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Walks arrays of one shape in slabs that fit memory (bytes of a rank; 64 MiB), with a halo of
  ! so many indices on both sides of what is read, in slabs of block indices (0: as many as fit).
  ! deal: slabs go round-robin to ranks instead of one part to each. together: by collective
  ! accesses; then all ranks call next until it is false. [collective]
  interface
    subroutine weir_slabs_begin(loop, inputs, outputs, memory, halo, block, deal, together, &
        progress, ierr) bind(C, name='weir_fortran_slabs_begin')
      import :: weir_slabs, weir_array, weir_progress, c_int
      type(weir_slabs), intent(out) :: loop
      type(weir_array), dimension(:), intent(in), optional :: inputs, outputs
      type(*), dimension(..), intent(in), optional :: memory
      type(*), dimension(:), intent(in), optional :: halo, block
      logical, intent(in), optional :: deal, together
      procedure(weir_progress), optional :: progress
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Whether there is another slab; it is there until the next call.
    logical(c_bool) function weir_slabs_next(loop, ierr) bind(C, name='weir_fortran_slabs_next')
      import :: weir_slabs, c_int, c_bool
      type(weir_slabs), intent(inout) :: loop
      integer(c_int), intent(out), optional :: ierr
    end function

    ! Waits for what is written.
    subroutine weir_slabs_end(loop, ierr) bind(C, name='weir_fortran_slabs_end')
      import :: weir_slabs, c_int
      type(weir_slabs), intent(inout) :: loop
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! The slab's indices, without halo.
    subroutine weir_slab_bounds(loop, lo, hi, ierr) bind(C, name='weir_fortran_slab_bounds')
      import :: weir_slabs, c_int
      type(weir_slabs), intent(in) :: loop
      type(*), dimension(:), intent(inout), optional :: lo, hi
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Points at the slab of an input, with its halo as far as the array goes, or of an output, which
  ! is to be filled. Its bounds are the array's indices.
  interface weir_slab
    subroutine slab_l1(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_l1')
      import :: weir_slabs, c_int, c_bool
      type(weir_slabs), intent(in) :: loop
      logical(c_bool), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_i1(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_i1')
      import :: weir_slabs, c_int, c_int8_t
      type(weir_slabs), intent(in) :: loop
      integer(c_int8_t), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_i2(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_i2')
      import :: weir_slabs, c_int, c_int16_t
      type(weir_slabs), intent(in) :: loop
      integer(c_int16_t), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_i4(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_i4')
      import :: weir_slabs, c_int, c_int32_t
      type(weir_slabs), intent(in) :: loop
      integer(c_int32_t), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_i8(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_i8')
      import :: weir_slabs, c_int, c_int64_t
      type(weir_slabs), intent(in) :: loop
      integer(c_int64_t), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_f4(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_f4')
      import :: weir_slabs, c_int, c_float
      type(weir_slabs), intent(in) :: loop
      real(c_float), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_f8(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_f8')
      import :: weir_slabs, c_int, c_double
      type(weir_slabs), intent(in) :: loop
      real(c_double), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_c8(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_c8')
      import :: weir_slabs, c_int, c_float_complex
      type(weir_slabs), intent(in) :: loop
      complex(c_float_complex), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine slab_c16(loop, pointer, input, output, ierr) bind(C, name='weir_fortran_slab_c16')
      import :: weir_slabs, c_int, c_double_complex
      type(weir_slabs), intent(in) :: loop
      complex(c_double_complex), dimension(..), pointer, intent(out) :: pointer
      integer(c_int), intent(in), optional :: input, output
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Operators on whole arrays, with so many bytes of memory (64 MiB) on each rank; direct: every
  ! rank accesses arrays alone. With estimate nothing is done, and it is filled. [collective]
  interface
    ! to(i, j, ...) is the element of `from` whose index in dimension axes(1) is i, in axes(2) is
    ! j and so on; without axes dimensions are in reverse.
    subroutine weir_transpose(from, to, axes, memory, direct, progress, estimate, ierr) &
        bind(C, name='weir_fortran_transpose')
      import :: weir_array, weir_estimate, weir_progress, c_int
      type(weir_array), intent(in) :: from, to
      type(*), dimension(:), intent(in), optional :: axes
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Types, formats and order may differ.
    subroutine weir_copy(from, to, memory, ierr) bind(C, name='weir_fortran_copy')
      import :: weir_array, c_int
      type(weir_array), intent(in) :: from, to
      type(*), dimension(..), intent(in), optional :: memory
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! c = matmul(a, b), of reals or complex numbers; method is weir_panels or weir_gaxpy.
    subroutine weir_multiply(a, b, c, method, memory, direct, progress, estimate, ierr) &
        bind(C, name='weir_fortran_multiply')
      import :: weir_array, weir_estimate, weir_progress, c_int
      type(weir_array), intent(in) :: a, b, c
      integer(c_int), intent(in), optional :: method
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Jacobi iterations for Laplace's equation, at most so many, or until no element changes by
    ! more than the tolerance; to(last) has the result. exchange: boundaries come from other
    ! ranks' memory.
    subroutine weir_relax(from, to, iterations, tolerance, exchange, done, residual, last, memory, &
        direct, progress, estimate, ierr) bind(C, name='weir_fortran_relax')
      import :: weir_array, weir_estimate, weir_progress, c_int, c_double
      type(weir_array), intent(in) :: from, to(2)
      integer(c_int), intent(in), optional :: iterations
      real(c_double), intent(in), optional :: tolerance
      logical, intent(in), optional :: exchange
      integer(c_int), intent(out), optional :: done
      real(c_double), intent(out), optional :: residual
      integer(c_int), intent(out) :: last
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Each element becomes the median of a window of odd width around it.
    subroutine weir_median(from, to, window, memory, direct, progress, estimate, ierr) &
        bind(C, name='weir_fortran_median')
      import :: weir_array, weir_estimate, weir_progress, c_int
      type(weir_array), intent(in) :: from, to
      integer(c_int), intent(in) :: window
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine weir_reduce(array, statistics, memory, direct, progress, estimate, ierr) &
        bind(C, name='weir_fortran_reduce')
      import :: weir_array, weir_statistics, weir_estimate, weir_progress, c_int
      type(weir_array), intent(in) :: array
      type(weir_statistics), intent(inout) :: statistics
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! `to` has what is left of `from`, of any type but complex, when kind (weir_sum, weir_mean and so
    ! on) is taken along the dimensions dim: one, or several. With skip_nans, what is not a number
    ! does not count.
    subroutine weir_reduce_along(from, to, kind, dim, skip_nans, memory, direct, progress, &
        estimate, ierr) bind(C, name='weir_fortran_reduce_along')
      import :: weir_array, weir_estimate, weir_progress, c_int
      type(weir_array), intent(in) :: from, to
      integer(c_int), intent(in) :: kind
      type(*), dimension(..), intent(in) :: dim
      logical, intent(in), optional :: skip_nans
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! The value has the kind of the array's type.
    subroutine weir_fill(array, value, memory, direct, progress, estimate, ierr) &
        bind(C, name='weir_fortran_fill')
      import :: weir_array, weir_estimate, weir_progress, c_int
      type(weir_array), intent(in) :: array
      type(*), dimension(..), intent(in) :: value
      type(*), dimension(..), intent(in), optional :: memory
      logical, intent(in), optional :: direct
      procedure(weir_progress), optional :: progress
      type(weir_estimate), intent(inout), optional :: estimate
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  interface
    type(c_ptr) function said(array, what) bind(C, name='weir_fortran_said')
      import :: weir_array, c_int, c_ptr
      type(weir_array), intent(in) :: array
      integer(c_int), value :: what
    end function

    integer(c_int) function error_text(text, size) bind(C, name='weir_fortran_error_text')
      import :: c_int, c_char
      character(kind=c_char), intent(out) :: text(*)
      integer(c_int), value :: size
    end function

    type(c_ptr) function type_name(type) bind(C, name='weir_type_name')
      import :: c_int, c_ptr
      integer(c_int), value :: type
    end function

    type(c_ptr) function version() bind(C, name='weir_version')
      import :: c_ptr
    end function

    integer(c_int) function usleep(microseconds) bind(C)
      import :: c_int
      integer(c_int), value :: microseconds
    end function

    integer(c_size_t) function strlen(text) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! The line that tells of the latest error.
  function weir_error_text() result(text)
    character(:), allocatable :: text
    character(kind=c_char) :: line(600)
    integer(c_int) :: length, i
    length = error_text(line, size(line, kind=c_int))
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = line(i)
    end do
  end function

  ! Of the library in use, and the MPI it is for.
  function weir_version() result(text)
    character(:), allocatable :: text
    text = text_of(version())
  end function

  ! 'f8' and so on; '?' for what is no type.
  function weir_type_name(type) result(text)
    integer(c_int), intent(in) :: type
    character(:), allocatable :: text
    text = text_of(type_name(type))
  end function

  ! The file or folder an array is in; a new one has another name until it is closed.
  function weir_where(array) result(text)
    type(weir_array), intent(in) :: array
    character(:), allocatable :: text
    text = text_of(said(array, 0_c_int))
  end function

  ! What NetCDF, HDF5 and Zarr say of an array, and names of its dimensions, as JSON.
  function weir_attributes(array) result(text)
    type(weir_array), intent(in) :: array
    character(:), allocatable :: text
    text = text_of(said(array, 1_c_int))
  end function

  function weir_names(array) result(text)
    type(weir_array), intent(in) :: array
    character(:), allocatable :: text
    text = text_of(said(array, 2_c_int))
  end function

  function text_of(from) result(text)
    type(c_ptr), intent(in) :: from
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: length, i
    length = strlen(from)
    call c_f_pointer(from, letters, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function

  ! Which C cannot ask MPI before that runs.
  integer(c_int) function null_communicator() bind(C, name='weir_fortran_comm_null')
    null_communicator = MPI_COMM_NULL
  end function

  ! Ends the program with the latest error, after what it has printed. Where another rank is about to
  ! say it and to end all, this one gives it time, but says it too if that one goes on.
  subroutine stop_program(elsewhere) bind(C, name='weir_fortran_stop')
    integer(c_int), value :: elsewhere
    integer :: ierr
    logical :: begun, over
    flush (output_unit)
    if (elsewhere /= 0) call sleep(5)
    write (error_unit, '(2a)') 'weir: ', weir_error_text()
    flush (error_unit)
    call MPI_Initialized(begun, ierr)
    call MPI_Finalized(over, ierr)
    ! other ranks may wait for this one, so it does not end alone; launchers may drop what they have
    ! not passed on
    if (begun .and. .not. over) then
      ierr = usleep(500000_c_int)
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
    stop 1, quiet=.true.
  end subroutine
end module
