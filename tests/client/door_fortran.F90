! MPI-IO from Fortran, once for each binding: MPIF_H, USE_MPI or USE_MPI_F08 is defined. Every rank
! does the same; what is wrong ends the program.
#ifdef USE_MPI_F08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
#define BUFFER type(c_ptr), value
#else
#define BUFFER integer, target
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif

module support
  use iso_c_binding
#ifdef USE_MPI_F08
  use mpi_f08
#endif
#ifdef USE_MPI
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: offset = MPI_OFFSET_KIND, n = 100
  integer, parameter :: bytes = storage_size(0) / 8
  integer :: rank, ranks, ierror
  integer :: handled = 0, handled_class = -1
  logical :: same_file = .false.
  HANDLE(MPI_File) :: f

contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    integer :: code
    if (good) return
    print '(a, i0, a, a, a, i0)', 'rank ', rank, ': ', what, ' is wrong, ierror is ', ierror
    flush(6)
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine

  ! The last call has succeeded.
  subroutine ok(what)
    character(*), intent(in) :: what
    call check(ierror == MPI_SUCCESS, what)
  end subroutine

  ! Number i of this rank in a step.
  integer function value(step, i, of)
    integer, intent(in) :: step, i, of
    value = step * 1000000 + of * 1000 + i
  end function

  subroutine fill(step, data)
    integer, intent(in) :: step
    integer, intent(out) :: data(n)
    integer :: i
    data = [(value(step, i, rank), i = 1, n)]
  end subroutine

  subroutine check_data(step, data, of, what)
    integer, intent(in) :: step, data(n), of
    character(*), intent(in) :: what
    integer :: i
    call check(all(data == [(value(step, i, of), i = 1, n)]), what)
  end subroutine

  subroutine check_count(s, what)
    STATUS, intent(in) :: s
    character(*), intent(in) :: what
    integer :: count
    call MPI_Get_count(s, MPI_INTEGER, count, ierror)
    call check(count == n, what)
  end subroutine

  subroutine on_error(fh, code)
    HANDLE(MPI_File) :: fh
    integer :: code
    integer :: failed
    handled = handled + 1
    same_file = fh == f
    call MPI_Error_class(code, handled_class, failed)
  end subroutine

  ! A representation of integers: less what was given when it was registered.
  subroutine represent(buffer, datatype, count, filebuf, position, less, code)
    BUFFER :: buffer, filebuf
    HANDLE(MPI_Datatype) :: datatype
    integer :: count, code
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: less
    call shift(buffer, filebuf, position, count, -int(less))
    code = merge(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER)
  end subroutine

  subroutine take_back(buffer, datatype, count, filebuf, position, less, code)
    BUFFER :: buffer, filebuf
    HANDLE(MPI_Datatype) :: datatype
    integer :: count, code
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: less
    call shift(buffer, filebuf, position, count, int(less), .true.)
    code = merge(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER)
  end subroutine

  subroutine shift(buffer, filebuf, position, count, by, back)
    BUFFER :: buffer, filebuf
    integer(MPI_OFFSET_KIND), intent(in) :: position
    integer, intent(in) :: count, by
    logical, intent(in), optional :: back
    integer, pointer :: ours(:), theirs(:)
#ifdef USE_MPI_F08
    call c_f_pointer(buffer, ours, [position + count])
    call c_f_pointer(filebuf, theirs, [count])
#else
    call c_f_pointer(c_loc(buffer), ours, [position + count])
    call c_f_pointer(c_loc(filebuf), theirs, [count])
#endif
    if (present(back)) then
      ours(position + 1:) = theirs + by
    else
      theirs = ours(position + 1:) + by
    end if
  end subroutine

  subroutine extent_of(datatype, extent, less, code)
    HANDLE(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, less
    integer :: code, size
    call MPI_Type_size(datatype, size, code)
    extent = size + 0 * less
  end subroutine
end module

program door_fortran
  use support
  implicit none
  character(200) :: path
  integer :: length, code, level

  call MPI_Init(ierror)
  call MPI_Query_thread(level, ierror)
  call check(level == MPI_THREAD_SINGLE, 'the thread level')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, path, length)
  call open_file()
  call blocking()
  call nonblocking()
  call receiving()
  call split()
  call shared()
  call represented()
  call registered()
  call whole()
  call errors()
  call MPI_File_close(f, ierror)
  call ok('close')
  call check(f == MPI_FILE_NULL, 'the handle of a closed file')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    call MPI_File_delete(trim(path), MPI_INFO_NULL, ierror)
    call ok('delete')
  end if
  call MPI_Finalize(ierror)

contains
  subroutine open_file()
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Group) :: group
    character(MPI_MAX_INFO_VAL) :: text
    logical :: flag
    integer :: amode, size
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'cb_buffer_size', '65536', ierror)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, info, f, ierror)
    call ok('open')
    call MPI_Info_free(info, ierror)
    call MPI_File_get_info(f, info, ierror)
    call ok('get_info')
    call MPI_Info_get(info, 'cb_buffer_size', MPI_MAX_INFO_VAL, text, flag, ierror)
    call check(flag .and. (text == '65536' .or. text == '64K'), 'a hint')
    call MPI_File_set_info(f, info, ierror)
    call ok('set_info')
    call MPI_Info_free(info, ierror)
    call MPI_File_get_amode(f, amode, ierror)
    call check(amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'amode')
    call MPI_File_get_group(f, group, ierror)
    call MPI_Group_size(group, size, ierror)
    call check(size == ranks, 'the group')
    call MPI_Group_free(group, ierror)
  end subroutine

  ! Ranks take turns, number after number.
  subroutine set_view(start)
    integer(offset), intent(in) :: start
    HANDLE(MPI_Datatype) :: filetype, etype, shown
    integer(offset) :: displacement, place
    integer(MPI_ADDRESS_KIND) :: extent
    character(MPI_MAX_DATAREP_STRING) :: representation
    extent = ranks * bytes
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, extent, filetype, ierror)
    call MPI_Type_commit(filetype, ierror)
    call MPI_File_set_view(f, start + rank * bytes, MPI_INTEGER, filetype, 'native', &
                           MPI_INFO_NULL, ierror)
    call ok('set_view')
    call MPI_Type_free(filetype, ierror)
    call MPI_File_get_view(f, displacement, etype, shown, representation, ierror)
    call check(displacement == start + rank * bytes .and. etype == MPI_INTEGER, 'get_view')
    call check(representation == 'native', 'the representation')
    call MPI_Type_free(shown, ierror)
    call MPI_File_get_byte_offset(f, 3_offset, place, ierror)
    call check(place == start + (rank + 3 * ranks) * bytes, 'get_byte_offset')
    call MPI_File_get_type_extent(f, MPI_INTEGER, extent, ierror)
    call check(extent == bytes, 'get_type_extent')
  end subroutine

  ! Numbers as they come.
  subroutine plain_view(start)
    integer(offset), intent(in) :: start
    call MPI_File_set_view(f, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    call ok('set_view without gaps')
  end subroutine

  subroutine blocking()
    integer :: data(n)
    integer(offset) :: at
    STATUS :: s
    call set_view(0_offset)
    call fill(1, data)
    call MPI_File_write_all(f, data, n, MPI_INTEGER, s, ierror)
    call ok('write_all')
    call check_count(s, 'count of write_all')
    call fill(2, data)
    call MPI_File_write(f, data, n, MPI_INTEGER, s, ierror)
    call ok('write')
    call MPI_File_get_position(f, at, ierror)
    call check(at == 2 * n, 'get_position')
    call fill(3, data)
    call MPI_File_write_at(f, 2_offset * n, data, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call ok('write_at')
    call fill(4, data)
    call MPI_File_write_at_all(f, 3_offset * n, data, n, MPI_INTEGER, s, ierror)
    call ok('write_at_all')
    call MPI_File_seek(f, -2_offset * n, MPI_SEEK_CUR, ierror)
    call ok('seek')
    call MPI_File_read_all(f, data, n, MPI_INTEGER, s, ierror)
    call check_count(s, 'count of read_all')
    call check_data(1, data, rank, 'read_all')
    call MPI_File_read(f, data, n, MPI_INTEGER, s, ierror)
    call check_data(2, data, rank, 'read')
    call MPI_File_read_at(f, 2_offset * n, data, n, MPI_INTEGER, s, ierror)
    call check_data(3, data, rank, 'read_at')
    call MPI_File_read_at_all(f, 3_offset * n, data, n, MPI_INTEGER, s, ierror)
    call check_data(4, data, rank, 'read_at_all')
    call check_words()
  end subroutine

  ! Other kinds of data, and a count that does not reach.
  subroutine check_words()
    double precision :: numbers(2)
    character(8) :: word
    integer :: count
    integer(offset) :: at
    STATUS :: s
    at = 100000 + rank * 24
    call MPI_File_set_view(f, 0_offset, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierror)
    numbers = [1.5d0 * rank, -2.5d0]
    call MPI_File_write_at(f, at, numbers, 2, MPI_DOUBLE_PRECISION, s, ierror)
    call ok('write_at of numbers')
    call MPI_File_write_at(f, at + 16, 'door word', 8, MPI_CHARACTER, s, ierror)
    call ok('write_at of characters')
    numbers = 0
    call MPI_File_read_at(f, at, numbers, 2, MPI_DOUBLE_PRECISION, s, ierror)
    call check(all(numbers == [1.5d0 * rank, -2.5d0]), 'numbers')
    call MPI_File_read_at(f, at + 16, word, 8, MPI_CHARACTER, s, ierror)
    call check(word == 'door wor', 'characters')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_get_size(f, at, ierror)
    call MPI_File_read_at(f, at - 5, word, 8, MPI_CHARACTER, s, ierror)
    call MPI_Get_count(s, MPI_CHARACTER, count, ierror)
    call check(count == 5, 'the count at the end of the file')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: data(n), back(n), other(n)
    integer :: index
    logical :: over
    HANDLE(MPI_Request) :: r(3)
    STATUS :: s
    call set_view(0_offset)
    call fill(5, data)
    call MPI_File_iwrite_at(f, 0_offset, data, n, MPI_INTEGER, r(1), ierror)
    call ok('iwrite_at')
    call MPI_Wait(r(1), s, ierror)
    call check(r(1) == MPI_REQUEST_NULL, 'a request that was waited for')
    call check_count(s, 'count of iwrite_at')
    call MPI_File_iread_at(f, 0_offset, back, n, MPI_INTEGER, r(1), ierror)
    call MPI_File_iread_at_all(f, 1_offset * n, other, n, MPI_INTEGER, r(2), ierror)
    r(3) = MPI_REQUEST_NULL
    call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, ierror)
    call check_data(5, back, rank, 'iread_at')
    call check_data(2, other, rank, 'iread_at_all')
    call MPI_File_seek(f, 0_offset, MPI_SEEK_SET, ierror)
    call fill(6, data)
    call MPI_File_iwrite(f, data, n, MPI_INTEGER, r(1), ierror)
    call fill(7, back)
    call MPI_File_iwrite_all(f, back, n, MPI_INTEGER, r(2), ierror)
    call fill(8, other)
    call MPI_File_iwrite_at_all(f, 2_offset * n, other, n, MPI_INTEGER, r(3), ierror)
    call MPI_Waitany(3, r, index, s, ierror)
    call check(index /= MPI_UNDEFINED, 'waitany') ! MPICH 4.0 counts from 0 in mpi_f08
    call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, ierror)
    call ok('waitall')
    call MPI_File_seek(f, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_iread(f, data, n, MPI_INTEGER, r(1), ierror)
    over = .false.
    do while (.not. over)
      call MPI_Test(r(1), over, s, ierror)
    end do
    call MPI_File_iread_all(f, back, n, MPI_INTEGER, r(1), ierror)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierror)
    call MPI_File_read_at(f, 2_offset * n, other, n, MPI_INTEGER, s, ierror)
    call check_data(6, data, rank, 'iwrite and iread')
    call check_data(7, back, rank, 'iwrite_all and iread_all')
    call check_data(8, other, rank, 'iwrite_at_all')
  end subroutine

  ! One rank is in MPI_Recv while others wait for a transfer, whose data are in messages.
  subroutine receiving()
    HANDLE(MPI_File) :: other
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Request) :: r
    integer, asynchronous :: data(n)
    integer :: i, number
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'weir_exchange', 'p2p', ierror)
    call MPI_Info_set(info, 'weir_collective', 'always', ierror)
    call MPI_File_open(MPI_COMM_WORLD, trim(path) // '.other', &
                       MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, info, other, ierror)
    call ok('open of another file')
    call MPI_Info_free(info, ierror)
    call fill(15, data)
    call MPI_File_iwrite_at_all(other, 1_offset * n * bytes * rank, data, n, MPI_INTEGER, r, ierror)
    if (rank > 0) then
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
    else
      do i = 1, ranks - 1
        call MPI_Recv(number, 1, MPI_INTEGER, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      end do
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
    end if
    call ok('iwrite_at_all by messages')
    call MPI_File_close(other, ierror)
  end subroutine

  subroutine split()
    integer, asynchronous :: data(n)
    STATUS :: s
    call fill(9, data)
    call MPI_File_seek(f, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_write_all_begin(f, data, n, MPI_INTEGER, ierror)
    call ok('write_all_begin')
    call MPI_File_write_all_end(f, data, s, ierror)
    call check_count(s, 'count of write_all_end')
    call fill(10, data)
    call MPI_File_write_at_all_begin(f, 1_offset * n, data, n, MPI_INTEGER, ierror)
    call MPI_File_write_at_all_end(f, data, s, ierror)
    call ok('write_at_all_end')
    call MPI_File_seek(f, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_read_all_begin(f, data, n, MPI_INTEGER, ierror)
    call MPI_File_read_all_end(f, data, s, ierror)
    call check_data(9, data, rank, 'read_all_end')
    call MPI_File_read_at_all_begin(f, 1_offset * n, data, n, MPI_INTEGER, ierror)
    call MPI_File_read_at_all_end(f, data, s, ierror)
    call check_data(10, data, rank, 'read_at_all_end')
  end subroutine

  ! The shared pointer, in no order and in the order of ranks.
  subroutine shared()
    integer, asynchronous :: data(n)
    integer(offset) :: at
    HANDLE(MPI_Request) :: r
    STATUS :: s
    call plain_view(200000_offset)
    call fill(11, data)
    call MPI_File_write_shared(f, data, n, MPI_INTEGER, s, ierror)
    call ok('write_shared')
    call MPI_File_iwrite_shared(f, data, n, MPI_INTEGER, r, ierror)
    call MPI_Wait(r, s, ierror)
    call ok('iwrite_shared')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_get_position_shared(f, at, ierror)
    call check(at == 2 * ranks * n, 'get_position_shared')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_seek_shared(f, 0_offset, MPI_SEEK_SET, ierror)
    call ok('seek_shared')
    call MPI_File_read_shared(f, data, n, MPI_INTEGER, s, ierror)
    call check_data(11, data, modulo(data(1) / 1000, 1000), 'read_shared')
    call MPI_File_iread_shared(f, data, n, MPI_INTEGER, r, ierror)
    call MPI_Wait(r, s, ierror)
    call check_data(11, data, modulo(data(1) / 1000, 1000), 'iread_shared')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_seek_shared(f, 0_offset, MPI_SEEK_SET, ierror)
    call fill(12, data)
    call MPI_File_write_ordered(f, data, n, MPI_INTEGER, s, ierror)
    call fill(13, data)
    call MPI_File_write_ordered_begin(f, data, n, MPI_INTEGER, ierror)
    call MPI_File_write_ordered_end(f, data, s, ierror)
    call check_count(s, 'count of write_ordered_end')
    call MPI_File_read_at_all(f, 1_offset * n * modulo(rank + 1, ranks), data, n, MPI_INTEGER, s, ierror)
    call check_data(12, data, modulo(rank + 1, ranks), 'write_ordered')
    call MPI_File_seek_shared(f, 0_offset, MPI_SEEK_SET, ierror)
    call MPI_File_read_ordered(f, data, n, MPI_INTEGER, s, ierror)
    call check_data(12, data, rank, 'read_ordered')
    call MPI_File_read_ordered_begin(f, data, n, MPI_INTEGER, ierror)
    call MPI_File_read_ordered_end(f, data, s, ierror)
    call check_data(13, data, rank, 'read_ordered_end')
  end subroutine

  ! In external32 the highest byte comes first.
  subroutine represented()
    integer :: data(2)
    character(8) :: word
    integer(offset) :: at
    STATUS :: s
    at = 300000 + 8 * rank
    call MPI_File_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, ierror)
    call ok('set_view with external32')
    data = [16909060, -2]
    call MPI_File_write_all(f, data, 2, MPI_INTEGER, s, ierror)
    call ok('write_all in external32')
    data = 0
    call MPI_File_read_at(f, 0_offset, data, 2, MPI_INTEGER, s, ierror)
    call check(all(data == [16909060, -2]), 'external32')
    call MPI_File_set_view(f, at, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_read_at_all(f, 0_offset, word, 8, MPI_CHARACTER, s, ierror)
    call check(word == achar(1) // achar(2) // achar(3) // achar(4) // repeat(char(255), 3) // &
               char(254), 'the bytes of external32')
  end subroutine

  ! A representation of the program's own, with Fortran's functions.
  subroutine registered()
    integer :: data(n), other(n)
    integer(offset) :: at
    STATUS :: s
    at = 400000 + n * bytes * rank
    call MPI_Register_datarep('less', take_back, represent, extent_of, 7_MPI_ADDRESS_KIND, ierror)
    call ok('register_datarep')
    call MPI_File_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'less', MPI_INFO_NULL, ierror)
    call ok('set_view with a representation of our own')
    call fill(14, data)
    call MPI_File_write_all(f, data, n, MPI_INTEGER, s, ierror)
    call ok('write_all in it')
    call MPI_File_read_at(f, 0_offset, other, n, MPI_INTEGER, s, ierror)
    call check_data(14, other, rank, 'what comes back from it')
    call plain_view(at)
    call MPI_File_read_at_all(f, 0_offset, other, n, MPI_INTEGER, s, ierror)
    call check(all(other == data - 7), 'what is in the file')
  end subroutine

  ! What concerns the file as a whole.
  subroutine whole()
    integer(offset) :: size
    logical :: atomic
    call MPI_File_sync(f, ierror)
    call ok('sync')
    call MPI_File_set_atomicity(f, .true., ierror)
    call MPI_File_get_atomicity(f, atomic, ierror)
    call check(atomic, 'atomicity')
    call MPI_File_set_atomicity(f, .false., ierror)
    call MPI_File_get_atomicity(f, atomic, ierror)
    call check(.not. atomic, 'no atomicity')
    call MPI_File_set_size(f, 5000_offset, ierror)
    call MPI_File_get_size(f, size, ierror)
    call check(size == 5000, 'set_size')
    call MPI_File_preallocate(f, 6000_offset, ierror)
    call MPI_File_get_size(f, size, ierror)
    call check(size == 6000, 'preallocate')
  end subroutine

  ! Errors are returned, by a handler of the program's own where there can be one.
  subroutine errors()
    HANDLE(MPI_File) :: none
    HANDLE(MPI_Errhandler) :: handler
    integer :: class, size, buffer(1)
    character(MPI_MAX_ERROR_STRING) :: text
    STATUS :: s
    call MPI_File_open(MPI_COMM_WORLD, trim(path) // '.none', MPI_MODE_RDONLY, MPI_INFO_NULL, &
                       none, ierror)
    call MPI_Error_class(ierror, class, code)
    call check(class == MPI_ERR_NO_SUCH_FILE, 'the class of a missing file')
    call MPI_Error_string(ierror, text, size, code)
    call check(index(text(1:size), trim(path) // '.none') > 0, 'the text of a missing file')
    call MPI_File_get_errhandler(f, handler, ierror)
    call check(handler == MPI_ERRORS_RETURN, 'get_errhandler')
    call MPI_File_create_errhandler(on_error, handler, ierror)
    call ok('create_errhandler')
    call MPI_File_set_errhandler(f, handler, ierror)
    call ok('set_errhandler')
    call MPI_File_read_at(f, -1_offset, buffer, 1, MPI_INTEGER, s, ierror)
    call MPI_Error_class(ierror, class, code)
    call check(class == MPI_ERR_ARG, 'the class of a negative offset')
    call check(handled == 1 .and. handled_class == MPI_ERR_ARG, 'the handler')
    call check(same_file, 'the file that the handler got')
    call MPI_File_call_errhandler(f, MPI_ERR_IO, ierror)
    call check(handled == 2 .and. handled_class == MPI_ERR_IO, 'call_errhandler')
    call MPI_File_set_errhandler(f, MPI_ERRORS_RETURN, ierror)
    call MPI_Errhandler_free(handler, ierror)
  end subroutine
end program
