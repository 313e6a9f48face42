/*
 * changes.c - see changes.h.  Rows that were replaced by as many others do not
 * show here: that is what `fdl diff --rows` reads data for.
 */
#include "page/changes.h"

#include <string.h>

#include "util/json.h"

static const json_t *find(const json_t *list, const json_t *like, int with_schema) {
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach(list, i, item) {
        if (strcmp(fdl_json_text(item, "name"), fdl_json_text(like, "name")) == 0 &&
            (!with_schema || strcmp(fdl_json_text(item, "schema"), fdl_json_text(like, "schema")) == 0))
            return item;
    }
    return NULL;
}

static void row_begin(fdl_html *html, const json_t *table) {
    fdl_html_raw(html, "<tr><th scope=\"row\">");
    fdl_html_text(html, fdl_json_text(table, "schema"));
    fdl_html_raw(html, ".");
    fdl_html_text(html, fdl_json_text(table, "name"));
    fdl_html_raw(html, "</th><td>");
}

static void rows_changed(fdl_html *html, unsigned long long before, unsigned long long after) {
    if (before == after)
        return;
    fdl_html_raw(html, before < after ? "<ins>+" : "<del>\xe2\x88\x92");
    fdl_html_number(html, before < after ? after - before : before - after);
    fdl_html_raw(html, before < after ? " rows</ins> " : " rows</del> ");
}

static void column_words(fdl_html *html, const char *mark, const char *end, const json_t *column) {
    fdl_html_raw(html, mark);
    fdl_html_text(html, fdl_json_text(column, "name"));
    fdl_html_raw(html, " ");
    fdl_html_text(html, fdl_json_text(column, "type"));
    fdl_html_raw(html, end);
}

static void columns_changed(fdl_html *html, const json_t *before, const json_t *after) {
    const json_t *old = json_object_get(before, "columns"), *new = json_object_get(after, "columns");
    size_t i = 0;
    json_t *column = NULL;
    json_array_foreach(old, i, column) {
        const json_t *now = find(new, column, 0);
        if (!now || strcmp(fdl_json_text(now, "type"), fdl_json_text(column, "type")) != 0)
            column_words(html, "<del>", "</del> ", column);
    }
    json_array_foreach(new, i, column) {
        const json_t *was = find(old, column, 0);
        if (!was || strcmp(fdl_json_text(was, "type"), fdl_json_text(column, "type")) != 0)
            column_words(html, "<ins>", "</ins> ", column);
    }
}

/* Whether anything but rows that were replaced can have changed. */
static int differs(const json_t *before, const json_t *after) {
    static const char *const fields[] = {"kind", "rows", "bytes", "files", "columns", "comment"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const json_t *a = json_object_get(before, fields[i]), *b = json_object_get(after, fields[i]);
        if (a != b && !json_equal(a, b))
            return 1;
    }
    return 0;
}

static void table_changed(fdl_html *html, const json_t *before, const json_t *after) {
    row_begin(html, after);
    rows_changed(html, fdl_json_size(before, "rows"), fdl_json_size(after, "rows"));
    columns_changed(html, before, after);
    if (fdl_json_size(before, "rows") == fdl_json_size(after, "rows"))
        fdl_html_raw(html, "changed");
    fdl_html_raw(html, "</td></tr>\n");
}

void fdl_page_changes(fdl_html *html, const json_t *before, const json_t *after) {
    const json_t *old = json_object_get(before, "tables"), *new = json_object_get(after, "tables");
    size_t i = 0;
    json_t *table = NULL;
    fdl_html_raw(html, "<section aria-labelledby=\"changes\">\n<h2 id=\"changes\">Changes since the parent</h2>\n"
                       "<div class=\"wide\" tabindex=\"0\"><table>\n<tbody>\n");
    json_array_foreach(new, i, table) {
        const json_t *was = find(old, table, 1);
        if (!was) {
            row_begin(html, table);
            fdl_html_raw(html, "<ins>new</ins></td></tr>\n");
        } else if (differs(was, table)) {
            table_changed(html, was, table);
        }
    }
    json_array_foreach(old, i, table) {
        if (!find(new, table, 1)) {
            row_begin(html, table);
            fdl_html_raw(html, "<del>gone</del></td></tr>\n");
        }
    }
    fdl_html_raw(html, "</tbody>\n</table></div>\n</section>\n");
}
