! A program that goes on where it was, on any number of ranks: the file holds one array, whoever
! wrote which columns of it. usage: mpirun -n RANKS restart FILE STEPS
program restart
  use mpi
  use weir
  use iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n = 600
  type(weir_array) :: state
  real(real64), allocatable :: u(:, :)
  integer :: rank, ranks, first, last, step, steps, begun, i, j, ierr
  logical :: mine, right
  character(400) :: file, word
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, file)
  call get_command_argument(2, word)
  read (word, *) steps
  first = rank * n / ranks + 1 ! this rank's columns
  last = (rank + 1) * n / ranks
  allocate (u(n, first:last), source=0d0)

  call weir_open(MPI_COMM_WORLD, file, state, ierr=ierr)
  if (ierr == weir_ok) then
    call weir_read_all(state, u, lo=[1, first])
    call weir_close(state)
  else if (ierr /= weir_enoent) then
    error stop 'the file is there, but is no state'
  end if
  begun = 0
  if (last >= first) begun = nint(u(1, first) / (1 + first))
  call MPI_Allreduce(MPI_IN_PLACE, begun, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)

  do step = begun + 1, steps
    do j = first, last
      do i = 1, n
        u(i, j) = u(i, j) + i + j
      end do
    end do
  end do

  ! The old file stays until the new one is whole.
  call weir_create(MPI_COMM_WORLD, file, state, [n, n], weir_f8, overwrite=.true.)
  call weir_write_all(state, u, lo=[1, first])
  call weir_close(state)

  mine = all([((u(i, j) == real(steps, real64) * (i + j), i = 1, n), j = first, last)])
  call MPI_Allreduce(mine, right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0, a, i0, a, i0, a, l1)', ranks, ' ranks, steps ', begun, ' to ', steps, &
    ', right: ', right
  call MPI_Finalize(ierr)
  if (.not. right) error stop 'wrong'
end program
