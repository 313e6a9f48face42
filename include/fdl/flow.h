/*
 * flow.h - one verb a function; what the commands of the program call.
 *
 * <work> is the path of a SQLite working catalog; its state lies in "<work>.fdl/".
 * Result structs are zeroed by the call and released by their _clear.
 */
#ifndef FDL_FLOW_H
#define FDL_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"
#include "repo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- init ------------------------------------------------------------- */

typedef struct fdl_init_options {
    const char *data_dir; /* NULL: "data/" */
    const char *id;       /* NULL: a new UUID */
    const char *url;      /* public root, or NULL */
    const char *branch;   /* NULL: "main" */
} fdl_init_options;

/* `*created` is false when the repository was there already; then nothing changes. */
FDL_API fdl_code fdl_init(fdl_repo *repo, const fdl_init_options *options, bool *created, fdl_error *error);

/* ---- attach: how to read and write with DuckDB ------------------------- */

/* A version to read: steps 1 to 3 of reading, no DuckDB needed. */
typedef struct fdl_location {
    fdl_target target;
    fdl_version version;
    const char *format; /* the DuckLake format of the catalog at the URL; belongs to `version` */
    const char *catalog_path; /* of that catalog, in the version's folder; belongs to `version` */
    char *catalog_url;
    char *local_path; /* where fdl_location_keep keeps it; NULL before */
} fdl_location;

/* FDL_EXPIRED with the reason for a version that is gone. */
FDL_API fdl_code fdl_locate(fdl_repo *repo, const char *revision, fdl_location *out, fdl_error *error);
FDL_API void fdl_location_clear(fdl_location *location);

/*
 * Chooses the catalog that a DuckDB release can read ("1.4", "1.5.0", "v1.5.5"):
 * the main one, or the same in another DuckLake format.  FDL_NOT_FOUND, naming
 * the formats there are: the version has none for it.  FDL_USAGE: not a release
 * whose format is known.
 */
FDL_API fdl_code fdl_location_for_duckdb(fdl_repo *repo, fdl_location *location, const char *release,
                                         fdl_error *error);

/*
 * Fetches the catalog, packed where the version has it so, proves it, and keeps it
 * in the user's cache, $XDG_CACHE_HOME/fdl/catalogs/: the statement then names that
 * file.  What is there already is proved and not fetched.  Files that nobody asked
 * for in 30 days are deleted when another one comes.  A cache that may only be read
 * serves with what it has.
 */
FDL_API fdl_code fdl_location_keep(fdl_repo *repo, fdl_location *location, fdl_error *error);

/*
 * The whole ATTACH statement to read with, ending in ';'; released with free().
 * `root` is where the reader finds the repository, with a final '/'; NULL: at the
 * address it was opened at.  `alias` NULL is "lake".
 */
FDL_API fdl_code fdl_attach_statement(fdl_repo *repo, const fdl_location *location, const char *root, const char *alias,
                                      char **out, fdl_error *error);

/*
 * The CREATE SECRET statement that DuckDB needs before it can attach a catalog
 * in a bucket, without the secret itself; `*out` is NULL where none is needed.
 * Released with free().
 */
FDL_API fdl_code fdl_secret_statement(fdl_repo *repo, char **out, fdl_error *error);

/* ---- checkout --------------------------------------------------------- */

typedef struct fdl_checkout_options {
    const char *revision; /* NULL: HEAD */
    bool force;           /* replace unpushed work, keeping a backup */
} fdl_checkout_options;

typedef struct fdl_checkout_result {
    char base[FDL_ID_BYTES]; /* "" for an empty repository */
    char branch[FDL_REF_BYTES]; /* "" when the revision names no branch */
    char *attach_statement;  /* to write with */
    char *backup;            /* where the old working catalog went, or NULL */
} fdl_checkout_result;

/*
 * Makes the working catalog `work` from a version; from nothing, when the
 * repository has none yet.  FDL_REFUSED: versions or changes that are not pushed
 * would be lost, and `force` is not given.  FDL_EXPIRED.
 */
FDL_API fdl_code fdl_checkout(fdl_repo *repo, const char *work, const fdl_checkout_options *options,
                              fdl_checkout_result *out, fdl_error *error);
FDL_API void fdl_checkout_result_clear(fdl_checkout_result *result);

/* ---- waiting for a host ------------------------------------------------ */

/* A version that is uploaded, and whose branch the host moves when somebody approves. */
typedef struct fdl_request {
    fdl_request_state state;
    int64_t number;   /* the host's; 0: it gave none, it only does not let us move the branch */
    char reason[512]; /* of a rejection; may be "" */
} fdl_request;

/* ---- status ----------------------------------------------------------- */

typedef struct fdl_status_result {
    char *repo;
    char branch[FDL_REF_BYTES];
    char base[FDL_ID_BYTES];
    int64_t base_seq;
    int64_t base_snapshot;     /* -1: no base */
    int64_t committed_snapshot; /* of the last pending version, or of the base */
    int64_t snapshot;           /* of the working catalog now */
    char (*pending)[FDL_ID_BYTES]; /* oldest first */
    size_t pending_count;
    fdl_request request;       /* of the first of them */
    bool remote_known;         /* false: the repository could not be read, `remote_error` says why */
    bool moved;                /* the branch no longer holds `base` */
    char remote[FDL_ID_BYTES]; /* what it holds */
    char remote_error[FDL_MESSAGE_LIMIT_BYTES];
    char *attach_statement;
} fdl_status_result;

/* Where a working catalog stands.  FDL_NOT_FOUND: `work` was never checked out. */
FDL_API fdl_code fdl_status(const fdl_context *context, const char *work, fdl_status_result *out, fdl_error *error);
FDL_API void fdl_status_result_clear(fdl_status_result *result);

/* ---- commit ----------------------------------------------------------- */

typedef struct fdl_commit_options {
    const char *message;
    const char *author_name;
    const char *author_email; /* NULL if none */
    const char *dataset_path; /* NULL: the parent's description goes on */
    const char *dbt_folder; /* with dbt's manifest.json, whose descriptions are taken; NULL: none */
    const char *const *sources; /* original files to keep and list */
    size_t source_count;
    const char *sign_key; /* a private key's file, or a public one whose private part the SSH agent has; NULL: no signature */
    bool allow_empty;
    bool keep_snapshots;
    bool flush_inlined;
    bool allow_encrypted;
} fdl_commit_options;

typedef struct fdl_commit_result {
    bool made;             /* false: nothing to commit */
    char id[FDL_ID_BYTES]; /* of the new version, or of the base when none was made */
    int64_t seq;
    uint64_t table_count;
    uint64_t file_count;
    uint64_t catalog_bytes;
} fdl_commit_result;

/*
 * Makes a version of what the working catalog holds, on this machine only; it is
 * not changed.  The same rows, schema and descriptions as the parent's: FDL_OK,
 * with `made` false.  FDL_REFUSED: the content breaks a rule (rows that lie in the
 * catalog itself, files elsewhere, a description of what is not there).
 */
FDL_API fdl_code fdl_commit(const fdl_context *context, const char *work, const fdl_commit_options *options,
                            fdl_commit_result *out, fdl_error *error);

/* ---- push ------------------------------------------------------------- */

/* Objects written to a store. */
typedef struct fdl_sent {
    uint64_t files;
    uint64_t bytes;
} fdl_sent;

typedef struct fdl_push_options {
    const char *branch; /* short name; NULL: the branch checked out */
} fdl_push_options;

typedef struct fdl_push_result {
    char branch[FDL_REF_BYTES];
    char (*pushed)[FDL_ID_BYTES]; /* oldest first */
    size_t pushed_count;          /* 0: nothing to push */
    fdl_request request;          /* waiting: the next version is uploaded, and the host moves the branch */
    char waiting[FDL_ID_BYTES];   /* that version, or "" */
    size_t behind_count;          /* versions that wait behind it on this machine */
    fdl_sent sent;
} fdl_push_result;

/*
 * Filled as far as it came also on failure: `pushed` are on the branch.  A
 * version that waits for the host is FDL_OK; one that was rejected is told once,
 * as FDL_REFUSED with the reason, and the push after that asks anew.
 */
FDL_API fdl_code fdl_push(const fdl_context *context, const char *work, const fdl_push_options *options,
                          fdl_push_result *out, fdl_error *error);
FDL_API void fdl_push_result_clear(fdl_push_result *result);

/* ---- run -------------------------------------------------------------- */

typedef struct fdl_run_options {
    const char *const *command; /* the program to run and its arguments; NULL behind the last */
    const char *branch;         /* NULL: HEAD's */
    bool output_to_stderr;      /* what the program prints, when stdout is for a document alone */
    long retries;               /* after a conflict, again from checkout */
    fdl_commit_options commit;
} fdl_run_options;

typedef struct fdl_run_result {
    fdl_commit_result commit;
    fdl_push_result push;
    long attempts; /* at least 1 */
} fdl_run_result;

/*
 * Checks out into a folder of its own, runs the command, commits and pushes.
 * The command finds in its environment:
 *
 *   FDL_WORK          the working catalog
 *   FDL_ATTACH        the statements to write to it with; the catalog is called lake
 *   FDL_DATA_PATH     where DuckDB writes data files
 *   FDL_REPO          the repository's address
 *   FDL_BASE_VERSION  the version it starts from, empty when there is none yet
 *
 * FDL_FAILED when it ends with anything but 0: nothing is committed then.
 * FDL_CONFLICT: others were quicker each time.  What the command made and could
 * not be published for any other reason is kept, and a note tells where.
 */
FDL_API fdl_code fdl_run(fdl_repo *repo, const fdl_run_options *options, fdl_run_result *out, fdl_error *error);
FDL_API void fdl_run_result_clear(fdl_run_result *result);

/* ---- admit: what must hold before a branch moves ------------------------ */

/*
 * Looks whether `branch` (full name), which holds `expected` ("": it does not
 * exist), may come to hold version `id`: the version is complete and says the
 * truth about itself, its parent is what the branch holds, and every data file
 * that it names is in the data folder, with its size.  For a version that a
 * stranger uploaded.  FDL_CONFLICT: it builds on something else.  FDL_EXPIRED.
 * FDL_REFUSED: what is wrong, and the key it is wrong about.  Nothing is changed.
 */
FDL_API fdl_code fdl_admit(fdl_repo *repo, const char *branch, const char *expected, const char *id, fdl_error *error);

/* ---- requests: pushes that wait for approval ----------------------------- */

typedef struct fdl_request_options {
    const char *branch;      /* full name */
    const char *expected;    /* what the branch holds; "": it does not exist */
    const char *version;     /* admitted by fdl_admit */
    const char *author_name; /* who asks */
} fdl_request_options;

/* Keeps a push for somebody to decide on.  The same push asked for again gets the number it has. */
FDL_API fdl_code fdl_request_make(fdl_repo *repo, const fdl_request_options *options, int64_t *number,
                                  fdl_error *error);

/*
 * The newest 1000 requests as a JSON document, oldest first, in the shape that
 * docs/format.md has for fdl requests; those that wait with what they change.
 * Released with free().
 */
FDL_API fdl_code fdl_requests(fdl_repo *repo, char **document, fdl_error *error);

/*
 * Carries a waiting request out, or turns it down with a reason (NULL: none).
 * FDL_CONFLICT: it was decided the other way, or the branch has moved.  What
 * fdl_admit finds is found again.  The same decision again is done, or goes on
 * where it was stopped.
 */
FDL_API fdl_code fdl_request_approve(fdl_repo *repo, int64_t number, fdl_request_record *out, fdl_error *error);
FDL_API fdl_code fdl_request_reject(fdl_repo *repo, int64_t number, const char *reason, fdl_request_record *out,
                                    fdl_error *error);

/* ---- import ------------------------------------------------------------ */

typedef struct fdl_import_options {
    const char *from; /* a DuckLake catalog in a DuckDB or SQLite file */
    fdl_init_options init;
    fdl_commit_options commit; /* of the version made */
} fdl_import_options;

typedef struct fdl_import_result {
    bool created; /* the repository */
    fdl_commit_result commit;
    fdl_push_result push;
    fdl_sent copied; /* data files */
} fdl_import_result;

/*
 * Makes a repository whose first version holds what a DuckLake holds now.  Its
 * data files are copied; it is only read.  What fdl_commit refuses is refused
 * before anything is made.  FDL_CONFLICT: the repository has versions already.
 */
FDL_API fdl_code fdl_import(fdl_repo *repo, const fdl_import_options *options, fdl_import_result *out,
                            fdl_error *error);
FDL_API void fdl_import_result_clear(fdl_import_result *result);

/* ---- log and show ----------------------------------------------------- */

/* Called from the newest on; anything but FDL_OK ends the walk and is returned. */
typedef fdl_code (*fdl_log_callback)(void *data, const fdl_version *version, const fdl_expiry *expiry,
                                     fdl_error *error);

/* At most `limit` versions; 0 is all. */
FDL_API fdl_code fdl_log(fdl_repo *repo, const char *revision, size_t limit, fdl_log_callback callback, void *data,
                         fdl_error *error);

/* The same from every branch and tag: a version comes once, after all that were made from it. */
FDL_API fdl_code fdl_log_all(fdl_repo *repo, size_t limit, fdl_log_callback callback, void *data, fdl_error *error);

/* What a version's signature is worth. */
typedef enum fdl_signature_state {
    FDL_UNSIGNED,
    FDL_SIGNATURE_GOOD,    /* by a key that the allowed signers list */
    FDL_SIGNATURE_UNKNOWN, /* fits the record, but by a key that is not listed, or nobody said whom to trust */
    FDL_SIGNATURE_BAD      /* does not fit the record */
} fdl_signature_state;

/* Texts may be "". */
typedef struct fdl_signature {
    fdl_signature_state state;
    char principal[256]; /* GOOD: who, as the allowed signers call them */
    char key[256];       /* "ED25519 key SHA256:...", of one that fits */
    char expected[256];  /* as whom fdl.json lists the key, which proves nothing */
    char reason[512];    /* why it is not good, for people */
} fdl_signature;

/* "unsigned", "good", "unknown", "bad": stable, for JSON. */
FDL_API const char *fdl_signature_name(fdl_signature_state state);

typedef struct fdl_show_options {
    const char *allowed_signers; /* a file as ssh-keygen -Y verify takes it; NULL: nobody is trusted */
} fdl_show_options;

typedef struct fdl_show_result {
    fdl_version version;
    fdl_expiry expiry;
    fdl_signature signature;
    char *dataset; /* the bytes of dataset.json; NULL when it is not there: expired, or a mirror of the record alone */
} fdl_show_result;

/* `revision` NULL is HEAD. */
FDL_API fdl_code fdl_show(fdl_repo *repo, const char *revision, const fdl_show_options *options, fdl_show_result *out,
                          fdl_error *error);
FDL_API void fdl_show_result_clear(fdl_show_result *result);

/* ---- diff: what one version has and another has not -------------------- */

typedef struct fdl_diff_result {
    fdl_version from, to;
    char *document; /* JSON: "tables" and "differences", as docs/format.md has them for fdl diff */
} fdl_diff_result;

/*
 * From the catalogs alone: no data file is read.  Unless `rows` is not 0: then
 * at most that many rows of each table that are in one version alone or more
 * often, which needs DuckDB's ducklake extension.  `from` NULL: the parent of
 * `to`.  FDL_NOT_FOUND: it has none.
 */
FDL_API fdl_code fdl_diff(fdl_repo *repo, const char *from, const char *to, int64_t rows, fdl_diff_result *out,
                          fdl_error *error);
FDL_API void fdl_diff_result_clear(fdl_diff_result *result);

/* ---- branch and tag --------------------------------------------------- */

/* `kind` is "refs/heads/" or "refs/tags/".  `revision` NULL is HEAD.  An existing name is FDL_CONFLICT. */
FDL_API fdl_code fdl_ref_create(fdl_repo *repo, const char *kind, const char *name, const char *revision, fdl_ref *out,
                                fdl_error *error);

/* HEAD's branch is FDL_REFUSED. */
FDL_API fdl_code fdl_ref_delete(fdl_repo *repo, const char *kind, const char *name, fdl_ref *out, fdl_error *error);

/* ---- clone ------------------------------------------------------------ */

typedef struct fdl_clone_options {
    const char *ref; /* a branch, a tag or HEAD; NULL: every branch and tag */
    bool all;        /* catalogs and data of every ancestor too, not only of what refs name */
    bool sources;    /* original files too */
} fdl_clone_options;

typedef struct fdl_clone_result {
    uint64_t versions; /* copied, with or without their content */
    fdl_sent sent;
    uint64_t refs; /* made or moved */
} fdl_clone_result;

/*
 * Makes `to` a mirror of `from`: copies what is missing, in push order, refs
 * last; stopped anywhere it can be run again.  FDL_CONFLICT: `to` is another
 * repository, or a ref of it went elsewhere.
 */
FDL_API fdl_code fdl_clone(fdl_repo *from, fdl_repo *to, const fdl_clone_options *options, fdl_clone_result *out,
                           fdl_error *error);

/* ---- verify ----------------------------------------------------------- */

typedef struct fdl_verify_options {
    const char *revision; /* NULL: HEAD; not with `all` */
    bool all;             /* every version, every ref, refs.json, and what nothing needs */
    bool data;            /* read the data files and originals too: Parquet footers, row counts, sha256 */
    const char *allowed_signers; /* a file; every version must then be signed by one of them.  NULL: need not */
} fdl_verify_options;

typedef struct fdl_verify_result {
    uint64_t versions; /* looked at */
    uint64_t expired;  /* of them */
    uint64_t records;  /* of them, those of which a mirror holds the record alone */
    uint64_t files;    /* data files that they name, each once */
    uint64_t orphans;  /* with `all`: data files that none of them names; no fault, gc deletes them after a grace */
    uint64_t trusted;  /* versions signed by an allowed signer */
    uint64_t findings;
} fdl_verify_result;

/* One fault, with the key it is about; called from one thread. */
typedef void (*fdl_finding_callback)(void *data, const char *key, const char *line);

/* FDL_OK also with findings: they are counted in `out`.  An error means that looking itself failed. */
FDL_API fdl_code fdl_verify(fdl_repo *repo, const fdl_verify_options *options, fdl_finding_callback callback, void *data,
                            fdl_verify_result *out, fdl_error *error);

/* ---- doctor ----------------------------------------------------------- */

typedef enum fdl_health {
    FDL_HEALTH_OK,
    FDL_HEALTH_WARNING, /* works, and there is something to know or to do */
    FDL_HEALTH_MISSING, /* not here: what needs it will not work, all else does */
    FDL_HEALTH_BROKEN   /* needed, and does not work */
} fdl_health;

/* "ok", "warning", "missing", "broken": stable, for JSON. */
FDL_API const char *fdl_health_name(fdl_health health);

/* One finding: what was looked at, and one line that says what is so and, unless it is well, what to do. */
typedef void (*fdl_diagnosis_callback)(void *data, const char *name, fdl_health health, const char *detail);

/* Looks at this machine: DuckDB and its extensions, and the programs that fdl asks for help. */
FDL_API void fdl_doctor_machine(const fdl_context *context, fdl_diagnosis_callback callback, void *data);

/*
 * Looks at a repository, or at the place for one: who we are there, whether its
 * newest version opens, what its readers meet, the clock, and whether the store
 * keeps its promises, for which it writes and deletes a key below .fdl/.
 * FDL_USAGE: not an address.  FDL_NOT_FOUND: there is no repository, which is a
 * finding too, of the place for one.  All else is a finding alone.
 */
FDL_API fdl_code fdl_doctor_repo(const fdl_context *context, const char *address, fdl_diagnosis_callback callback,
                                 void *data, fdl_error *error);

/* ---- what the commands below delete ------------------------------------- */

/* A thing that is to be deleted, or was.  Strings live until the callback returns. */
typedef struct fdl_deletion {
    const char *kind;    /* "data", "content", "leftover", "tag", "source"; "left" in a list of what stays */
    const char *key;
    uint64_t bytes;
    const char *version; /* whose it is; "" for data files, which many may share */
    const char *sha256;  /* "" where it is not known */
} fdl_deletion;

/* Anything but FDL_OK ends the walk, which then returns that code. */
typedef fdl_code (*fdl_deletion_callback)(void *data, const fdl_deletion *deletion, fdl_error *error);

/* A list of them, of any length in little memory.  NULL is an empty one. */
typedef struct fdl_plan fdl_plan;

/* Each of them in the order of deletion; how many, and their bytes. */
FDL_API fdl_code fdl_plan_walk(fdl_plan *plan, fdl_deletion_callback callback, void *data, fdl_error *error);
FDL_API uint64_t fdl_plan_count(const fdl_plan *plan);
FDL_API uint64_t fdl_plan_bytes(const fdl_plan *plan);
FDL_API void fdl_plan_free(fdl_plan *plan);

/* ---- expire -------------------------------------------------------------- */

typedef struct fdl_expire_options {
    int64_t keep;       /* so many of the newest versions of every branch stay */
    int64_t before_ms;  /* and all made since then; 0: no such rule */
    const char *branch; /* short name: only what is in its history; NULL: all of history */
    bool dry_run;
} fdl_expire_options;

typedef enum fdl_expire_outcome {
    FDL_OUTCOME_EXPIRED,  /* or would be */
    FDL_OUTCOME_FINISHED, /* an earlier run had marked it and was stopped */
    FDL_OUTCOME_KEPT      /* marked, and then a ref was found that points to it: it counts again */
} fdl_expire_outcome;

typedef struct fdl_expire_item {
    char id[FDL_ID_BYTES];
    int64_t seq;
    char created_at[FDL_TIME_BYTES];
    fdl_expire_outcome outcome;
} fdl_expire_item;

typedef struct fdl_expire_result {
    fdl_expire_item *items; /* oldest first */
    size_t count;
    fdl_plan *plan; /* the catalogs deleted */
} fdl_expire_result;

/*
 * Ends the time of old versions; their data files stay for fdl_gc.  Stopped
 * anywhere it can be run again.  Without options: FDL_USAGE.
 */
FDL_API fdl_code fdl_expire(fdl_repo *repo, const fdl_expire_options *options, fdl_expire_result *out,
                            fdl_error *error);
FDL_API void fdl_expire_result_clear(fdl_expire_result *result);

/* ---- gc -------------------------------------------------------------------- */

#define FDL_GRACE_MS (INT64_C(14) * 24 * 60 * 60 * 1000)

typedef struct fdl_gc_options {
    int64_t grace_ms; /* what nothing needs stays so long all the same; FDL_GRACE_MS is the usual */
    bool prune_unreachable; /* forget versions that no ref leads to, too */
    bool dry_run;
} fdl_gc_options;

typedef struct fdl_gc_result {
    uint64_t versions;     /* whose files are needed */
    uint64_t needed_files; /* of those listed */
    uint64_t young_files;  /* not needed, and within the grace of their upload or of the last version that named them */
    uint64_t young_bytes;
    fdl_plan *plan; /* deleted, or to be */
    fdl_plan *left; /* in the data folder, not needed, and not of a kind that fdl deletes */
} fdl_gc_result;

/*
 * Deletes data files that no live version names, and what stopped pushes left.
 * FDL_FAILED when it cannot tell what a live version needs: then it deletes
 * nothing.  Without options the grace is FDL_GRACE_MS.
 */
FDL_API fdl_code fdl_gc(fdl_repo *repo, const fdl_gc_options *options, fdl_gc_result *out, fdl_error *error);
FDL_API void fdl_gc_result_clear(fdl_gc_result *result);

/* ---- restore ---------------------------------------------------------------- */

typedef struct fdl_restore_options {
    const char *revision; /* whose content */
    const char *branch;   /* short name of the branch that gets it; NULL: HEAD's */
    const char *message;
    const char *author_name;
    const char *author_email; /* NULL if none */
} fdl_restore_options;

typedef struct fdl_restore_result {
    bool made;               /* false: the branch has that content already */
    char id[FDL_ID_BYTES];   /* of the new version, or of the branch's as it is */
    int64_t seq;
    char from[FDL_ID_BYTES]; /* whose content it is */
    char branch[FDL_REF_BYTES];
    fdl_request request;     /* waiting: the version is uploaded, and the host moves the branch */
} fdl_restore_result;

/*
 * Puts a new version with an older one's content on top of a branch.  Data files
 * are shared; no row is rewritten.  FDL_CONFLICT: the branch moved meanwhile.
 */
FDL_API fdl_code fdl_restore(fdl_repo *repo, const fdl_restore_options *options, fdl_restore_result *out,
                             fdl_error *error);

/* ---- withdraw ----------------------------------------------------------------- */

typedef struct fdl_withdraw_options {
    const char *const *revisions;
    size_t revision_count;
    const char *table; /* "schema.name": only its data is concerned, and versions are found by it; NULL: none */
    const char *text;  /* for the marker; NULL: none */
    const char *source; /* the sha256 of an original file to delete; NULL: none */
    bool confirmed;     /* false: make the plan and change nothing */
} fdl_withdraw_options;

typedef struct fdl_withdraw_item {
    char id[FDL_ID_BYTES];
    int64_t seq;
    char created_at[FDL_TIME_BYTES];
    bool given;         /* or found by the table; false: it names a file that goes */
    bool files_unknown; /* it had expired, and nobody knows any more which files it named */
} fdl_withdraw_item;

/* A file of a withdrawn version that stays, since a version that a branch points to reads it. */
typedef struct fdl_withdraw_reader {
    char *key;
    char *schema;
    char *table;
    char id[FDL_ID_BYTES];
    char ref[FDL_REF_BYTES];
} fdl_withdraw_reader;

typedef struct fdl_withdraw_result {
    fdl_withdraw_item *items; /* oldest first */
    size_t count;
    fdl_withdraw_reader *readers; /* the first 1000 */
    size_t reader_count;
    uint64_t staying; /* how many there are */
    bool has_sources; /* original files are in the repository, and may hold the same */
    fdl_plan *plan;   /* tags, data files, and what the versions' folders show */
} fdl_withdraw_result;

/*
 * Takes versions away whose data must not be public.  FDL_REFUSED: a branch
 * points to one of them, or reads a file that holds such data; the message says
 * which, and what to do.  Stopped anywhere it can be run again.
 */
FDL_API fdl_code fdl_withdraw(fdl_repo *repo, const fdl_withdraw_options *options, fdl_withdraw_result *out,
                              fdl_error *error);
FDL_API void fdl_withdraw_result_clear(fdl_withdraw_result *result);

#ifdef __cplusplus
}
#endif
#endif
