/*
 * ref_name.c - the one rule for names of branches and tags, wherever they come
 * from: a command line, a URL, a listing, a file.
 *
 * Git's rules, made narrower: only lower-case letters, so that two names never
 * become one on a file system that folds case, and no '%', '\' or control
 * character, so that no decoding on the way can turn a name into another path.
 */
#include <string.h>

#include "repo/internal.h"
#include "util/text.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789._/-"

static const char *broken_rule(const char *name) {
    size_t length = strlen(name);
    if (length == 0)
        return "it is empty";
    if (length > FDL_REF_NAME_LIMIT_BYTES)
        return "it is longer than 200 bytes";
    if (name[strspn(name, NAME_CHARACTERS)] != '\0')
        return "only a-z, 0-9, '.', '_', '-' and '/' are allowed";
    if (name[0] == '-')
        return "it starts with '-'";
    if (name[0] == '/' || name[length - 1] == '/' || strstr(name, "//"))
        return "a part between '/' is empty";
    if (name[0] == '.' || strstr(name, "/."))
        return "a part starts with '.'";
    if (strstr(name, ".."))
        return "it has '..' in it";
    if (name[length - 1] == '.')
        return "it ends with '.'";
    if (fdl_str_ends(name, ".lock") || strstr(name, ".lock/"))
        return "a part ends with '.lock'";
    return NULL;
}

fdl_code fdl_ref_name_check(const char *name, fdl_error *error) {
    const char *rule = broken_rule(name);
    if (!rule)
        return FDL_OK;
    return fdl_fail(error, FDL_USAGE, name, "'%.220s' cannot be the name of a branch or tag: %s", name, rule);
}

static const char *short_name(const char *full_name) {
    static const char *const kinds[] = {FDL_REF_HEADS, FDL_REF_TAGS};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (fdl_str_starts(full_name, kinds[i]))
            return full_name + strlen(kinds[i]);
    return NULL;
}

bool fdl_ref_full_name_valid(const char *full_name) {
    const char *name = short_name(full_name);
    return name && !broken_rule(name);
}

fdl_code fdl_ref_full_name_check(const char *full_name, fdl_error *error) {
    const char *name = short_name(full_name);
    if (!name)
        return fdl_fail(error, FDL_USAGE, full_name, "'%.220s' is not a full ref name; it must start with '%s' or '%s'",
                        full_name, FDL_REF_HEADS, FDL_REF_TAGS);
    return fdl_ref_name_check(name, error);
}
