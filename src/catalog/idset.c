/*
 * idset.c - a set of ids by hashing; ids are given out in order, so the hash
 * only has to spread them.
 */
#include <stdlib.h>

#include "catalog/idset.h"
#include "util/text.h"

#define FIRST_SLOTS 64

static size_t slot_of(const fdl_idset *set, int64_t id) {
    size_t slot = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->slot_count - 1);
    while (set->used[slot] && set->slots[slot] != id)
        slot = (slot + 1) & (set->slot_count - 1);
    return slot;
}

static fdl_code double_slots(fdl_idset *set, fdl_error *error) {
    fdl_idset larger = {.slot_count = set->slot_count == 0 ? FIRST_SLOTS : 2 * set->slot_count};
    fdl_code code = fdl_alloc(&larger.slots, larger.slot_count, sizeof *larger.slots, error);
    if (code == FDL_OK)
        code = fdl_alloc(&larger.used, larger.slot_count, sizeof *larger.used, error);
    if (code != FDL_OK) {
        fdl_idset_clear(&larger);
        return code;
    }
    for (size_t i = 0; i < set->slot_count; i++) {
        if (set->used[i]) {
            size_t slot = slot_of(&larger, set->slots[i]);
            larger.slots[slot] = set->slots[i];
            larger.used[slot] = 1;
        }
    }
    larger.count = set->count;
    fdl_idset smaller = *set;
    *set = larger;
    fdl_idset_clear(&smaller);
    return FDL_OK;
}

fdl_code fdl_idset_add(fdl_idset *set, int64_t id, bool *is_new, fdl_error *error) {
    if (set->count * 2 >= set->slot_count) {
        fdl_code code = double_slots(set, error);
        if (code != FDL_OK)
            return code;
    }
    size_t slot = slot_of(set, id);
    if (is_new != NULL)
        *is_new = !set->used[slot];
    set->count += !set->used[slot];
    set->slots[slot] = id;
    set->used[slot] = 1;
    set->asked = false;
    return FDL_OK;
}

bool fdl_idset_has(fdl_idset *set, int64_t id) {
    if (!set->asked || set->last_id != id) {
        set->asked = true;
        set->last_id = id;
        set->last_answer = set->count > 0 && set->used[slot_of(set, id)];
    }
    return set->last_answer;
}

void fdl_idset_clear(fdl_idset *set) {
    free(set->slots);
    free(set->used);
    *set = (fdl_idset){0};
}
