! Random sections of arrays of 1 to 7 dimensions and of all kinds, between files and slices of
! memory, by all forms of access, compared with loops over plain lists of numbers. Once for each
! binding: MPI_MODULE is mpi or mpi_f08. usage: fortran_model FOLDER [SEED]
module state
  use iso_c_binding
  use iso_fortran_env
  use MPI_MODULE
  use weir
  implicit none
  integer, parameter :: guard = 99
  integer(int64) :: seed = 1
  integer :: me, ranks, ierror
  type(weir_array) :: array
  type(weir_request), asynchronous :: request
  ! this rank's section: r dimensions, extents, and lo:hi:st in the array of shape n
  integer :: r, n(7), c(7), lo(7), hi(7), st(7)
  ! memory of shape m, of which it is the slice f:l:s
  integer :: m(7), f(7), l(7), s(7)
  logical :: writes, together, waits, reaches
  integer, allocatable :: model(:), before(:), after(:)
contains
  ! From a to b; the same on all ranks.
  integer function random(a, b)
    integer, intent(in) :: a, b
    seed = mod(seed * 48271_int64, 2147483647_int64)
    random = a + int(mod(seed / 7, int(b - a + 1, int64)))
  end function

  subroutine move(u)
    type(*), dimension(..), intent(inout), asynchronous :: u
    integer(int64) :: far(r)
    far = lo(:r)
    if (waits .and. together .and. writes) then
      call weir_iwrite_all(array, u, request, lo(:r), hi(:r), st(:r))
    else if (waits .and. together) then
      call weir_iread_all(array, u, request, lo(:r), hi(:r), st(:r))
    else if (waits .and. writes) then
      call weir_iwrite(array, u, request, far, hi(:r), st(:r))
    else if (waits) then
      call weir_iread(array, u, request, lo(:r), hi(:r), st(:r))
    else if (together .and. writes) then
      call weir_write_all(array, u, lo(:r), hi(:r), st(:r))
    else if (together .and. reaches) then
      call weir_read_all(array, u, far, step=st(:r))
    else if (together) then
      call weir_read_all(array, u, far, hi(:r), st(:r))
    else if (writes .and. reaches) then
      call weir_write(array, u, lo(:r), step=st(:r))
    else if (writes) then
      call weir_write(array, u, lo(:r), hi(:r), st(:r))
    else
      call weir_read(array, u, lo(:r), hi(:r), st(:r))
    end if
  end subroutine

  subroutine wrong(what)
    character(*), intent(in) :: what
    print *, 'rank ', me, ': ', what, ' seed', seed, ' dimensions', r, ' section', lo(:r), ':', &
      hi(:r), ':', st(:r), ' writes ', writes, ' together ', together, ' waits ', waits
    flush (output_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end module

module kinds
  use state
  implicit none
contains
#define SAME(x, y) x == y
#define MOVE move_i1
#define HELD integer(int8)
#define OF(x) int(x, int8)
#include "move_kind.inc"
#define MOVE move_i2
#define HELD integer(int16)
#define OF(x) int(x, int16)
#include "move_kind.inc"
#define MOVE move_i4
#define HELD integer(int32)
#define OF(x) int(x, int32)
#include "move_kind.inc"
#define MOVE move_i8
#define HELD integer(int64)
#define OF(x) int(x, int64) * 10000000000_int64
#include "move_kind.inc"
#define MOVE move_f4
#define HELD real(real32)
#define OF(x) real(x, real32) / 2
#include "move_kind.inc"
#define MOVE move_f8
#define HELD real(real64)
#define OF(x) real(x, real64) / 4
#include "move_kind.inc"
#define MOVE move_c8
#define HELD complex(real32)
#define OF(x) cmplx(x, -x, real32)
#include "move_kind.inc"
#define MOVE move_c16
#define HELD complex(real64)
#define OF(x) cmplx(x, -x, real64)
#include "move_kind.inc"
#undef SAME
#define SAME(x, y) x .eqv. y
#define MOVE move_l1
#define HELD logical(c_bool)
#define OF(x) logical(mod(x, 2) == 1, c_bool)
#include "move_kind.inc"
#define MOVE move_l4
#define HELD logical
#define OF(x) mod(x, 2) == 1
#include "move_kind.inc"

  subroutine move_any(kind)
    integer, intent(in) :: kind
    select case (kind)
    case (1); call move_i1()
    case (2); call move_i2()
    case (3); call move_i4()
    case (4); call move_i8()
    case (5); call move_f4()
    case (6); call move_f8()
    case (7); call move_c8()
    case (8); call move_c16()
    case (9); call move_l1()
    case (10); call move_l4()
    end select
  end subroutine
end module

program fortran_model
  use kinds
  implicit none
  integer, parameter :: types(10) = [weir_i1, weir_i2, weir_i4, weir_i8, weir_f4, weir_f8, &
    weir_c8, weir_c16, weir_bool, weir_bool], largest(7) = [40, 12, 7, 5, 4, 3, 3]
  character(400) :: folder, word
  integer :: kind, d, absent
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, folder)
  call get_command_argument(2, word)
  if (word /= ' ') read (word, *) seed
  do kind = 1, 10
    do r = 1, 7
      n = [(random(1, largest(r)), d = 1, 7)]
      call check_case(kind, trim(folder)//'/model.npy')
    end do
  end do
  call MPI_Finalize(ierror)
  if (me == 0) print *, 'model: right'
contains
  subroutine check_case(kind, path)
    integer, intent(in) :: kind
    character(*), intent(in) :: path
    integer :: step, shape(8)
    logical :: columns
    allocate (model(product(n(:r))))
    model = 0
    columns = random(0, 1) == 1
    call weir_create(MPI_COMM_WORLD, path, array, n(:r), types(kind), columns=columns, &
      overwrite=.true.)
    if (kind == 8) call weir_fill(array, (0d0, -0d0))
    do step = 1, 10
      call access(kind, step)
    end do
    call weir_close(array)
    call weir_open(MPI_COMM_WORLD, path, array)
    call weir_inquire(array, shape=shape)
    if (any(shape(:r) /= n(:r)) .or. any(shape(r + 1:) /= 1)) call wrong('shape')
    call access(kind, 0)
    call weir_close(array)
    call weir_remove(MPI_COMM_WORLD, path)
    deallocate (model)
  end subroutine

  subroutine access(kind, step)
    integer, intent(in) :: kind, step
    integer :: rank, first(7), last(7), extent(7, 0:ranks), mine(7, 3), keep(7)
    writes = step > 0 .and. random(0, 1) == 1
    together = random(0, 1) == 1
    waits = random(0, 2) == 0
    reaches = random(0, 1) == 1
    do rank = 0, ranks - 1
      first = 1
      last = n
      if (writes) then ! no two ranks write one element
        first(r) = 1 + rank * n(r) / ranks
        last(r) = (rank + 1) * n(r) / ranks
      end if
      call choose_section(first, last)
      extent(:, rank) = c
      if (rank == me) then
        mine = reshape([lo, hi, st], [7, 3])
        call choose_memory()
        call fill(step)
      end if
      if (writes) call note(step, rank)
    end do
    keep = extent(:, me)
    c = keep
    lo = mine(:, 1)
    hi = mine(:, 2)
    st = mine(:, 3)
    call move_any(kind)
    call get_environment_variable('WEIR_TEST_WEAK', status=absent) ! set where hosts cache
    if (absent == 0 .and. writes) call weir_sync(array)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine choose_section(first, last)
    integer, intent(in) :: first(7), last(7)
    integer :: d, a, b
    do d = 1, r
      st(d) = random(1, 3)
      a = random(0, 19)
      b = random(0, 9)
      if (a < 10) then ! often all of it
        lo(d) = first(d)
        hi(d) = last(d)
        st(d) = 1
      else
        lo(d) = first(d) + mod(a, 10) * (last(d) - first(d) + 1) / 10
        hi(d) = lo(d) - 1 + (b + 1) * (last(d) - lo(d) + 1) / 10
      end if
      c(d) = max(0, (hi(d) - lo(d) + st(d)) / st(d))
      if (random(0, 2) > 0 .or. c(d) == 0) cycle
      a = lo(d) ! backwards
      lo(d) = a + (c(d) - 1) * st(d)
      hi(d) = a
      st(d) = -st(d)
    end do
  end subroutine

  ! Does not depend on the rank, for other ranks' sake; the slice may begin anywhere.
  subroutine choose_memory()
    integer :: d, stride
    do d = 1, r
      stride = 1 + mod(d + lo(d) + n(d), 2)
      m(d) = max(1, (c(d) - 1) * stride + 1) + mod(lo(d) + d, 2)
      f(d) = 1
      s(d) = stride
      if (mod(c(d) + d + n(1), 3) == 0 .and. c(d) > 0) then
        f(d) = 1 + (c(d) - 1) * stride
        s(d) = -stride
      end if
      l(d) = f(d) + (c(d) - 1) * s(d)
    end do
  end subroutine

  ! What memory is before the access and must be after it.
  subroutine fill(step)
    integer, intent(in) :: step
    integer :: q, at(7)
    if (allocated(before)) deallocate (before, after)
    allocate (before(product(m(:r))), source=guard)
    allocate (after(product(m(:r))), source=guard)
    do q = 0, product(c(:r)) - 1
      at = place(q)
      if (writes) then
        before(number(f + at * s, m)) = value(q, step, me)
        after(number(f + at * s, m)) = value(q, step, me)
      else
        after(number(f + at * s, m)) = model(number(lo + at * st, n))
      end if
    end do
  end subroutine

  ! What a rank writes is in the array.
  subroutine note(step, rank)
    integer, intent(in) :: step, rank
    integer :: q
    do q = 0, product(c(:r)) - 1
      model(number(lo + place(q) * st, n)) = value(q, step, rank)
    end do
  end subroutine

  integer function value(q, step, rank)
    integer, intent(in) :: q, step, rank
    value = mod(3 * q + 7 * step + 11 * rank + q / 13, 90)
  end function

  ! The place, from 0 on, of element q of the section.
  function place(q) result(at)
    integer, intent(in) :: q
    integer :: at(7), rest, d
    rest = q
    at = 0
    do d = 1, r
      at(d) = mod(rest, c(d))
      rest = rest / c(d)
    end do
  end function

  ! By columns, from 1 on.
  integer function number(index, shape)
    integer, intent(in) :: index(7), shape(7)
    integer :: d
    number = 0
    do d = r, 1, -1
      number = number * shape(d) + index(d) - 1
    end do
    number = number + 1
  end function
end program
