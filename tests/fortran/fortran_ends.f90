! What fortran_python.py looks at from outside. usage: fortran_ends WHAT FOLDER
program fortran_ends
  use mpi_f08
  use weir
  use iso_c_binding
  use iso_fortran_env
  implicit none
  character(400) :: what, folder
  integer :: me
  type(weir_array) :: a
  call get_command_argument(1, what)
  call get_command_argument(2, folder)
  if (what == 'alone') call without_mpi()
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  if (me == 0) print '(a)', 'before'
  select case (what)
  case ('together') ! all ranks have this error
    call weir_open(MPI_COMM_WORLD, trim(folder)//'/missing.npy', a)
  case ('some') ! all ranks of another communicator, whose ranks are other numbers, in a request
    call some()
  case ('one') ! and only one has this: the others wait for it
    call weir_open(MPI_COMM_WORLD, trim(folder)//'/f4.npy', a)
    if (me == 0) call weir_read(a, what)
    call MPI_Barrier(MPI_COMM_WORLD)
  case ('unclosed')
    call unclosed()
  case ('write')
    call write_all()
  case ('read')
    call read_all()
  end select
  if (me == 0) print '(a)', 'after'
  call MPI_Finalize()
contains
  integer function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = i + 5 * j + 25 * k
  end function

  function numbers() result(all)
    integer :: all(2, 3, 4), i, j, k
    all = reshape([(((value(i, j, k), i = 1, 2), j = 1, 3), k = 1, 4)], [2, 3, 4])
  end function

  subroutine make(name, type)
    character(*), intent(in) :: name
    integer, intent(in) :: type
    call weir_create(MPI_COMM_WORLD, trim(folder)//'/'//name//'.npy', a, [2, 3, 4], type, &
      overwrite=.true.)
  end subroutine

  subroutine write_all()
    integer :: u(2, 3, 4)
    u = numbers()
    call make('i1', weir_i1); call weir_write_all(a, int(u, int8)); call weir_close(a)
    call make('i2', weir_i2); call weir_write_all(a, int(u, int16)); call weir_close(a)
    call make('i4', weir_i4); call weir_write_all(a, u); call weir_close(a)
    call make('i8', weir_i8); call weir_write_all(a, int(u, int64)); call weir_close(a)
    call make('f4', weir_f4); call weir_write_all(a, real(u, real32)); call weir_close(a)
    call make('f8', weir_f8); call weir_write_all(a, real(u, real64)); call weir_close(a)
    call make('c8', weir_c8); call weir_write_all(a, cmplx(u, -u, real32)); call weir_close(a)
    call make('c16', weir_c16); call weir_write_all(a, cmplx(u, -u, real64)); call weir_close(a)
    call make('bool', weir_bool); call weir_write_all(a, mod(u, 2) == 1); call weir_close(a)
  end subroutine

  ! What NumPy wrote, by rows and by columns, in either byte order.
  subroutine read_all()
    integer :: u(2, 3, 4), one
    real(real64) :: x(2, 3, 4)
    logical :: l(2, 3, 4)
    character(2), parameter :: order(4) = ['C<', 'F<', 'C>', 'F>']
    do one = 1, 4
      call open(order(one)//'i4')
      call weir_read_all(a, u)
      if (any(u /= numbers())) error stop 'i4'
      call open(order(one)//'f8')
      call weir_read_all(a, x)
      if (any(x /= numbers())) error stop 'f8'
      call open(order(one)//'?')
      call weir_read_all(a, l)
      if (any(l .neqv. mod(numbers(), 2) == 1)) error stop 'bool'
    end do
  end subroutine

  subroutine open(name)
    character(*), intent(in) :: name
    call weir_open(MPI_COMM_WORLD, trim(folder)//'/'//name//'.npy', a)
  end subroutine

  subroutine some()
    type(MPI_Comm) :: comm
    type(weir_request) :: request
    integer, asynchronous :: u(2, 3, 4)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -me, comm)
    call weir_open(comm, trim(folder)//'/i4.npy', a)
    if (me == 2) then
      call weir_iread_all(a, u, request, lo=[1, 1, 2])
    else
      call weir_iread_all(a, u, request)
    end if
    call weir_wait(request)
  end subroutine

  ! A new array, one that is being read, a request and a loop, none of which is brought to an end.
  subroutine unclosed()
    type(weir_array), save :: b
    type(weir_request), save :: request
    type(weir_slabs), save :: loop
    real(real64), save, asynchronous :: u(100, 100)
    u = 1
    call weir_create(MPI_COMM_WORLD, trim(folder)//'/never.npy', a, [100, 100], weir_f8)
    call weir_iwrite_all(a, u, request)
    call weir_open(MPI_COMM_WORLD, trim(folder)//'/f8.npy', b)
    call weir_slabs_begin(loop, [b])
    if (.not. weir_slabs_next(loop)) print '(a)', 'no slab'
  end subroutine

  ! A process alone needs no MPI.
  subroutine without_mpi()
    integer :: u(2, 3, 4), ierr
    call weir_open(MPI_COMM_WORLD, trim(folder)//'/i4.npy', a, ierr=ierr)
    if (ierr /= weir_etransport) error stop 'MPI does not run'
    call weir_open(MPI_COMM_NULL, trim(folder)//'/i4.npy', a)
    call weir_read(a, u)
    call weir_close(a)
    if (any(u /= numbers())) error stop 'alone'
    print '(a)', 'after'
    stop
  end subroutine
end program
