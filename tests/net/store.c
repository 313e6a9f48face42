/*
 * store.c - the calls of fdl/store.h as commands, so that tests written in
 * Python can start servers, break connections, and see what a store makes of it.
 *
 *     store ADDRESS COMMAND ARGUMENT... [-- COMMAND ARGUMENT...]...
 *
 *     read KEY | get KEY [OFFSET LENGTH] | head KEY
 *     put KEY TEXT [absent | match ETAG] | putfile KEY PATH [absent | match ETAG]
 *     remove KEY [match ETAG] | removemany KEY... | purge KEY
 *     list PREFIX one|all
 *     presign METHOD KEY SECONDS [HEADER VALUE]... | presignput KEY BYTES SECONDS [SHA256]
 *     describe | promises | clock
 *
 * All commands use one store, so connections are kept between them.  Each prints
 * one line of JSON: "code" and, when it is not "ok", "message" and "key"; else
 * what there is to tell.  FDL_TEST_MULTIPART_FROM, FDL_TEST_PART and
 * FDL_TEST_PAGE make an S3 store's measures small.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl/store.h"
#include "store/promises.h"
#include "store/s3.h"
#include "util/buf.h"
#include "util/ident.h"

static fdl_store *store;
static fdl_error error;

static void print_note(void *data, fdl_note_level level, const char *line) {
    (void)data;
    if (level != FDL_NOTE_DETAIL)
        fprintf(stderr, "note: %s\n", line);
}

static void set_text(json_t *answer, const char *field, const char *text) {
    json_object_set_new(answer, field, json_string(text ? text : ""));
}

static void set_object(json_t *answer, const fdl_object *object) {
    set_text(answer, "etag", object->etag);
    json_object_set_new(answer, "size", json_integer((json_int_t)object->size_bytes));
    json_object_set_new(answer, "modified_ms", json_integer(object->modified_ms));
}

/* ---- commands ------------------------------------------------------------ */

static const char *argument(char **arguments, int count, int index) {
    if (index >= count) {
        fprintf(stderr, "'%s' needs more arguments\n", arguments[0]);
        exit(2);
    }
    return arguments[index];
}

static fdl_condition condition_at(char **arguments, int count, int index) {
    if (index >= count)
        return (fdl_condition){.kind = FDL_ALWAYS};
    if (strcmp(arguments[index], "absent") == 0)
        return (fdl_condition){.kind = FDL_IF_ABSENT};
    return (fdl_condition){.kind = FDL_IF_MATCH, .etag = argument(arguments, count, index + 1)};
}

static fdl_code do_read(json_t *answer, char **arguments, int count) {
    char *bytes = NULL;
    size_t length;
    fdl_object object;
    fdl_code code = fdl_store_read(store, argument(arguments, count, 1), 1 << 20, &bytes, &length, &object, &error);
    if (code == FDL_OK) {
        set_text(answer, "text", bytes);
        set_object(answer, &object);
    }
    free(bytes);
    return code;
}

typedef struct counting {
    fdl_sha256 hash;
    uint64_t bytes;
} counting;

static fdl_code count_bytes(void *data, const void *bytes, size_t length, fdl_error *problem) {
    counting *c = data;
    c->bytes += length;
    return fdl_sha256_add(&c->hash, bytes, length, problem);
}

static fdl_code do_get(json_t *answer, char **arguments, int count) {
    counting c = {.bytes = 0};
    fdl_object object;
    fdl_range range = {0, 0};
    char digest[65] = "";
    if (count > 2) {
        range.offset_bytes = strtoull(arguments[2], NULL, 10);
        range.length_bytes = strtoull(argument(arguments, count, 3), NULL, 10);
    }
    if (fdl_sha256_start(&c.hash, &error) != FDL_OK)
        return FDL_FAILED;
    fdl_code code = fdl_store_get(store, argument(arguments, count, 1), count > 2 ? &range : NULL, count_bytes, &c,
                                  &object, &error);
    json_object_set_new(answer, "bytes", json_integer((json_int_t)c.bytes));
    if (code != FDL_OK) {
        fdl_sha256_drop(&c.hash);
        return code;
    }
    set_object(answer, &object);
    code = fdl_sha256_finish(&c.hash, digest, &error);
    set_text(answer, "sha256", digest);
    return code;
}

static fdl_code do_head(json_t *answer, char **arguments, int count) {
    fdl_object object;
    fdl_code code = fdl_store_head(store, argument(arguments, count, 1), &object, &error);
    if (code == FDL_OK)
        set_object(answer, &object);
    return code;
}

static fdl_code do_put(json_t *answer, char **arguments, int count) {
    const char *what = argument(arguments, count, 2);
    fdl_source source = {.bytes = what, .length_bytes = strlen(what)};
    fdl_object object;
    if (strcmp(arguments[0], "putfile") == 0)
        source = (fdl_source){.path = what};
    fdl_code code = fdl_store_put(store, arguments[1], &source, condition_at(arguments, count, 3), &object, &error);
    if (code == FDL_OK)
        set_object(answer, &object);
    return code;
}

static fdl_code do_remove(json_t *answer, char **arguments, int count) {
    (void)answer;
    return fdl_store_remove(store, argument(arguments, count, 1), condition_at(arguments, count, 2), &error);
}

static fdl_code do_remove_many(json_t *answer, char **arguments, int count) {
    (void)answer;
    return fdl_store_remove_many(store, (const char *const *)(arguments + 1), (size_t)count - 1, &error);
}

static fdl_code do_purge(json_t *answer, char **arguments, int count) {
    (void)answer;
    return fdl_store_purge(store, argument(arguments, count, 1), &error);
}

static fdl_code do_clock(json_t *answer, char **arguments, int count) {
    (void)arguments;
    (void)count;
    int64_t now_ms = 0;
    fdl_code code = fdl_store_clock(store, &now_ms, &error);
    json_object_set_new(answer, "now_ms", json_integer(now_ms));
    return code;
}

static fdl_code add_entry(void *data, const fdl_entry *entry, fdl_error *problem) {
    (void)problem;
    json_t *item = json_object();
    set_text(item, "key", entry->key);
    if (!entry->folder)
        set_object(item, &entry->object);
    json_array_append_new(data, item);
    return FDL_OK;
}

static fdl_code do_list(json_t *answer, char **arguments, int count) {
    json_t *entries = json_array();
    json_object_set_new(answer, "entries", entries);
    bool one = strcmp(argument(arguments, count, 2), "one") == 0;
    return fdl_store_list(store, arguments[1], one ? FDL_ONE_LEVEL : FDL_ALL_LEVELS, add_entry, entries, &error);
}

static fdl_code do_presign(json_t *answer, char **arguments, int count) {
    fdl_http_headers headers = {0};
    char *url = NULL;
    fdl_code code = FDL_OK;
    for (int i = 4; i < count && code == FDL_OK; i += 2)
        code = fdl_http_add(&headers, arguments[i], argument(arguments, count, i + 1), &error);
    if (code == FDL_OK)
        code = fdl_s3_presign(store, argument(arguments, count, 1), argument(arguments, count, 2), &headers,
                              strtoll(argument(arguments, count, 3), NULL, 10), &url, &error);
    if (code == FDL_OK)
        set_text(answer, "url", url);
    fdl_http_headers_clear(&headers);
    free(url);
    return code;
}

static fdl_code do_presign_put(json_t *answer, char **arguments, int count) {
    fdl_upload_url url = {0};
    fdl_upload_terms upload = {.size_bytes = strtoull(argument(arguments, count, 2), NULL, 10),
                         .content_type = "application/vnd.apache.parquet",
                         .expires_s = strtoll(argument(arguments, count, 3), NULL, 10),
                         .sha256 = count > 4 ? arguments[4] : NULL};
    fdl_code code = fdl_store_presign(store, argument(arguments, count, 1), &upload, &url, &error);
    json_t *headers = json_object();
    for (size_t i = 0; i < url.header_count; i++)
        set_text(headers, url.names[i], url.values[i]);
    json_object_set_new(answer, "headers", headers);
    set_text(answer, "url", url.url);
    fdl_upload_url_clear(&url);
    return code;
}

static fdl_code do_describe(json_t *answer, char **arguments, int count) {
    (void)arguments;
    (void)count;
    fdl_s3_place place;
    set_text(answer, "address", store->address);
    if (!fdl_s3_describe(store, &place))
        return FDL_OK;
    set_text(answer, "bucket", place.bucket);
    set_text(answer, "prefix", place.prefix);
    set_text(answer, "endpoint", place.endpoint);
    set_text(answer, "region", place.region);
    set_text(answer, "source", place.credential_source);
    json_object_set_new(answer, "path_style", json_boolean(place.path_style));
    json_object_set_new(answer, "anonymous", json_boolean(place.anonymous));
    return FDL_OK;
}

static fdl_code do_promises(json_t *answer, char **arguments, int count) {
    (void)arguments;
    (void)count;
    fdl_promises promises;
    fdl_code code = fdl_store_check_promises(store, &promises, &error);
    for (int i = 0; code == FDL_OK && i < FDL_PROMISE_COUNT; i++)
        set_text(answer, promises.items[i].name, promises.items[i].kept ? "kept" : promises.items[i].detail);
    return code;
}

/* ---- the program ----------------------------------------------------------- */

static fdl_code run(json_t *answer, char **arguments, int count) {
    static const struct {
        const char *name;
        fdl_code (*run)(json_t *answer, char **arguments, int count);
    } commands[] = {
        {"read", do_read},
        {"get", do_get},
        {"head", do_head},
        {"put", do_put},
        {"putfile", do_put},
        {"remove", do_remove},
        {"list", do_list},
        {"presign", do_presign},
        {"presignput", do_presign_put},
        {"describe", do_describe},
        {"promises", do_promises},
        {"removemany", do_remove_many},
        {"purge", do_purge},
        {"clock", do_clock},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(arguments[0], commands[i].name) == 0)
            return commands[i].run(answer, arguments, count);
    }
    fprintf(stderr, "no command '%s'\n", arguments[0]);
    exit(2);
}

static void print(fdl_code code, json_t *answer) {
    set_text(answer, "code", fdl_code_name(code));
    if (code != FDL_OK) {
        set_text(answer, "message", error.message);
        set_text(answer, "key", error.key);
    }
    char *text = json_dumps(answer, JSON_COMPACT);
    puts(text ? text : "{}");
    free(text);
    json_decref(answer);
}

static uint64_t measure(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

/* Not getrusage: its peak counts the process we were forked from. */
static void print_peak(void) {
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            fprintf(stderr, "peak: %s", line + 6);
    }
    if (status)
        fclose(status);
}

int main(int argc, char **argv) {
    static const fdl_context context = {.note = print_note};
    fdl_s3_options options = {.multipart_from_bytes = measure("FDL_TEST_MULTIPART_FROM"),
                              .part_bytes = measure("FDL_TEST_PART"),
                              .page_entries = (unsigned)measure("FDL_TEST_PAGE")};
    if (argc < 3) {
        fprintf(stderr, "usage: store ADDRESS COMMAND ARGUMENT... [-- COMMAND ARGUMENT...]...\n");
        return 2;
    }
    bool s3 = strncmp(argv[1], "s3://", 5) == 0;
    fdl_code code = s3 ? fdl_store_open_s3_with(&context, argv[1], &options, &store, &error)
                       : fdl_store_open(&context, argv[1], &store, &error);
    if (code != FDL_OK) {
        print(code, json_object());
        return 0;
    }
    for (int start = 2; start < argc;) {
        int end = start;
        while (end < argc && strcmp(argv[end], "--") != 0)
            end++;
        json_t *answer = json_object();
        print(run(answer, argv + start, end - start), answer);
        start = end + 1;
    }
    fdl_store_free(store);

    print_peak();
    return 0;
}
