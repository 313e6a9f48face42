/*
 * plan.c - deletions: listed, shown, carried out.
 *
 *   add ... add -> [walk: a dry run prints it] -> run
 *
 * A line of the list is kind, bytes, version, sha256 and key, with tabs between;
 * no key holds one.
 */
#include "flow/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/idset.h"
#include "flow/scratch.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/parallel.h"
#include "util/text.h"

/* Deleted together: what eight requests of S3 take. */
#define CHUNK (8 * FDL_REMOVE_MANY_LIMIT)

struct fdl_plan {
    fdl_repo *repo;
    const char *data_dir;
    unsigned kinds;
    FILE *list; /* of a file without a name */
    uint64_t count;
    uint64_t bytes;
    fdl_idset dropped; /* by place in the list: what was not confirmed */
};

/* ---- what is a thing of which kind ------------------------------------------------ */

static const char *kind_name(unsigned kind) {
    switch (kind) {
    case FDL_DELETE_TAG:
        return "tag";
    case FDL_DELETE_CONTENT:
    case FDL_DELETE_CATALOG:
        return "content";
    case FDL_DELETE_RECORD:
    case FDL_DELETE_LEFTOVER:
        return "leftover";
    case FDL_DELETE_SOURCE:
        return "source";
    case FDL_DELETE_NOTHING:
        return "left";
    default:
        return "data";
    }
}

/* The name behind "versions/<version>/"; NULL when the key is not there. */
static const char *name_in_version(const char *key, const char *version) {
    size_t prefix = strlen(FDL_KEY_VERSIONS);
    if (!version || !fdl_uuid_valid(version) || !fdl_str_starts(key, FDL_KEY_VERSIONS) ||
        strncmp(key + prefix, version, FDL_ID_BYTES - 1) != 0 || key[prefix + FDL_ID_BYTES - 1] != '/')
        return NULL;
    return key + prefix + FDL_ID_BYTES;
}

bool fdl_is_memory_of_version(const char *name) {
    return strcmp(name, FDL_FILE_VERSION) == 0 || strcmp(name, FDL_FILE_VERSION ".sig") == 0 ||
           strcmp(name, FDL_FILE_DATASET) == 0 || strcmp(name, FDL_FILE_EXPIRED) == 0;
}

static bool is_source(const char *key) {
    const char *hash = key + strlen("sources/");
    return fdl_str_starts(key, "sources/") && strlen(hash) == FDL_SHA256_BYTES - 1 &&
           strspn(hash, "0123456789abcdef") == FDL_SHA256_BYTES - 1;
}

static bool is_of_kind(const fdl_plan *plan, unsigned kind, const fdl_deletion *deletion) {
    const char *key = deletion->key;
    const char *name = name_in_version(key, deletion->version);
    switch (kind) {
    case FDL_DELETE_TAG:
        return fdl_str_starts(key, FDL_REF_TAGS) && deletion->version && fdl_uuid_valid(deletion->version);
    case FDL_DELETE_DATA:
        return fdl_str_starts(key, plan->data_dir) && (fdl_str_ends(key, ".parquet") || fdl_str_ends(key, ".puffin"));
    case FDL_DELETE_NAMED:
        return fdl_str_starts(key, plan->data_dir);
    case FDL_DELETE_CONTENT:
    case FDL_DELETE_CATALOG:
        return name && !fdl_is_memory_of_version(name);
    case FDL_DELETE_RECORD:
        return name && strcmp(name, FDL_FILE_VERSION) == 0;
    case FDL_DELETE_LEFTOVER:
        return name && strcmp(name, FDL_FILE_VERSION) != 0;
    case FDL_DELETE_SOURCE:
        return is_source(key);
    case FDL_DELETE_NOTHING:
        return true;
    default:
        return false;
    }
}

/* ---- the list ------------------------------------------------------------------------ */

static fdl_code open_list(FILE **out, fdl_error *error) {
    char *folder = NULL, *near = NULL, *path = NULL;
    int fd = -1;
    fdl_code code = fdl_scratch_make(&folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(&near, error, "%s/plan", folder);
    if (code == FDL_OK)
        code = fdl_temp_create(near, &path, &fd, error);
    if (code == FDL_OK && !(*out = fdopen(fd, "w+"))) {
        close(fd);
        code = fdl_fail(error, FDL_FAILED, path, "cannot open '%s'", path);
    }
    free(path);
    free(near);
    fdl_scratch_remove(folder); /* the open file stays without a name, and goes with us */
    return code;
}

fdl_code fdl_plan_open(fdl_repo *repo, unsigned kinds, fdl_plan **out, fdl_error *error) {
    fdl_plan *plan = NULL;
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_alloc(&plan, 1, sizeof *plan, error);
    if (code != FDL_OK)
        return code;
    *plan = (fdl_plan){.repo = repo, .data_dir = config->data_dir, .kinds = kinds};
    code = open_list(&plan->list, error);
    if (code == FDL_OK)
        *out = plan;
    else
        fdl_plan_free(plan);
    return code;
}

void fdl_plan_free(fdl_plan *plan) {
    if (!plan)
        return;
    if (plan->list)
        fclose(plan->list);
    fdl_idset_clear(&plan->dropped);
    free(plan);
}

uint64_t fdl_plan_count(const fdl_plan *plan) {
    return plan ? plan->count - plan->dropped.count : 0;
}

uint64_t fdl_plan_bytes(const fdl_plan *plan) {
    return plan ? plan->bytes : 0;
}

static fdl_code list_failed(fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "cannot keep the list of deletions in a temporary file; is the disk full?");
}

fdl_code fdl_plan_add(fdl_plan *plan, unsigned kind, const fdl_deletion *deletion, fdl_error *error) {
    fdl_code code = fdl_key_check(deletion->key, error);
    if (code != FDL_OK)
        return code;
    if (!(plan->kinds & kind) || !is_of_kind(plan, kind, deletion))
        return fdl_fail(error, FDL_REFUSED, deletion->key, "'%s' is nothing that this command may delete as %s",
                        deletion->key, kind_name(kind));
    const char *version = deletion->version && *deletion->version ? deletion->version : "-";
    const char *sha256 = deletion->sha256 && *deletion->sha256 ? deletion->sha256 : "-";
    if (fprintf(plan->list, "%u\t%" PRIu64 "\t%s\t%s\t%s\n", kind, deletion->bytes, version, sha256, deletion->key) < 0)
        return list_failed(error);
    plan->count++;
    plan->bytes += deletion->bytes;
    return FDL_OK;
}

/* The fields of a line, which is cut up for it; false for one that we did not write. */
static bool read_line(char *line, unsigned *kind, fdl_deletion *out) {
    char *fields[5];
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < 5;) {
        fields[count++] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = '\0';
    }
    if (count != 5)
        return false;
    *kind = (unsigned)strtoul(fields[0], NULL, 10);
    *out = (fdl_deletion){
        .kind = kind_name(*kind),
        .key = fields[4],
        .bytes = strtoull(fields[1], NULL, 10),
        .version = strcmp(fields[2], "-") == 0 ? "" : fields[2],
        .sha256 = strcmp(fields[3], "-") == 0 ? "" : fields[3],
    };
    return true;
}

/* Called for each line of the list with its place; dropped ones are passed over. */
typedef fdl_code (*line_callback)(void *data, int64_t place, unsigned kind, const fdl_deletion *deletion,
                                  fdl_error *error);

static fdl_code walk(fdl_plan *plan, line_callback callback, void *data, fdl_error *error) {
    char *line = NULL;
    size_t room = 0;
    fdl_code code = fflush(plan->list) == 0 && fseek(plan->list, 0, SEEK_SET) == 0 ? FDL_OK : list_failed(error);
    for (uint64_t place = 0; code == FDL_OK && place < plan->count; place++) {
        unsigned kind = 0;
        fdl_deletion deletion;
        if (getline(&line, &room, plan->list) < 0 || !read_line(line, &kind, &deletion))
            code = list_failed(error);
        else if (!fdl_idset_has(&plan->dropped, (int64_t)place))
            code = callback(data, (int64_t)place, kind, &deletion, error);
    }
    free(line);
    if (fseek(plan->list, 0, SEEK_END) != 0 && code == FDL_OK)
        code = list_failed(error);
    return code;
}

typedef struct shown {
    fdl_deletion_callback callback;
    void *data;
} shown;

static fdl_code show_line(void *data, int64_t place, unsigned kind, const fdl_deletion *deletion, fdl_error *error) {
    const shown *s = data;
    (void)place, (void)kind;
    return s->callback(s->data, deletion, error);
}

fdl_code fdl_plan_walk(fdl_plan *plan, fdl_deletion_callback callback, void *data, fdl_error *error) {
    shown s = {.callback = callback, .data = data};
    return !plan ? FDL_OK : walk(plan, show_line, &s, error);
}

/* ---- carrying it out ----------------------------------------------------------------- */

typedef struct running {
    fdl_plan *plan;
    fdl_store *store;
    const fdl_plan_options *options;
    char **keys; /* collected, not deleted yet */
    size_t count;
} running;

static fdl_code purge_key(void *data, size_t index, fdl_error *error) {
    const running *r = data;
    return fdl_store_purge(r->store, r->keys[index], error);
}

static fdl_code delete_collected(running *r, fdl_error *error) {
    int jobs = r->store->local ? 1 : fdl_repo_context(r->plan->repo)->jobs;
    fdl_code code = r->options->purge
                        ? fdl_parallel(r->count, jobs, purge_key, r, error)
                        : fdl_store_remove_many(r->store, (const char *const *)r->keys, r->count, error);
    for (size_t i = 0; i < r->count; i++)
        free(r->keys[i]);
    r->count = 0;
    return code;
}

/* A ref goes by its own rule: only while it points where the plan says. */
static fdl_code delete_tag(const running *r, const fdl_deletion *deletion, fdl_error *error) {
    fdl_ref ref = {0};
    fdl_code code = fdl_ref_read(r->plan->repo, deletion->key, &ref, error);
    if (code == FDL_NOT_FOUND)
        return FDL_OK;
    if (code == FDL_OK && strcmp(ref.id, deletion->version) != 0)
        return fdl_fail(error, FDL_CONFLICT, deletion->key, "'%s' points to '%s' now and not to '%s'; run it again",
                        deletion->key, ref.id, deletion->version);
    return code == FDL_OK ? fdl_ref_remove(r->plan->repo, &ref, error) : code;
}

static fdl_code run_line(void *data, int64_t place, unsigned kind, const fdl_deletion *deletion, fdl_error *error) {
    running *r = data;
    if (!(r->options->kinds & kind))
        return FDL_OK;
    if (!(r->plan->kinds & kind) || kind == FDL_DELETE_NOTHING || !is_of_kind(r->plan, kind, deletion))
        return fdl_fail(error, FDL_REFUSED, deletion->key, "'%s' is not in the plan", deletion->key);
    if (r->options->confirm && !r->options->confirm(r->options->data, deletion)) {
        r->plan->bytes -= deletion->bytes;
        return fdl_idset_add(&r->plan->dropped, place, NULL, error);
    }
    if (kind == FDL_DELETE_TAG)
        return delete_tag(r, deletion, error);
    fdl_code code = fdl_str_copy(&r->keys[r->count], deletion->key, error);
    if (code == FDL_OK && ++r->count == CHUNK)
        code = delete_collected(r, error);
    return code;
}

fdl_code fdl_plan_run(fdl_plan *plan, const fdl_plan_options *options, fdl_error *error) {
    running r = {.plan = plan, .store = fdl_repo_store(plan->repo), .options = options};
    fdl_code code = fdl_alloc(&r.keys, CHUNK, sizeof *r.keys, error);
    if (code == FDL_OK)
        code = walk(plan, run_line, &r, error);
    if (code == FDL_OK)
        code = delete_collected(&r, error);
    for (size_t i = 0; i < r.count; i++)
        free(r.keys[i]);
    free(r.keys);
    return code;
}
