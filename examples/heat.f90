! The heat equation on a plate larger than the memory for it: each step walks slabs with a halo of
! one from one array to the other. usage: mpirun -n RANKS heat FOLDER
program heat
  use mpi_f08
  use weir
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 1024, steps = 6, memory = 1024**2 ! arrays of 8 MiB; 1 MiB a rank
  type(weir_array) :: plate(0:1)
  type(weir_slabs) :: loop
  real(real64), pointer :: u(:, :) => null(), v(:, :) => null()
  integer(int64) :: right = 0, all
  integer :: step, i, j, rank
  character(400) :: folder
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, folder)
  call weir_create(MPI_COMM_WORLD, trim(folder)//'/even.npy', plate(0), [n, n], weir_f8)
  call weir_create(MPI_COMM_WORLD, trim(folder)//'/odd.npy', plate(1), [n, n], weir_f8)
  do step = 0, steps
    call weir_slabs_begin(loop, [plate(mod(step + 1, 2))], [plate(mod(step, 2))], memory=memory, &
      halo=[1, 1])
    do while (weir_slabs_next(loop))
      call weir_slab(loop, u, input=1)
      call weir_slab(loop, v, output=1)
      do j = lbound(v, 2), ubound(v, 2) ! indices are those of the plate
        do i = lbound(v, 1), ubound(v, 1)
          if (step == 0 .or. i == 1 .or. i == n .or. j == 1 .or. j == n) then
            v(i, j) = exact(i, j, step)
          else
            v(i, j) = (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4
          end if
          if (v(i, j) == exact(i, j, step)) right = right + 1
        end do
      end do
    end do
    call weir_slabs_end(loop)
    call MPI_Barrier(MPI_COMM_WORLD) ! halos of the next step are what other ranks write in this
  end do
  call weir_discard(plate(0))
  call weir_discard(plate(1))
  call MPI_Allreduce(right, all, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a, i0, a)', steps, ' steps: ', all, ' points right'
  call MPI_Finalize()
  if (all /= (steps + 1) * int(n, int64)**2) error stop 'wrong'
contains
  ! What the mean of neighbours keeps, but for 1 a step.
  real(real64) function exact(i, j, step)
    integer, intent(in) :: i, j, step
    exact = real(i, real64)**2 + real(j, real64)**2 + step
  end function
end program
