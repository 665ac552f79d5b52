/* Realms of the caller's own. */
#include <string.h>

#include "file/inside.h"
#include "plan/realms.h"

static int copy_realms(int count, const weir_pattern *const *from, weir_pattern **to)
{
    for (int i = 0; i < count; i++) {
        int code = weir_pattern_concat(1, NULL, &from[i], &to[i]);
        if (code)
            return code;
    }
    return 0;
}

/* The caller's realms, checked and copied; to be released, also after an error. */
static int take_realms(const wr_transport *t, const wr_custom_realms *given,
                       const weir_pattern *const *realms, wr_custom_realms *out)
{
    const int64_t count = given->count;
    if (count < 0 || count > t->size)
        return wr_fail(WEIR_EINVAL, "%lld realms for %d ranks", (long long)count, t->size);
    for (int64_t i = 0; i < count; i++)
        if (!realms || !realms[i])
            return wr_fail(WEIR_EINVAL, "realm %lld is NULL", (long long)i);
    if (given->period < 0 || !count)
        return given->period < 0 ? wr_fail(WEIR_EINVAL, "realms with a negative period") : 0;
    weir_pattern **copies = wr_alloc_array(count, sizeof(weir_pattern *));
    if (!copies)
        return WEIR_ENOMEM;
    memset(copies, 0, (size_t)count * sizeof(weir_pattern *));
    *out = (wr_custom_realms){count, given->period, (const weir_pattern *const *)copies};
    int code = copy_realms((int)count, realms, copies);
    return code ? code : wr_custom_verify(out);
}

static uint64_t hash_of(const wr_custom_realms *c)
{
    uint64_t h = (uint64_t)c->count * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)c->period;
    for (int64_t i = 0; i < c->count; i++)
        h = (h ^ h >> 29 ^ c->realm[i]->hash.half[0]) * UINT64_C(0xd6e8feb86659fd93) ^
            c->realm[i]->hash.half[1];
    return h ^ h >> 32;
}

/* [collective] */
static int compare(wr_channel *channel, uint64_t hash)
{
    int64_t words[] = {(int64_t)hash, ~(int64_t)hash};
    int code = wr_channel_reduce(channel, WR_OR, 2, words);
    return !code && words[0] & words[1] ? wr_fail(WEIR_EDISAGREE, "ranks give different realms")
                                        : code;
}

int weir_file_set_realms(weir_file *file, int count, const weir_pattern *const *realms,
                         int64_t period)
{
    wr_group *group = &file->group;
    wr_custom_realms taken = {0};
    const wr_custom_realms given = {.count = count, .period = period};
    int code = wr_file_settle(file);
    if (code)
        return code;
    if (group->handle.tunables.write_behind.which)
        code = wr_fail(WEIR_EINVAL, "write_behind needs realms=persistent");
    else
        code = take_realms(group->handle.world->transport, &given, realms, &taken);
    code = wr_channel_agree(&group->channel, code);
    const uint64_t hash = code ? 0 : hash_of(&taken);
    if (!code)
        code = compare(&group->channel, hash);
    if (!code && group->handle.weak) /* bytes change their owners */
        code = weir_file_sync(file);
    if (code) {
        wr_custom_release(&taken);
        return code;
    }
    wr_custom_release(&group->custom);
    group->custom = taken;
    group->custom_hash = (int64_t)hash;
    return 0;
}
