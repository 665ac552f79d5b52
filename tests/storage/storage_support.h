/* What the tests of storage share: a file of their own, and storages opened by hints. */
#ifndef WR_TESTS_STORAGE_SUPPORT_H
#define WR_TESTS_STORAGE_SUPPORT_H

#include "check.h"
#include "storage/backends.h"
#include "storage/storage.h"

enum { READ_WRITE = WR_OPEN_READ | WR_OPEN_WRITE, FRESH = READ_WRITE | WR_OPEN_CREATE };

/* A value of the hint `storage`: three logical disks in the working folder, blocks that no page
 * fits. */
#define STRIPED "striped;disks=.:.:.;striping_unit=5000"

/* An open storage with all it borrows. */
typedef struct opened {
    wr_tunables tunables;
    wr_budget budget;
    wr_log log;
    char logged[2048]; /* all log lines so far */
    wr_storage *storage;
} opened;

/* Opens with the hints ("storage=pool;direct=always"). limit: of the budget. */
int open_hints(opened *o, const char *path, int flags, const char *hints, int64_t limit);
/* Same; must succeed, with 64 MiB of budget. */
void open_well(opened *o, const char *path, int flags, const char *hints);

/* As open_hints, of several files seen as one that is called "set", with 64 MiB of budget. */
int open_members(opened *o, const wr_members *members, int flags, const char *hints);

/* Closes, and checks that the budget got everything back. */
void close_well(opened *o);

/* A path in the working folder that no other test uses; the file is removed by forget_file. */
const char *test_path(const char *name);
void forget_file(const char *path);

/* The first bytes of a file as a whole, by the hints' storage; get returns how many there are. */
void put_file(const char *path, const char *hints, char *bytes, int64_t count);
int64_t get_file(const char *path, const char *hints, char *bytes, int64_t count);

/* The byte a test puts at data position `at` of file `key`. */
char pattern_byte(int64_t key, int64_t at);
void fill_pattern(char *memory, int64_t bytes, int64_t key);
bool has_pattern(const char *memory, int64_t bytes, int64_t key);

wr_transfer flat_transfer(enum wr_direction direction, int64_t offset, char *memory, int64_t bytes);

/* Number of descriptors this process has open. */
int count_descriptors(void);

#endif
