/* ancestors.c - see ancestors.h. */
#include "repo/ancestors.h"

#include <string.h>

#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define FIELD "ancestors"
#define STEP_BITS 4u /* 16 */

int64_t fdl_ancestor_seq(int64_t seq, size_t index) {
    if (index >= FDL_ANCESTORS_LIMIT || seq < 1)
        return 0;
    int64_t step = INT64_C(1) << (STEP_BITS * (index + 1));
    return (seq - 1) / step * step;
}

void fdl_ancestors_of_child(const char *id, int64_t seq, const fdl_ancestors *parents_own, fdl_ancestors *out) {
    fdl_ancestors made = {.count = 0};
    for (size_t i = 0; seq >= 0 && seq < INT64_MAX && fdl_ancestor_seq(seq + 1, i) > 0; i++) {
        bool is_parent = fdl_ancestor_seq(seq + 1, i) == seq;
        if (!is_parent && i >= parents_own->count)
            break;
        memcpy(made.ids[made.count++], is_parent ? id : parents_own->ids[i], FDL_ID_BYTES);
    }
    *out = made;
}

fdl_code fdl_ancestors_parse(const json_t *object, const char *name, fdl_ancestors *out, fdl_error *error) {
    json_t *list = NULL;
    fdl_code code = fdl_json_array_optional(object, name, FIELD, &list, error);
    out->count = 0;
    if (code == FDL_OK && json_array_size(list) > FDL_ANCESTORS_LIMIT)
        code = fdl_fail(error, FDL_FAILED, name, "'%s': field '" FIELD "' has more than %d entries", name,
                        FDL_ANCESTORS_LIMIT);
    for (size_t i = 0; code == FDL_OK && i < json_array_size(list); i++) {
        const char *id = json_string_value(json_array_get(list, i));
        if (!id || !fdl_uuid_valid(id) || !fdl_str_fit(out->ids[i], sizeof out->ids[i], id))
            code = fdl_fail(error, FDL_FAILED, name, "'%s': field '" FIELD "' does not hold version ids", name);
        else
            out->count++;
    }
    return code;
}

fdl_code fdl_ancestors_set(json_t *object, const fdl_ancestors *ancestors, fdl_error *error) {
    if (ancestors->count == 0)
        return FDL_OK;
    json_t *list = json_array();
    bool whole = list != NULL;
    for (size_t i = 0; whole && i < ancestors->count; i++)
        whole = json_array_append_new(list, json_string(ancestors->ids[i])) == 0;
    if (whole)
        return fdl_json_set(object, FIELD, list, error);
    json_decref(list);
    return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
}
