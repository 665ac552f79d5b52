/* Lines are "weir: debug: FILE, rank R, call N: ..." for all ranks, with the plan by rank 0 and who
 * moves it by all, or "..., access N: ..." for one. A plan may be told again when it changes: the
 * latest counts. */
#include "told.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LINE = 600, KINDS = 64, TRIES = 3, NAME = 40 };

/* What a line is about. */
typedef struct told_key {
    char file[LINE];
    int rank;
    bool call; /* of all ranks; otherwise one rank's own access */
    long long number;
} told_key;

/* A plan as it was told. */
typedef struct told_plan {
    told_key key;
    bool together, per_node, owned;
    bool lacking; /* its node had no memory for what was planned: others may have */
    char exchange[NAME], way[TRIES][NAME], hold[TRIES][NAME], mover[NAME];
    int ways, holds;
    bool write, left, handed;
    long long slots, meetings;
} told_plan;

/* And what was done of it. */
typedef struct told_did {
    told_key key;
    char way[NAME], exchange[NAME], locks[NAME], mover[NAME];
    long long windows, flight, aside, meetings;
    bool handed;
} told_did;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **lines;
static int64_t line_count, line_room;
static struct {
    char what[NAME * 2];
    int64_t count;
} kinds[KINDS];

static void keep(void *user, const char *line, int length)
{
    (void)user;
    char *copy = calloc(1, (size_t)length + 1);
    CHECK(copy);
    memcpy(copy, line, (size_t)length);
    copy[strcspn(copy, "\n")] = '\0';
    pthread_mutex_lock(&lock);
    if (line_count == line_room) {
        line_room = 2 * line_room + 1000;
        lines = realloc(lines, (size_t)line_room * sizeof *lines);
        CHECK(lines);
    }
    lines[line_count++] = copy;
    pthread_mutex_unlock(&lock);
}

void told_listen(wr_world *w)
{
    w->log = (wr_log){.level = WR_LOG_DEBUG, .sink = keep};
}

static void count(const char *head, const char *what)
{
    char name[NAME * 2];
    snprintf(name, sizeof name, "%s %s", head, what);
    for (int i = 0; i < KINDS; i++)
        if (!kinds[i].count || !strcmp(kinds[i].what, name)) {
            strcpy(kinds[i].what, name);
            kinds[i].count++;
            return;
        }
    CHECK_EQUAL(KINDS, 0); /* no room for another */
}

int64_t told_count(const char *what)
{
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(kinds[i].what, what))
            return kinds[i].count;
    return 0;
}

/* The text behind a line's head, or NULL if it is about something else. */
static const char *parse_head(const char *line, told_key *key)
{
    const char *at = strstr(line, ", rank ");
    char kind[NAME];
    if (!at || sscanf(at, ", rank %d, %39s %lld: ", &key->rank, kind, &key->number) != 3)
        return NULL;
    snprintf(key->file, LINE, "%.*s", (int)(at - line), line);
    key->call = !strcmp(kind, "call");
    CHECK(key->call || !strcmp(kind, "access"));
    return strstr(at, ": ") + 2;
}

/* "a, or else b" */
static int parse_tries(const char *text, char out[TRIES][NAME])
{
    int count = 0;
    for (const char *end; text; text = *end ? end + strlen(", or else ") : NULL) {
        end = strstr(text, ", or else ");
        end = end ? end : text + strlen(text);
        CHECK(count < TRIES && end - text < NAME);
        snprintf(out[count++], NAME, "%.*s", (int)(end - text), text);
    }
    return count;
}

static bool begins(const char *text, const char *head)
{
    return !strncmp(text, head, strlen(head));
}

static void parse_plan_line(told_plan *p, const char *text)
{
    long long number;
    if (begins(text, "  write, "))
        p->write = true;
    else if (begins(text, "plan: ")) {
        p->per_node = begins(text, "plan: per node");
        p->together = p->per_node || begins(text, "plan: together");
        p->owned = strstr(text, ", because: the file system is weak");
        p->lacking = strstr(text, ", because: no shared memory");
    } else if (begins(text, "exchange: "))
        snprintf(p->exchange, NAME, "%s", text + strlen("exchange: "));
    else if (begins(text, "way: "))
        p->ways = parse_tries(text + strlen("way: "), p->way);
    else if (begins(text, "locks: "))
        p->holds = parse_tries(text + strlen("locks: "), p->hold);
    else if (sscanf(text, "in flight: %lld windows", &number) == 1)
        p->slots = number;
    else if (sscanf(text, "meetings: %lld", &number) == 1)
        p->meetings = number;
    else if (begins(text, "moved by: ")) {
        snprintf(p->mover, NAME, "%.*s", (int)strcspn(text + 10, ","), text + 10);
        p->left = strstr(text, "storage left to the thread");
        p->handed = strstr(text, "handed to the thread");
    }
}

static bool parse_did(told_did *d, const char *text)
{
    char handed[NAME] = "";
    if (!begins(text, "did: "))
        return false;
    CHECK(sscanf(text,
                 "did: way %39[^;]; exchange %39[^;]; windows %lld, in flight %lld, aside %lld; "
                 "locks %39[^;]; by %39[a-z]%39[^;]; meetings %lld",
                 d->way, d->exchange, &d->windows, &d->flight, &d->aside, d->locks, d->mover,
                 handed, &d->meetings) == 9 ||
          sscanf(text,
                 "did: way %39[^;]; exchange %39[^;]; windows %lld, in flight %lld, aside %lld; "
                 "locks %39[^;]; by %39[a-z]; meetings %lld",
                 d->way, d->exchange, &d->windows, &d->flight, &d->aside, d->locks, d->mover,
                 &d->meetings) == 8);
    d->handed = !strcmp(handed, ", handed");
    return true;
}

/* Whether all words of what was locked are among those that may be. */
static bool within(const char *locks, const char *allowed)
{
    char word[NAME];
    int used;
    for (; sscanf(locks, "%39s%n", word, &used) == 1; locks += used)
        if (!strstr(allowed, word))
            return false;
    return true;
}

static bool locks_agree(const told_plan *p, const told_did *d, const char *hold)
{
    const bool nothing = !strcmp(d->locks, "nothing");
    if (begins(hold, "all,") && d->key.call && d->key.rank)
        return nothing; /* rank 0 holds it for all */
    if (!strcmp(hold, "nothing"))
        return nothing;
    if (!strcmp(hold, "lease or range"))
        return !strcmp(d->locks, "lease") || !strcmp(d->locks, "shared");
    if (!strcmp(hold, "range") || !strcmp(hold, "all, to read"))
        return !strcmp(d->locks, "shared");
    if (!strcmp(hold, "windows"))
        return p->write && (d->windows ? within(d->locks, "modify shared") : nothing);
    if (!strcmp(hold, "windows with holes"))
        return nothing || !strcmp(d->locks, "exclusive");
    return !strcmp(d->locks, !strcmp(hold, "all, to write") ? "exclusive" : "modify");
}

/* Which of the ways that were planned was taken: only pages and devices may fail here. */
static int find_way(const told_plan *p, const told_did *d)
{
    int i = 0;
    while (i < p->ways && strcmp(p->way[i], d->way) != 0) {
        CHECK(!strcmp(p->way[i], "mapped") || !strcmp(p->way[i], "direct"));
        i++;
    }
    CHECK(i < p->ways);
    return i;
}

static void check_alone(const told_plan *p, const told_did *d)
{
    const int way = find_way(p, d);
    const bool windows = !strcmp(d->way, "sieve") || !strcmp(d->way, "columns");
    CHECK(!p->together);
    CHECK(locks_agree(p, d, p->hold[way < p->holds ? way : 0]));
    CHECK(windows ? d->windows > 0 && d->flight >= 1 && d->flight <= p->slots : d->windows == 0);
    CHECK(!strcmp(d->mover, !strcmp(p->mover, "the thread") || p->handed ? "thread" : "caller"));
    CHECK(!d->aside && !strcmp(d->exchange, "none"));
}

/* One rank's part of it; who moves it is that rank's own affair. */
static void check_together(const told_plan *p, const told_plan *own, const told_did *d)
{
    const bool rounds = p->together && strcmp(p->way[0], "none") != 0;
    CHECK(d->windows ? rounds && !strcmp(d->way, p->way[0]) : !strcmp(d->way, "none"));
    const bool none =
        !strcmp(d->exchange, "none"); /* on a node that wants nothing or lacks memory */
    CHECK(!strcmp(d->exchange, rounds ? p->exchange : "none") ||
          (p->per_node && none && !d->windows));
    CHECK(locks_agree(p, d, rounds ? p->hold[0] : "nothing"));
    if (p->owned) /* others have other bytes */
        CHECK(p->together && (begins(p->hold[0], "all,") || !strcmp(p->hold[0], "nothing")));
    CHECK(d->flight <= p->slots || !d->windows);
    /* what is read is asked for as soon as there is room */
    if (!strcmp(d->exchange, "shm") && !p->write && d->windows && !p->per_node)
        CHECK_EQUAL(d->flight, d->windows < p->slots ? d->windows : p->slots);
    CHECK(own->left && d->windows && strcmp(d->way, "kept") != 0 ? d->aside >= d->windows
                                                                 : d->aside == 0);
    CHECK(!strcmp(d->mover, !strcmp(own->mover, "the thread") ? "thread" : "caller"));
    CHECK_EQUAL(d->handed, own->handed);
    CHECK_EQUAL(d->meetings, p->meetings);
}

/* The latest that a rank has told. */
static told_plan *find_plan(told_plan *plans, int64_t plan_count, const told_key *key, int rank)
{
    for (int64_t i = plan_count; i-- > 0;) {
        const told_key *k = &plans[i].key;
        if (k->rank == rank && k->call == key->call && k->number == key->number &&
            !strcmp(k->file, key->file))
            return &plans[i];
    }
    return NULL;
}

static void check_did(const told_plan *p, const told_plan *own, const told_did *d)
{
    CHECK(p && own);
    if (d->key.call && !p->lacking)
        check_together(p, own, d);
    else if (d->key.call)
        return;
    else
        check_alone(p, d);
    count("owned", p->owned ? "yes" : "no");
    if (p->per_node && d->windows)
        count("per node", p->write ? "write" : "read");
    count("way", d->way);
    count("exchange", d->exchange);
    count("locks", d->locks);
    count("by", d->mover);
    count("handed", d->handed ? "yes" : "no");
    count("aside", d->aside ? "yes" : "no");
}

/* A line of a plan, added to those told so far. */
static void add_line(told_plan *plans, int64_t *plan_count, const told_key *key, const char *text)
{
    if (begins(text, "input ") || (key->call && key->rank))
        plans[(*plan_count)++].key = *key;
    told_plan *p = find_plan(plans, *plan_count, key, key->rank);
    CHECK(p);
    parse_plan_line(p, text);
}

void told_check(void)
{
    told_plan *plans = calloc((size_t)line_count + 1, sizeof *plans);
    int64_t plan_count = 0;
    CHECK(plans);
    for (int pass = 0; pass < 2; pass++) /* ranks tell in any order */
        for (int64_t i = 0; i < line_count; i++) {
            told_did d = {0};
            const char *text = parse_head(lines[i], &d.key);
            if (!text)
                continue;
            if (pass && getenv("WEIR_TEST_SHOW"))
                fprintf(stderr, "%s\n", lines[i]);
            const bool did = parse_did(&d, text);
            if (!pass && !did)
                add_line(plans, &plan_count, &d.key, text);
            if (pass && did)
                check_did(find_plan(plans, plan_count, &d.key, d.key.call ? 0 : d.key.rank),
                          find_plan(plans, plan_count, &d.key, d.key.rank), &d);
        }
    free(plans);
    for (int64_t i = 0; i < line_count; i++)
        free(lines[i]);
    line_count = 0;
}
