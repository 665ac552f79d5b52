! While a step is written, the next is computed: two fields take turns. The file holds all steps of
! a field, of which each rank has some columns. usage: mpirun -n RANKS overlap FILE
program overlap
  use mpi_f08
  use weir
  use iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n = 300, steps = 8
  type(weir_array) :: history
  type(weir_request), asynchronous :: written
  real(real64), allocatable, asynchronous :: field(:, :, :)
  real(real64) :: last_step(n), spent
  integer :: rank, ranks, first, last, step, now, provided
  character(400) :: file
  ! Between nodes a write goes on by itself only if MPI lets threads call it.
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, file)
  first = rank * n / ranks + 1
  last = (rank + 1) * n / ranks
  allocate (field(n, first:last, 2))
  spent = 0
  call weir_create(MPI_COMM_WORLD, file, history, [n, n, steps], weir_f8, overwrite=.true.)
  do step = 1, steps
    now = 1 + mod(step, 2)
    call compute(field(:, :, now), step) ! the other one may still be on its way
    spent = spent - MPI_Wtime()
    call weir_wait(written)
    spent = spent + MPI_Wtime()
    call weir_iwrite_all(history, field(:, :, now), written, lo=[1, first, step], &
      hi=[n, last, step])
  end do
  call weir_wait(written)
  call weir_close(history)

  call weir_open(MPI_COMM_WORLD, file, history)
  call weir_read_all(history, last_step, lo=[1, n, steps], hi=[n, n, steps])
  call weir_close(history)
  if (rank == 0) print '(a, f6.3, a)', 'waited for ', spent, ' s in all'
  call MPI_Finalize()
  if (any(last_step /= value(n, steps))) error stop 'wrong'
contains
  subroutine compute(u, step)
    real(real64), intent(out) :: u(:, first:)
    integer, intent(in) :: step
    integer :: i, j
    do j = first, last
      do i = 1, n
        u(i, j) = value(j, step)
      end do
    end do
  end subroutine

  real(real64) function value(j, step)
    integer, intent(in) :: j, step
    value = 1000 * step + j
  end function
end program
