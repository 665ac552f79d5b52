/* How a slot changes hands: its owner describes it and shows it by its number; who takes part
 * copies, and acknowledges; when all have, it is the owner's again. */
#include "exchange/rings.h"

#include "base/arith.h"
#include "runtime/channel.h"

wr_slot *wr_rings_change(const wr_rings *r, int ring, int which)
{
    wr_slot *slot = wr_rings_slot(r, ring, which);
    /* A rank that still looks at the window before must not take this one's fields for that one's:
     * a negative number says that they change. The fence keeps it before the stores that follow; it
     * pairs with the acquire fence in visit(), which looks at the number again after reading. */
    int64_t before = atomic_load_explicit(&slot->number, memory_order_relaxed);
    atomic_store_explicit(&slot->number, before > 0 ? -before : before, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->ordered = slot->packed = 0;
    slot->valid = INT64_MAX;
    atomic_store_explicit(&slot->acknowledged, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->next, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->expected, 0, memory_order_relaxed);
    for (int i = 0; i < (r->nw->members + 63) / 64; i++)
        atomic_store_explicit(&slot->who[i], 0, memory_order_relaxed);
    return slot;
}

void wr_rings_admit(const wr_rings *r, int ring, int which, int member, wr_slot_share share)
{
    wr_slot *slot = wr_rings_slot(r, ring, which);
    uint64_t word = atomic_load_explicit(&slot->who[member / 64], memory_order_relaxed);
    int64_t expected = atomic_load_explicit(&slot->expected, memory_order_relaxed);
    atomic_store_explicit(&slot->who[member / 64], word | UINT64_C(1) << member % 64,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->expected, expected + 1, memory_order_relaxed);
    wr_node_windows_shares(r->nw, ring, which)[member] = share;
}

static void wake_clients(const wr_rings *r, const wr_slot *slot)
{
    for (int i = 0; i < r->nw->members; i++)
        if (i != r->call->party.self && wr_slot_has(slot, i))
            wr_rings_wake(r, i);
}

void wr_rings_show(const wr_rings *r, int ring, int which, int64_t number)
{
    wr_slot *slot = wr_rings_slot(r, ring, which);
    /* releases the description and, when reading, the data to the load in visit() */
    atomic_store_explicit(&slot->number, number, memory_order_release);
    wake_clients(r, slot);
}

bool wr_rings_is_done(const wr_rings *r, int ring, int which)
{
    const wr_slot *slot = wr_rings_slot(r, ring, which);
    /* acquires what the clients copied: pairs with the addition in take_part() */
    return atomic_load_explicit(&slot->acknowledged, memory_order_acquire) ==
           atomic_load_explicit(&slot->expected, memory_order_relaxed);
}

bool wr_rings_is_turn(const wr_rings *r, int ring, int which, int64_t turn)
{
    /* acquires the copies of the turns before: pairs with the store in end_turn() */
    return atomic_load_explicit(&wr_rings_slot(r, ring, which)->next, memory_order_acquire) == turn;
}

void wr_rings_end_turn(const wr_rings *r, int ring, int which, int64_t turn)
{
    wr_slot *slot = wr_rings_slot(r, ring, which);
    const wr_slot_share *share = wr_node_windows_shares(r->nw, ring, which);
    int next = 0;
    while (next < r->nw->members && !(wr_slot_has(slot, next) && share[next].turn == turn + 1))
        next++;
    atomic_store_explicit(&slot->next, turn + 1, memory_order_release);
    if (next < r->nw->members && next != r->call->party.self)
        wr_rings_wake(r, next);
}

void wr_rings_conclude(const wr_rings *r, int ring, int64_t windows)
{
    /* pairs with the first load in visit() */
    atomic_store_explicit(&wr_node_windows_ring(r->nw, ring)->windows, windows + 1,
                          memory_order_release);
    for (int i = 0; i < r->nw->members; i++)
        if (i != r->call->party.self)
            wr_rings_wake(r, i);
}

void wr_rings_clear(const wr_node_windows *nw, int ring, int slots)
{
    wr_ring *d = wr_node_windows_ring(nw, ring);
    atomic_store(&d->windows, 0);
    for (int i = 0; i < slots; i++)
        atomic_store(&d->slot[i].number, 0);
}

/* Copies this rank's part of a window, unless others must come first. */
static bool take_part(const wr_rings *r, int ring, int which)
{
    const wr_access_request *a = r->call->a;
    const int self = r->call->party.self, owner = wr_call_owner(r->call, ring);
    wr_slot *slot = wr_rings_slot(r, ring, which);
    const wr_slot_share share = wr_node_windows_shares(r->nw, ring, which)[self];
    const int64_t lo = slot->lo, hi = slot->hi;
    if (slot->ordered && !wr_rings_is_turn(r, ring, which, share.turn))
        return false;
    const weir_pattern cover = wr_node_windows_get_cover(r->nw, ring, which);
    char *buffer = wr_node_windows_buffer(r->nw, ring, which);
    if (slot->packed)
        wr_access_pack(a, &cover, buffer + share.place, lo, hi, slot->valid);
    else
        wr_access_copy(a, &cover, buffer, lo, wr_min(hi, slot->valid));
    if (slot->ordered) {
        wr_rings_end_turn(r, ring, which, share.turn);
        if (owner != self) /* whose turn may be next */
            wr_rings_wake(r, owner);
    }
    /* releases this rank's copy to wr_rings_is_done(); after it the slot may show another window,
     * so what is needed of it is read before */
    int64_t expected = slot->expected;
    if (atomic_fetch_add_explicit(&slot->acknowledged, 1, memory_order_acq_rel) + 1 == expected &&
        owner != self)
        wr_rings_wake(r, owner);
    return true;
}

/* One look at a ring; whether anything happened. `*over` if all its windows are through. */
static bool visit(wr_rings *r, int ring, bool *over)
{
    const wr_ring *d = wr_node_windows_ring(r->nw, ring);
    int64_t all = atomic_load_explicit(&d->windows, memory_order_acquire) - 1,
            k = r->nw->seen[ring];
    *over = all >= 0 && k >= all;
    if (*over)
        return false;
    int which = (int)(k % r->call->slots);
    const wr_slot *slot = &d->slot[which];
    int64_t number = atomic_load_explicit(&slot->number, memory_order_acquire);
    if (number < k + 1 && -number < k + 1)
        return false;
    bool mine = number == k + 1 && wr_slot_has(slot, r->call->party.self);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->number, memory_order_relaxed) == k + 1 && mine &&
        !take_part(r, ring, which))
        return false;
    r->nw->seen[ring]++;
    return true;
}

bool wr_rings_attend(wr_rings *r, bool *over)
{
    bool busy = false, all = true;
    for (int ring = 0; ring < r->count; ring++) {
        bool done;
        while (visit(r, ring, &done))
            busy = true;
        all = all && done;
    }
    *over = all;
    return busy;
}
