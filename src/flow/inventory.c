/*
 * inventory.c - every version, from one listing.
 */
#include "flow/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "flow/pointers.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/parallel.h"
#include "util/text.h"

/* More folders than this is no repository that anybody made. */
#define VERSIONS_LIMIT 10000000u
/* Files of one version; a host may add a few. */
#define FILES_LIMIT 10000u

static fdl_code add_version(fdl_inventory *inventory, const char *id, fdl_stored **out, fdl_error *error) {
    *out = fdl_inventory_find(inventory, id);
    if (*out)
        return FDL_OK;
    if (inventory->count == VERSIONS_LIMIT)
        return fdl_fail(error, FDL_FAILED, FDL_KEY_VERSIONS, "more than %u versions", VERSIONS_LIMIT);
    fdl_code code = fdl_grow(&inventory->items, inventory->count, sizeof *inventory->items, error);
    if (code == FDL_OK)
        code = fdl_map_put(&inventory->places, id, inventory->count, error);
    if (code != FDL_OK)
        return code;
    *out = &inventory->items[inventory->count++];
    memset(*out, 0, sizeof **out);
    memcpy((*out)->id, id, FDL_ID_BYTES);
    return FDL_OK;
}

static fdl_code add_file(fdl_stored *stored, const char *name, const fdl_object *object, fdl_error *error) {
    if (stored->file_count == FILES_LIMIT)
        return fdl_fail(error, FDL_FAILED, stored->id, "version '%s' has more than %u files", stored->id, FILES_LIMIT);
    fdl_code code = fdl_grow(&stored->files, stored->file_count, sizeof *stored->files, error);
    if (code != FDL_OK)
        return code;
    fdl_stored_file *file = &stored->files[stored->file_count];
    *file = (fdl_stored_file){.bytes = object->size_bytes};
    code = fdl_str_copy(&file->name, name, error);
    if (code != FDL_OK)
        return code;
    stored->file_count++;
    if (object->modified_ms > stored->newest_ms)
        stored->newest_ms = object->modified_ms;
    if (strcmp(name, FDL_FILE_VERSION) == 0)
        stored->record_ms = object->modified_ms ? object->modified_ms : 1;
    stored->marked = stored->marked || strcmp(name, FDL_FILE_EXPIRED) == 0;
    stored->has_catalog =
        stored->has_catalog || strcmp(name, FDL_FILE_CATALOG) == 0 || fdl_str_starts(name, "catalogs/");
    return FDL_OK;
}

/* Names that are no versions are not ours. */
static fdl_code take_entry(void *data, const fdl_entry *entry, fdl_error *error) {
    char id[FDL_ID_BYTES];
    fdl_stored *stored = NULL;
    const char *rest = entry->key + strlen(FDL_KEY_VERSIONS);
    const char *slash = strchr(rest, '/');
    if (!slash || slash - rest != FDL_ID_BYTES - 1)
        return FDL_OK;
    memcpy(id, rest, sizeof id);
    id[FDL_ID_BYTES - 1] = '\0';
    if (!fdl_uuid_valid(id))
        return FDL_OK;
    fdl_code code = add_version(data, id, &stored, error);
    return code == FDL_OK ? add_file(stored, slash + 1, &entry->object, error) : code;
}

fdl_code fdl_inventory_read(fdl_repo *repo, fdl_inventory *out, fdl_error *error) {
    fdl_inventory inventory = {.repo = repo};
    fdl_code code =
        fdl_store_list(fdl_repo_store(repo), FDL_KEY_VERSIONS, FDL_ALL_LEVELS, take_entry, &inventory, error);
    if (code == FDL_OK)
        *out = inventory;
    else
        fdl_inventory_clear(&inventory);
    return code;
}

void fdl_inventory_clear(fdl_inventory *inventory) {
    for (size_t i = 0; i < inventory->count; i++) {
        fdl_stored *stored = &inventory->items[i];
        for (size_t j = 0; j < stored->file_count; j++)
            free(stored->files[j].name);
        free(stored->files);
        fdl_version_clear(&stored->version);
        fdl_expiry_clear(&stored->expiry);
    }
    free(inventory->items);
    fdl_map_clear(&inventory->places);
    memset(inventory, 0, sizeof *inventory);
}

fdl_stored *fdl_inventory_find(const fdl_inventory *inventory, const char *id) {
    uint64_t place = 0;
    return fdl_map_get(&inventory->places, id, &place) ? &inventory->items[place] : NULL;
}

const fdl_stored_file *fdl_stored_find(const fdl_stored *stored, const char *name) {
    for (size_t i = 0; i < stored->file_count; i++)
        if (strcmp(stored->files[i].name, name) == 0)
            return &stored->files[i];
    return NULL;
}

bool fdl_stored_is_live(const fdl_stored *stored) {
    return stored->record_ms != 0 && !stored->bare && (!stored->marked || stored->has_catalog);
}

static bool holds_a_record_alone(const fdl_stored *stored) {
    bool alone = stored->record_ms != 0 && stored->file_count > 0;
    for (size_t i = 0; i < stored->file_count; i++)
        alone = alone && (strcmp(stored->files[i].name, FDL_FILE_VERSION) == 0 ||
                          strcmp(stored->files[i].name, FDL_FILE_SIGNATURE) == 0);
    return alone;
}

/* The refs are read after the listing: whatever they name by now is not passed over. */
fdl_code fdl_inventory_bare(fdl_inventory *inventory, fdl_error *error) {
    fdl_ref_list pointers = {0};
    bool any = false;
    for (size_t i = 0; i < inventory->count; i++) {
        inventory->items[i].bare = holds_a_record_alone(&inventory->items[i]);
        any = any || inventory->items[i].bare;
    }
    fdl_code code = any ? fdl_pointers_read(inventory->repo, &pointers, error) : FDL_OK;
    for (size_t i = 0; i < pointers.count; i++) {
        fdl_stored *stored = fdl_inventory_find(inventory, pointers.items[i].id);
        if (stored)
            stored->bare = false;
    }
    fdl_ref_list_clear(&pointers);
    return code;
}

/* ---- what is in them ------------------------------------------------------------ */

static fdl_code read_record(void *data, size_t index, fdl_error *error) {
    const fdl_inventory *inventory = data;
    fdl_stored *stored = &inventory->items[index];
    if (stored->record_ms == 0 || stored->version.id[0])
        return FDL_OK;
    fdl_code code = fdl_version_read(inventory->repo, stored->id, &stored->version, error);
    if (code == FDL_NOT_FOUND) { /* pruned between the listing and now */
        stored->record_ms = 0;
        code = FDL_OK;
    }
    return code;
}

fdl_code fdl_inventory_record(fdl_inventory *inventory, const char *id, int64_t *place, fdl_error *error) {
    fdl_stored *stored = fdl_inventory_find(inventory, id);
    *place = -1;
    if (!stored || (stored->record_ms == 0 && !stored->version.id[0])) {
        fdl_version version = {0};
        fdl_code code = fdl_version_read(inventory->repo, id, &version, error);
        if (code == FDL_NOT_FOUND)
            return FDL_OK;
        if (code == FDL_OK)
            code = add_version(inventory, id, &stored, error);
        if (code != FDL_OK) {
            fdl_version_clear(&version);
            return code;
        }
        stored->version = version;
        stored->record_ms = 1;
    }
    *place = stored - inventory->items;
    return read_record(inventory, (size_t)*place, error);
}

static fdl_code read_marker(void *data, size_t index, fdl_error *error) {
    const fdl_inventory *inventory = data;
    fdl_stored *stored = &inventory->items[index];
    if (!stored->marked || stored->expiry.expired)
        return FDL_OK;
    fdl_code code = fdl_expiry_read(inventory->repo, stored->id, &stored->expiry, error);
    if (code == FDL_OK)
        stored->marked = stored->expiry.expired; /* it may have been taken back */
    return code;
}

static fdl_code read_all(fdl_inventory *inventory, fdl_task task, fdl_error *error) {
    fdl_store *store = fdl_repo_store(inventory->repo);
    const fdl_context *context = fdl_repo_context(inventory->repo);
    return fdl_parallel(inventory->count, store->local ? 1 : context->jobs, task, inventory, error);
}

fdl_code fdl_inventory_records(fdl_inventory *inventory, fdl_error *error) {
    return read_all(inventory, read_record, error);
}

fdl_code fdl_inventory_markers(fdl_inventory *inventory, fdl_error *error) {
    return read_all(inventory, read_marker, error);
}
