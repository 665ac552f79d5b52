! Every procedure of the module but what fortran_model has: arguments of all sorts, errors, parts of
! distributed arrays, slab loops, operators, formats. usage: fortran_calls FOLDER
module support
  use iso_c_binding
  use iso_fortran_env
  use MPI_MODULE
  use weir
  implicit none
  integer :: me, ranks, ierror
  character(:), allocatable :: folder
  integer(c_int64_t) :: told = 0
  type pair
    integer :: left
    real(real64) :: right
  end type
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print *, 'rank', me, ' wrong: ', what, '; latest error: ', weir_error_text()
    flush (output_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! The latest error has this code, and says this.
  subroutine fails(code, wanted, text)
    integer, intent(in) :: code, wanted
    character(*), intent(in) :: text
    call check(code == wanted, 'code of: '//text)
    call check(index(weir_error_text(), text) > 0, 'text of: '//text)
  end subroutine

  subroutine tell(done, all) bind(C)
    integer(c_int64_t), value :: done, all
    told = done
    if (all < 0) told = -1
  end subroutine

  ! 100 i + j, which is what arrays hold here.
  real(real64) function held(i, j)
    integer, intent(in) :: i, j
    held = 100 * i + j
  end function

  subroutine create(name, array, rows, columns)
    character(*), intent(in) :: name
    type(weir_array), intent(out) :: array
    integer, intent(in) :: rows, columns
    real(real64) :: u(rows, columns)
    integer :: i, j
    do j = 1, columns
      do i = 1, rows
        u(i, j) = held(i, j)
      end do
    end do
    call weir_create(MPI_COMM_WORLD, folder//name, array, shape(u), weir_type_of(u), &
      overwrite=.true.)
    if (me == 0) call weir_write(array, u)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine
end module

module cases
  use support
  implicit none
contains
  subroutine arguments()
    type(weir_array) :: a
    real(real64), allocatable :: u(:, :)
    real(real64), pointer :: p(:, :)
    real(real64), target :: fixed(4, 6)
    type(pair) :: pairs(4)
    complex(real64) :: z(4)
    real(real64) :: x
    call create('arguments.npy', a, 4, 6)
    allocate (u(-1:2, 5:10), source=0d0)
    call weir_read(a, u)
    call check(u(2, 10) == held(4, 6) .and. u(-1, 6) == held(1, 2), 'bounds')
    p => fixed(4:1:-1, ::2)
    fixed = 0
    call weir_read(a, p, lo=[1, 1], step=[1, 2])
    call check(fixed(4, 1) == held(1, 1) .and. fixed(1, 5) == held(4, 5), 'pointer')
    call check(all(fixed(:, 2::2) == 0), 'what lies between')
    pairs = pair(7, 0d0)
    call weir_read(a, pairs%right, lo=[1, 3], hi=[4, 3])
    call check(pairs(2)%right == held(2, 3) .and. all(pairs%left == 7), 'component')
    z = (1, 1)
    call weir_read(a, z%im, lo=[1, 2], hi=[4, 2])
    call check(z(3) == cmplx(1, held(3, 2), real64), 'imaginary part')
    call weir_read(a, x, lo=[3, 4])
    call check(x == held(3, 4), 'scalar')
    call weir_read(a, fixed(2:2, :), lo=[2, 1], hi=[2, 6])
    call weir_read(a, fixed(1, 1:3), lo=[3, 6], hi=[3, 1], step=[1, -2])
    call check(all(fixed(1, 1:3) == [held(3, 6), held(3, 4), held(3, 2)]), 'row')
    call automatic(a, 4)
    call weir_close(a)
    if (me == 0) then ! where the others do not take part
      call weir_create(MPI_COMM_SELF, folder//'one.npy', a, [integer ::], weir_f8, overwrite=.true.)
      call weir_write(a, 2.5d0)
      call weir_read(a, x)
      call check(x == 2.5d0, 'no dimensions')
      call weir_discard(a)
      call far()
    end if
  end subroutine

  ! Past what 4 bytes can say.
  subroutine far()
    integer(int64), parameter :: n = 5000000000_int64
    type(weir_array) :: a
    integer(int8) :: u(3)
    integer :: short(1), code
    integer(int64) :: long(1)
    call weir_create(MPI_COMM_SELF, folder//'far.npy', a, [n], weir_i1, overwrite=.true.)
    call weir_write(a, [1_int8, 2_int8, 3_int8], lo=[n - 2])
    call weir_read(a, u, lo=[n], hi=[n - 4], step=[-2])
    call check(all(u == [3, 1, 0]), 'far')
    call weir_inquire(a, shape=long)
    call check(long(1) == n, 'far shape')
    call weir_inquire(a, shape=short, ierr=code)
    call fails(code, weir_erange, 'make it integer(int64)')
    call weir_discard(a)
  end subroutine

  subroutine automatic(a, n)
    type(weir_array), intent(in) :: a
    integer, intent(in) :: n
    real(real64) :: u(n), v(0)
    call weir_read(a, u, lo=[1, n], hi=[n, n])
    call check(u(n) == held(n, n), 'automatic')
    call weir_read_all(a, v, lo=[1, 1], hi=[0, 3])
    call weir_read_all(a, u(1:0), lo=[5, 1], hi=[4, 1])
    call assumed(a, u)
  end subroutine

  subroutine assumed(a, u)
    type(weir_array), intent(in) :: a
    real(real64) :: u(*)
    integer :: code
    call weir_read(a, u, ierr=code)
    call fails(code, weir_einval, 'the argument has no size')
    call weir_read(a, u(1:4), lo=[1, 1], hi=[4, 1])
    call check(u(4) == held(4, 1), 'slice of an assumed size')
  end subroutine

  subroutine errors()
    type(weir_array) :: a, b
    real(real64) :: u(4, 6), v(6, 4)
    real(real64), allocatable :: none(:, :)
    real(real32) :: small(4, 6)
    type(pair) :: pairs(4, 6)
    integer :: code, short(1)
    character(5) :: words(2)
    call weir_open(MPI_COMM_WORLD, folder//'missing.npy', a, ierr=code)
    call fails(code, weir_enoent, 'missing.npy')
    call weir_open(MPI_COMM_WORLD, folder//'missing.npy', a, 'append', ierr=code)
    call fails(code, weir_einval, "action is 'append'")
    call weir_read(b, u, ierr=code)
    call fails(code, weir_einval, 'not open')
    call create('errors.npy', a, 4, 6)
    call weir_read(a, small, ierr=code)
    call fails(code, weir_einval, 'the argument is real(real32), and the array f8')
    call weir_read(a, v, ierr=code)
    call fails(code, weir_einval, 'the argument has shape (6,4), and the section (4,6)')
    call weir_read(a, u(:, 1), ierr=code)
    call fails(code, weir_einval, 'the argument has shape (4), and the section (4,6)')
    call check(index(weir_error_text(), 'errors.npy') > 0, 'name of the file')
    call weir_read(a, u, lo=[2, 1], ierr=code)
    call fails(code, weir_einval, 'the section has index 5 in dimension 1, which ends at 4')
    call weir_read(a, u(:, 1), lo=[1, 0], hi=[4, 0], ierr=code)
    call fails(code, weir_einval, 'the section has index 0 in dimension 2')
    call weir_read(a, u(:, 1:2), lo=[1, 5], step=[1, 3], ierr=code)
    call fails(code, weir_einval, 'the section has index 8 in dimension 2')
    call weir_read(a, u(:, 1), lo=[1, 1], ierr=code)
    call fails(code, weir_einval, 'lo needs hi')
    call weir_read(a, u, lo=[1], ierr=code)
    call fails(code, weir_einval, 'lo has 1 numbers, and the array 2 dimensions')
    call weir_read(a, u, lo=[1., 1.], ierr=code)
    call fails(code, weir_einval, 'lo is no integer')
    call weir_read(a, u, step=[1, 0], ierr=code)
    call fails(code, weir_einval, 'step is 0 in dimension 2')
    call weir_read(a, u, hi=[huge(1_int64), 1_int64], ierr=code)
    call check(code == weir_erange, 'far')
    call weir_read(a, none, ierr=code)
    call fails(code, weir_einval, 'not allocated')
    call weir_read(a, words, ierr=code)
    call fails(code, weir_einval, 'the argument is no integer, real')
    call weir_read(a, pairs, ierr=code)
    call fails(code, weir_einval, 'the argument is no integer, real')
    call weir_inquire(a, shape=short, ierr=code)
    call fails(code, weir_einval, 'shape has 1 numbers')
    call weir_fill(a, 1.0, ierr=code)
    call fails(code, weir_einval, 'real(real32)')
    call weir_create(MPI_COMM_WORLD, folder//'x.npy', b, [3], weir_i4, fill=1d0, ierr=code)
    call fails(code, weir_einval, 'real(real64)')
    call weir_create(MPI_COMM_WORLD, folder//'x.npy', b, [3.], weir_i4, ierr=code)
    call fails(code, weir_einval, 'shape is no integer')
    call weir_discard(a)
    call weir_close(a, code)
    call fails(code, weir_einval, 'not open')
  end subroutine

  ! One rank's arguments are wrong, or one has nothing to do; nobody waits for ever.
  subroutine alone()
    type(weir_array) :: a, b
    type(weir_request), asynchronous :: request
    real(real64), asynchronous :: u(4, 6)
    integer :: code, n(2)
    call create('alone.npy', a, 4, 6)
    if (me == ranks - 1) then
      call weir_read_all(a, me, ierr=code)
    else
      call weir_read_all(a, u, ierr=code)
    end if
    call fails(code, weir_einval, 'the argument is integer(int32)')
    if (me == ranks - 1) then
      call weir_iread_all(a, u(:, 1), request, ierr=code)
    else
      call weir_iread_all(a, u, request, ierr=code)
    end if
    call check(code == 0, 'start')
    call weir_wait(request, code)
    call fails(code, weir_einval, 'the argument has shape (4)')
    if (me == ranks - 1) then
      call weir_read_all(a, u(:, 1:0), lo=[1, 1])
    else
      call weir_read_all(a, u)
    end if
    call weir_part(a, n)
    if (me == ranks - 1) then
      call weir_read_distributed(a, u(1, 1), ierr=code)
    else
      call weir_read_distributed(a, u(:n(1), :n(2)), ierr=code)
    end if
    call check(code == weir_einval .or. product(n) == 1, 'distributed')
    call weir_close(a)
    if (me == ranks - 1) then
      call weir_open(MPI_COMM_WORLD, folder//'alone.npy', b, 'append', ierr=code)
      call fails(code, weir_einval, "action is 'append'")
    else
      call weir_open(MPI_COMM_WORLD, folder//'alone.npy', b, ierr=code)
    end if
    call check(code /= 0, 'open')
    if (me == ranks - 1) then
      call weir_create(MPI_COMM_WORLD, folder//'never.npy', b, [1., 2.], weir_f8, ierr=code)
    else
      call weir_create(MPI_COMM_WORLD, folder//'never.npy', b, [1, 2], weir_f8, ierr=code)
    end if
    call check(code /= 0, 'create')
  end subroutine

  subroutine requests()
    type(weir_array) :: a
    type(weir_request), asynchronous :: request, several(6)
    real(real64), asynchronous :: u(4, 6), v(4, 3)
    logical :: over
    integer :: j, code
    call create('requests.npy', a, 4, 6)
    do j = 1, 3
      call weir_iread(a, v(:, j), several(2 * j), lo=[1, 2 * j], hi=[4, 2 * j])
    end do
    call weir_wait_all(several(2::2))
    call weir_wait_all(several)
    call check(v(4, 3) == held(4, 6) .and. v(1, 1) == held(1, 2), 'several')
    call weir_iread(a, v, request, ierr=code)
    call fails(code, weir_einval, 'shape')
    call weir_wait(request)
    call weir_iread_all(a, u, request)
    over = .false.
    do while (.not. over)
      call weir_test(request, over)
      call weir_progress_poll()
    end do
    call check(u(2, 5) == held(2, 5), 'test')
    call in_background()
    call weir_sync(a)
    call weir_discard(a)
  end subroutine

  ! What arrives after the call has returned lies in the slice itself: there was no copy of it.
  subroutine in_background()
    type(weir_array) :: a
    type(weir_request), asynchronous :: request
    real(real64), allocatable, asynchronous :: u(:, :), whole(:, :)
    logical :: over
    integer :: i
    allocate (whole(300, 100), u(600, 100))
    whole = reshape([(real(i, real64), i = 1, size(whole))], shape(whole))
    call weir_create(MPI_COMM_WORLD, folder//'background.npy', a, shape(whole), weir_f8, &
      overwrite=.true.)
    if (me == 0) call weir_write(a, whole)
    call weir_close(a)
    call weir_open(MPI_COMM_WORLD, folder//'background.npy', a, hints='fault=bandwidth:20;map=0')
    u = 0
    call weir_iread_all(a, u(600:1:-2, :), request)
    over = .false.
    do while (.not. over)
      call weir_wait_for(request, 0.01d0, over)
    end do
    call check(all(u(600:1:-2, :) == whole) .and. all(u(1::2, :) == 0), 'in the background')
    call weir_close(a)
  end subroutine

  subroutine distributed()
    type(weir_array) :: a
    real(real64), allocatable :: u(:, :)
    integer :: n(2), i, j, row
    call create('distributed.npy', a, 9, 7)
    ! rows go round-robin, two at a time
    call weir_part(a, n, grid=[ranks, 1], block=[2, 7])
    allocate (u(n(1) * 2, n(2)))
    call weir_read_distributed(a, u(::2, :), grid=[ranks, 1], block=[2, 7])
    do i = 1, n(1)
      row = ((i - 1) / 2 * ranks + me) * 2 + mod(i - 1, 2) + 1
      call check(all(u(2 * i - 1, :) == [(held(row, j), j = 1, 7)]), 'cyclic')
    end do
    u = -u
    call weir_write_distributed(a, u(::2, :), grid=[ranks, 1], block=[2, 7])
    deallocate (u)
    call weir_part(a, n)
    allocate (u(n(1), n(2)))
    call weir_read_distributed(a, u)
    call check(all(u < 0) .and. size(u) > 0, 'square')
    call weir_discard(a)
  end subroutine

  subroutine slabs()
    type(weir_array) :: a, b
    type(weir_slabs) :: loop
    real(real64), pointer :: u(:, :), v(:, :), line(:)
    real(real32), pointer :: small(:, :)
    real(real64) :: mean(40, 30)
    integer :: i, j, lo(2), hi(2), code
    nullify (u, v, line, small) ! or gfortran warns
    call create('from.npy', a, 40, 30)
    call weir_create(MPI_COMM_WORLD, folder//'to.npy', b, [40, 30], weir_f8, overwrite=.true.)
    call weir_slabs_begin(loop, [a], [b], memory=20000, halo=[1, 1], progress=tell)
    do while (weir_slabs_next(loop))
      call weir_slab(loop, u, input=1)
      call weir_slab(loop, v, output=1)
      call weir_slab_bounds(loop, lo, hi)
      call check(all(lbound(v) == lo) .and. all(ubound(v) == hi), 'bounds of a slab')
      call check(all(lbound(u) == max(1, lo - 1)), 'halo before')
      call check(all(ubound(u) == min([40, 30], hi + 1)), 'halo behind')
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          call check(u(i, j) == held(i, j), 'slab')
          v(i, j) = (u(max(1, i - 1), j) + u(min(40, i + 1), j)) / 2
        end do
      end do
      call weir_slab(loop, small, input=1, ierr=code)
      call fails(code, weir_einval, 'the pointer is of type f4')
      call weir_slab(loop, line, input=1, ierr=code)
      call fails(code, weir_einval, 'the pointer has 1 dimensions')
      call weir_slab(loop, u, input=2, ierr=code)
      call fails(code, weir_einval, 'input=1 to 1')
      call check(.not. associated(u), 'no slab')
    end do
    call weir_slab(loop, v, output=1, ierr=code)
    call fails(code, weir_einval, 'there is no slab')
    call weir_slabs_end(loop)
    call check(told > 0, 'progress of a loop')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call weir_read_all(b, mean)
    call check(mean(7, 11) == held(7, 11) .and. mean(1, 30) == held(1, 30) + 50, 'what was made')
    call weir_slabs_begin(loop, [a], memory=10, ierr=code)
    call check(code == weir_ebudget, 'little memory')
    call weir_slabs_end(loop)
    call weir_discard(a)
    call weir_discard(b)
  end subroutine

  subroutine operators()
    type(weir_array) :: a, b, c, r, t(2)
    type(weir_estimate) :: estimate
    type(weir_statistics) :: found
    real(real64) :: u(12, 9), v(9, 12), w(12, 12), residual
    integer :: last, done, code
    call create('a.npy', a, 12, 9)
    call weir_create(MPI_COMM_WORLD, folder//'b.npy', b, [9, 12], weir_f8, overwrite=.true.)
    call weir_create(MPI_COMM_WORLD, folder//'c.npy', c, [12, 12], weir_f8, overwrite=.true.)
    call weir_transpose(a, b, estimate=estimate)
    call check(estimate%read == 8 * 9 * 12 .and. estimate%how(160) == ' ', 'estimate')
    told = 0
    call weir_transpose(a, b, axes=[2, 1], memory=65536_int64, progress=tell)
    call check(told > 0, 'progress')
    call weir_read_all(a, u)
    call weir_read_all(b, v)
    call check(all(v == transpose(u)), 'transpose')
    call weir_transpose(a, b, axes=[1, 3], ierr=code)
    call fails(code, weir_einval, 'axes has 3')
    call weir_multiply(a, b, c)
    call weir_read_all(c, w)
    call check(all(abs(w - matmul(u, v)) < 1), 'product')
    call weir_multiply(a, b, c, method=weir_gaxpy, direct=.true.)
    call weir_multiply(a, a, c, ierr=code)
    call check(code == weir_einval, 'product of what does not fit')
    call weir_create(MPI_COMM_WORLD, folder//'t1.npy', t(1), [12, 9], weir_f8, overwrite=.true.)
    call weir_create(MPI_COMM_WORLD, folder//'t2.npy', t(2), [12, 9], weir_f8, overwrite=.true.)
    call weir_relax(a, t, iterations=3, last=last, done=done, residual=residual)
    call check(done == 3 .and. residual < 1d-9, 'relax') ! it is linear, and stays
    call weir_read_all(t(last), u)
    call check(abs(u(5, 5) - held(5, 5)) < 1d-9, 'relaxed')
    call weir_median(a, t(1), 3)
    call weir_read_all(t(1), u)
    call check(u(5, 5) == held(5, 5), 'median')
    call weir_copy(a, t(2))
    call weir_reduce(t(2), found)
    call check(found%count == 108 .and. found%max == held(12, 9), 'reduce')
    call weir_create(MPI_COMM_WORLD, folder//'r.npy', r, [9], weir_f8, overwrite=.true.)
    call weir_reduce_along(a, r, weir_max, dim=1)
    call weir_read_all(r, v(:, 1))
    call check(v(7, 1) == held(12, 7), 'reduce along one')
    call weir_reduce_along(a, r, weir_sum, dim=[3], ierr=code)
    call fails(code, weir_einval, 'dim has 3')
    call weir_discard(r)
    call weir_create(MPI_COMM_WORLD, folder//'r.npy', r, [1, 1], weir_f8, overwrite=.true.)
    call weir_reduce_along(a, r, weir_mean, dim=[2, 1], skip_nans=.true., memory=1000000)
    call weir_read_all(r, v(1, 1))
    call check(abs(v(1, 1) - 655) < 1d-9, 'reduce along all')
    call weir_discard(r)
    call weir_fill(t(2), 2d0)
    call weir_reduce(t(2), found, memory=100000)
    call check(found%min == 2 .and. found%deviation == 0 .and. found%exact_min == 0, 'fill')
    call weir_create(MPI_COMM_WORLD, folder//'r.npy', r, [9], weir_i8, overwrite=.true.)
    call weir_fill(r, 2_int64**53 + 1)
    call weir_reduce(r, found)
    call check(found%exact_min == 2_int64**53 + 1 .and. found%exact_max == found%exact_min, 'exact')
    call weir_discard(r)
    call weir_discard(a)
    call weir_discard(b)
    call weir_discard(c)
    call weir_discard(t(1))
    call weir_discard(t(2))
  end subroutine

  subroutine try_format(name, format, columns)
    character(*), intent(in) :: name
    integer, intent(in) :: format
    logical, intent(in) :: columns
    type(weir_array) :: a
    integer(int32) :: u(3, 4), v(3, 4), n(2), code, found
    integer :: i
    logical :: stored
    u = reshape([(i, i = 1, 12)], [3, 4])
    call weir_remove(MPI_COMM_WORLD, folder//name, code)
    call weir_create(MPI_COMM_WORLD, folder//name, a, [3, 4], weir_i4, overwrite=.true., ierr=code)
    if (code == weir_eunsupported .and. index(weir_error_text(), 'has no HDF5') > 0) return
    call check(code == 0, 'creating '//name)
    call weir_write_all(a, u(:, me + 1:4:ranks), lo=[1, me + 1], hi=[3, 4], step=[1, ranks])
    call weir_close(a)
    call weir_open(MPI_COMM_WORLD, folder//name, a)
    call weir_inquire(a, shape=n, format=found, columns=stored)
    call check(all(n == [3, 4]) .and. found == format, 'format of '//name)
    call check(stored .eqv. columns, 'order of '//name)
    call weir_read_all(a, v)
    call check(all(u == v), 'elements of '//name)
    call weir_close(a)
  end subroutine

  ! Their names say how they are stored.
  subroutine raw_files()
    type(weir_array) :: a
    integer :: u(3, 4), one
    logical :: stored
    character(2), parameter :: order(2) = ['  ', ':F']
    do one = 1, 2
      if (me == 0) call execute_command_line('rm -f '//folder//'raw')
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call weir_create(MPI_COMM_WORLD, 'raw:'//folder//'raw:i4:3,4'//trim(order(one)), a, [3, 4], &
        weir_i4, fill=one)
      call weir_inquire(a, columns=stored)
      call weir_read_all(a, u)
      call check((stored .eqv. one == 2) .and. all(u == one), 'raw')
      call weir_close(a)
    end do
  end subroutine

  subroutine formats()
    type(weir_array) :: a, b
    logical :: flags(5)
    logical(int64) :: wide(5)
    logical(int16) :: narrow(5)
    integer :: members, code, i
    integer :: numbers(3)
    call try_format('i.npy', weir_npy, .true.)
    call try_format('i.nc:/u', weir_netcdf, .false.)
    call try_format('i.h5:/u', weir_hdf5, .false.)
    call raw_files()
    call weir_create(MPI_COMM_WORLD, folder//'i.zarr', a, [30, 40], weir_i4, tile=[8, 8], &
      codec='gzip:1', fill=5, overwrite=.true.)
    call weir_write_all(a, [7], lo=[30, 40], hi=[30, 40])
    call weir_read_all(a, numbers, lo=[30, 38], hi=[30, 40])
    call check(all(numbers == [5, 5, 7]), 'zarr')
    call check(weir_attributes(a) == '{}', 'attributes')
    call weir_create(MPI_COMM_WORLD, folder//'set', b, [30, 40], weir_i8, grid=[2, 2], &
      overwrite=.true., like=a)
    call weir_copy(a, b)
    call weir_inquire(b, members=members)
    call weir_read_all(b, numbers, lo=[30, 38], hi=[30, 40], convert=.true.)
    call check(members == 4 .and. all(numbers == [5, 5, 7]), 'local arrays')
    call weir_discard(a)
    call weir_discard(b)
    call weir_create(MPI_COMM_WORLD, folder//'l.npy', a, [5], weir_type_of(flags), fill=.true., &
      overwrite=.true.)
    if (me == 0) call weir_write(a, [.false., .true.], lo=[2], hi=[3])
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call weir_read_all(a, flags)
    call check(all(flags .eqv. [.true., .false., .true., .true., .true.]), 'logicals')
    wide = .false.
    narrow = .false.
    call weir_read_all(a, wide)
    call weir_read_all(a, narrow)
    call check(all(logical(wide) .eqv. flags) .and. all(logical(narrow) .eqv. flags), 'other sizes')
    call weir_read_all(a, numbers, lo=[1], ierr=code)
    call fails(code, weir_einval, 'the array bool, which is logical')
    call weir_discard(a)
    call weir_create(MPI_COMM_WORLD, folder//'u.npy', a, [3], weir_u2, overwrite=.true.)
    call weir_write_all(a, [(60000 + i, i = 1, 3)], ierr=code)
    call fails(code, weir_einval, 'for which Fortran has no kind')
    if (me == 0) call weir_write(a, [(60000 + i, i = 1, 3)], convert=.true.)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call weir_read_all(a, numbers, convert=.true.)
    call check(numbers(3) == 60003 .and. weir_type_name(weir_u2) == 'u2', 'unsigned')
    call weir_discard(a)
    call check(weir_type_of(1d0) == weir_f8 .and. weir_type_of('x') == 0, 'types')
    call check(index(weir_version(), '.') > 0, 'version')
  end subroutine
end module

program fortran_calls
  use cases
  implicit none
  character(400) :: word
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, word)
  folder = trim(word)//'/'
  call arguments()
  call errors()
  call alone()
  call requests()
  call distributed()
  call slabs()
  call operators()
  call formats()
  call MPI_Finalize(ierror)
  if (me == 0) print *, 'calls: right'
end program
