/*
 * page.c - one page: what a version holds, how to read it, what changed, and on
 * the first page the branches, tags and history too.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "page/changes.h"
#include "page/html.h"
#include "page/page.h"
#include "repo/dataset.h"
#include "util/json.h"
#include "util/options.h"
#include "util/text.h"

#define PAGE_LIMIT_BYTES (64u << 20)

typedef struct page {
    fdl_repo *repo;
    const fdl_page_options *options;
    char *root;
    bool first; /* with branches, tags and the history */
    fdl_show_result shown;
    json_t *dataset; /* NULL: not there */
    json_t *parent;  /* of the parent; the same */
    char *attach;    /* NULL: cannot be read any more */
    char *secret;    /* a statement that a bucket needs before it; NULL: none */
    fdl_html html;
} page;

/* ---- what it is about ------------------------------------------------------------- */

static fdl_code parse(const char *bytes, json_t **out, fdl_error *error) {
    return bytes ? fdl_json_parse(bytes, strlen(bytes), "dataset.json", out, error) : FDL_OK;
}

static fdl_code find_attach(page *p, fdl_error *error) {
    fdl_location location = {0};
    fdl_code code = fdl_locate(p->repo, p->shown.version.id, &location, error);
    if (code == FDL_OK)
        code = fdl_attach_statement(p->repo, &location, p->root, NULL, &p->attach, error);
    if (code == FDL_OK && strcmp(p->root, fdl_repo_address(p->repo)) == 0)
        code = fdl_secret_statement(p->repo, &p->secret, error);
    fdl_location_clear(&location);
    return code;
}

/* A parent that cannot be read only means that the page tells no changes. */
static void find_parent(page *p) {
    fdl_version version = {0};
    fdl_error ignored;
    char *bytes = NULL;
    if (p->shown.version.parent[0] && fdl_version_read(p->repo, p->shown.version.parent, &version, &ignored) == FDL_OK &&
        fdl_dataset_read(p->repo, &version, &bytes, &ignored) == FDL_OK)
        (void)parse(bytes, &p->parent, &ignored);
    free(bytes);
    fdl_version_clear(&version);
}

static fdl_code find_root(page *p, const fdl_config *config, fdl_error *error) {
    const char *root = p->options->root ? p->options->root : config->url ? config->url : fdl_repo_address(p->repo);
    return fdl_str_format(&p->root, error, "%s%s", root, fdl_str_ends(root, "/") ? "" : "/");
}

static fdl_code load(page *p, const char *revision, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_show_options show = {.allowed_signers = p->options->allowed_signers};
    fdl_code code = fdl_repo_config(p->repo, &config, error);
    if (code == FDL_OK)
        code = fdl_show(p->repo, revision, &show, &p->shown, error);
    if (code != FDL_OK)
        return code;
    code = find_root(p, config, error);
    if (code == FDL_OK)
        code = parse(p->shown.dataset, &p->dataset, error);
    if (code == FDL_OK && !p->shown.expiry.expired)
        code = find_attach(p, error);
    if (code == FDL_OK)
        find_parent(p);
    return code;
}

static void page_clear(page *p) {
    fdl_show_result_clear(&p->shown);
    json_decref(p->dataset);
    json_decref(p->parent);
    free(p->attach);
    free(p->secret);
    free(p->root);
    fdl_html_clear(&p->html);
}

/* ---- pieces --------------------------------------------------------------------------- */

static void link_to_version(page *p, const char *id) {
    fdl_html_format(&p->html, p->options->files ? "<a href=\"version-%s.html\"><code>%s</code></a>"
                                                : "<a href=\"?version=%s\"><code>%s</code></a>",
                    id, id);
}

/* A row of a list of facts; nothing for an empty one. */
static void fact(page *p, const char *label, const char *value) {
    if (!value || !*value)
        return;
    fdl_html_raw(&p->html, "<dt>");
    fdl_html_text(&p->html, label);
    fdl_html_raw(&p->html, "</dt><dd>");
    fdl_html_text(&p->html, value);
    fdl_html_raw(&p->html, "</dd>\n");
}

static const char *title_of(const page *p) {
    const char *title = fdl_json_text(p->dataset, "title");
    return *title ? title : p->root;
}

static void head(page *p) {
    fdl_html *html = &p->html;
    fdl_html_raw(html, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    fdl_html_text(html, fdl_page_meta_policy);
    fdl_html_raw(html, "\">\n<title>");
    fdl_html_text(html, title_of(p));
    fdl_html_raw(html, "</title>\n<link rel=\"stylesheet\" href=\"fdl.css\">\n<script src=\"fdl.js\" defer></script>\n"
                       "</head>\n<body>\n<header>\n<h1>");
    fdl_html_text(html, title_of(p));
    fdl_html_raw(html, "</h1>\n");
    if (*fdl_json_text(p->dataset, "description")) {
        fdl_html_raw(html, "<p class=\"description\">");
        fdl_html_text(html, fdl_json_text(p->dataset, "description"));
        fdl_html_raw(html, "</p>\n");
    }
    if (!p->first)
        fdl_html_raw(html, p->options->files ? "<p><a href=\"index.html\">The newest version</a></p>\n"
                                             : "<p><a href=\"./\">The newest version</a></p>\n");
    fdl_html_raw(html, "</header>\n<main>\n");
}

static void how_to_read(page *p) {
    fdl_html *html = &p->html;
    fdl_html_raw(html, "<section aria-labelledby=\"read\">\n<h2 id=\"read\">Read it in DuckDB</h2>\n");
    if (p->attach) {
        fdl_html_raw(html, "<div class=\"statement\"><pre tabindex=\"0\"><code id=\"attach\">");
        fdl_html_text(html, p->secret);
        fdl_html_raw(html, p->secret ? "\n" : "");
        fdl_html_text(html, p->attach);
        fdl_html_raw(html, "</code></pre><button type=\"button\" data-copy=\"attach\" hidden>Copy</button></div>\n");
    } else {
        fdl_html_format(html, "<p class=\"gone\">This version was %s on %s and cannot be read any more.",
                        strcmp(p->shown.expiry.reason, "withdrawn") == 0 ? "withdrawn" : "let go", p->shown.expiry.expired_at);
        fdl_html_raw(html, p->shown.expiry.text ? " " : "");
        fdl_html_text(html, p->shown.expiry.text);
        fdl_html_raw(html, "</p>\n");
    }
    fdl_html_raw(html, "</section>\n");
}

static void signature_fact(page *p) {
    static const char *const words[] = {"none", "good", "by a key that is not known here", "BAD: it does not fit this version"};
    const fdl_signature *signature = &p->shown.signature;
    fdl_html *html = &p->html;
    fdl_html_format(html, "<dt>Signature</dt><dd class=\"signature-%s\">", fdl_signature_name(signature->state));
    fdl_html_raw(html, words[signature->state]);
    if (signature->principal[0]) {
        fdl_html_raw(html, ", ");
        fdl_html_text(html, signature->principal);
    }
    if (signature->key[0]) {
        fdl_html_raw(html, " <small>");
        fdl_html_text(html, signature->key);
        fdl_html_raw(html, "</small>");
    }
    fdl_html_raw(html, "</dd>\n");
}

static void facts(page *p) {
    static const char *const told[] = {"title", "description", "tables", "sources", NULL};
    const fdl_version *version = &p->shown.version;
    fdl_html *html = &p->html;
    const char *key = NULL;
    json_t *value = NULL;
    char size[32];
    fdl_html_raw(html, "<section aria-labelledby=\"version\">\n<h2 id=\"version\">This version</h2>\n<dl>\n<dt>Id</dt><dd>");
    fdl_html_format(html, "<code>%s</code> (number %lld)</dd>\n", version->id, (long long)version->seq);
    fact(p, "Message", version->message);
    fact(p, "Author", version->author_name);
    fact(p, "Date", version->created_at);
    if (version->parent[0]) {
        fdl_html_raw(html, "<dt>Parent</dt><dd>");
        link_to_version(p, version->parent);
        fdl_html_raw(html, "</dd>\n");
    }
    signature_fact(p);
    fdl_html_format(html, "<dt>Catalog</dt><dd>%s, DuckLake ", fdl_size_text(version->catalog.file.bytes, size));
    fdl_html_text(html, version->catalog.format);
    for (size_t i = 0; i < version->other_count; i++) {
        fdl_html_raw(html, ", ");
        fdl_html_text(html, version->others[i].format);
    }
    fdl_html_raw(html, "</dd>\n");
    json_object_foreach(p->dataset, key, value) {
        bool is_told = false;
        for (const char *const *name = told; *name && !is_told; name++)
            is_told = strcmp(*name, key) == 0;
        if (!is_told && json_is_string(value))
            fact(p, key, json_string_value(value));
    }
    fdl_html_raw(html, "</dl>\n</section>\n");
}

/* ---- tables ------------------------------------------------------------------------------ */

static void columns(page *p, const json_t *table) {
    fdl_html *html = &p->html;
    size_t i = 0;
    json_t *column = NULL;
    fdl_html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Column</th><th scope=\"col\">Type</th>"
                       "<th scope=\"col\">About</th></tr></thead>\n<tbody>\n");
    json_array_foreach(json_object_get(table, "columns"), i, column) {
        fdl_html_raw(html, "<tr><th scope=\"row\">");
        fdl_html_text(html, fdl_json_text(column, "name"));
        fdl_html_raw(html, "</th><td><code>");
        fdl_html_text(html, fdl_json_text(column, "type"));
        fdl_html_raw(html, json_is_false(json_object_get(column, "nullable")) ? " NOT NULL" : "");
        fdl_html_raw(html, "</code></td><td>");
        fdl_html_text(html, fdl_json_text(column, "comment"));
        fdl_html_raw(html, "</td></tr>\n");
    }
    fdl_html_raw(html, "</tbody>\n</table></div>\n");
}

static void table(page *p, const json_t *entry) {
    fdl_html *html = &p->html;
    char size[32];
    bool is_view = strcmp(fdl_json_text(entry, "kind"), "view") == 0;
    fdl_html_raw(html, "<details><summary><b>");
    fdl_html_text(html, fdl_json_text(entry, "schema"));
    fdl_html_raw(html, ".");
    fdl_html_text(html, fdl_json_text(entry, "name"));
    fdl_html_raw(html, "</b> ");
    if (is_view) {
        fdl_html_raw(html, "view");
    } else {
        fdl_html_number(html, fdl_json_size(entry, "rows"));
        fdl_html_format(html, " row%s, %s", fdl_json_size(entry, "rows") == 1 ? "" : "s",
                        fdl_size_text(fdl_json_size(entry, "bytes"), size));
    }
    fdl_html_raw(html, "</summary>\n");
    if (*fdl_json_text(entry, "comment")) {
        fdl_html_raw(html, "<p>");
        fdl_html_text(html, fdl_json_text(entry, "comment"));
        fdl_html_raw(html, "</p>\n");
    }
    if (json_array_size(json_object_get(entry, "columns")) > 0)
        columns(p, entry);
    fdl_html_raw(html, "</details>\n");
}

static void tables(page *p) {
    size_t i = 0;
    json_t *entry = NULL;
    fdl_html_raw(&p->html, "<section aria-labelledby=\"tables\">\n<h2 id=\"tables\">Tables</h2>\n");
    if (!p->dataset)
        fdl_html_raw(&p->html, "<p>What it held is not in this repository any more.</p>\n");
    json_array_foreach(json_object_get(p->dataset, "tables"), i, entry) table(p, entry);
    fdl_html_raw(&p->html, "</section>\n");
}

static void sources(page *p) {
    fdl_html *html = &p->html;
    const json_t *list = json_object_get(p->dataset, "sources");
    char size[32];
    size_t i = 0;
    json_t *source = NULL;
    if (json_array_size(list) == 0)
        return;
    fdl_html_raw(html, "<section aria-labelledby=\"sources\">\n<h2 id=\"sources\">Made from</h2>\n<ul>\n");
    json_array_foreach(list, i, source) {
        fdl_html_raw(html, "<li>");
        fdl_html_text(html, fdl_json_text(source, "name"));
        if (fdl_json_size(source, "bytes") > 0)
            fdl_html_format(html, ", %s", fdl_size_text(fdl_json_size(source, "bytes"), size));
        if (*fdl_json_text(source, "url")) {
            fdl_html_raw(html, ", ");
            fdl_html_text(html, fdl_json_text(source, "url"));
        }
        fdl_html_raw(html, "</li>\n");
    }
    fdl_html_raw(html, "</ul>\n</section>\n");
}

/* ---- branches, tags, history ------------------------------------------------------------------ */

/* As refs.json tells them: one read, and a ref that somebody broke hides no page. */
static fdl_code refs(page *p, fdl_error *error) {
    fdl_html *html = &p->html;
    fdl_ref_list list = {0};
    fdl_code code = fdl_refs_json_read(p->repo, &list, error);
    if (code == FDL_NOT_FOUND)
        code = FDL_OK;
    if (code == FDL_OK && list.count > 0)
        fdl_html_raw(html, "<section aria-labelledby=\"refs\">\n<h2 id=\"refs\">Branches and tags</h2>\n"
                           "<div class=\"wide\" tabindex=\"0\"><table>\n<tbody>\n");
    for (size_t i = 0; code == FDL_OK && i < list.count; i++) {
        bool is_tag = fdl_str_starts(list.items[i].name, "refs/tags/");
        fdl_html_raw(html, "<tr><th scope=\"row\">");
        fdl_html_text(html, list.items[i].name + strlen(is_tag ? "refs/tags/" : "refs/heads/"));
        fdl_html_raw(html, is_tag ? "</th><td>tag</td><td>" : "</th><td>branch</td><td>");
        link_to_version(p, list.items[i].id);
        fdl_html_raw(html, "</td></tr>\n");
    }
    if (code == FDL_OK && list.count > 0)
        fdl_html_raw(html, "</tbody>\n</table></div>\n</section>\n");
    fdl_ref_list_clear(&list);
    return code;
}

static fdl_code history_item(void *data, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    page *p = data;
    (void)error;
    fdl_html_format(&p->html, "<li value=\"%lld\"><time>", (long long)version->seq);
    fdl_html_text(&p->html, version->created_at);
    fdl_html_raw(&p->html, "</time> ");
    link_to_version(p, version->id);
    fdl_html_raw(&p->html, expiry->expired ? " <em>gone</em>" : "");
    fdl_html_raw(&p->html, " <small>");
    fdl_html_text(&p->html, version->author_name);
    fdl_html_raw(&p->html, "</small><p>");
    fdl_html_text(&p->html, version->message);
    fdl_html_raw(&p->html, "</p></li>\n");
    return p->html.code;
}

static fdl_code history(page *p, fdl_error *error) {
    fdl_html_raw(&p->html, "<section aria-labelledby=\"history\">\n<h2 id=\"history\">History</h2>\n<ol reversed>\n");
    fdl_code code = fdl_log(p->repo, NULL, FDL_PAGE_HISTORY, history_item, p, error);
    fdl_html_raw(&p->html, "</ol>\n");
    if (p->shown.version.seq > FDL_PAGE_HISTORY)
        fdl_html_format(&p->html, "<p>The newest %d versions; <code>fdl log</code> shows all.</p>\n", FDL_PAGE_HISTORY);
    fdl_html_raw(&p->html, "</section>\n");
    return code;
}

/* ---- the page ----------------------------------------------------------------------------------- */

fdl_code fdl_page(fdl_repo *repo, const char *revision, const fdl_page_options *options, char **out,
                  size_t *length_bytes, fdl_error *error) {
    options = FDL_OPTIONS(fdl_page_options, options);
    page p = {.repo = repo, .options = options, .first = !revision};
    fdl_html_init(&p.html, PAGE_LIMIT_BYTES, error);
    fdl_code code = load(&p, revision, error);
    if (code == FDL_OK) {
        head(&p);
        how_to_read(&p);
        tables(&p);
        facts(&p);
        sources(&p);
        if (p.dataset && p.parent)
            fdl_page_changes(&p.html, p.parent, p.dataset);
    }
    if (code == FDL_OK && p.first)
        code = refs(&p, error);
    if (code == FDL_OK && p.first)
        code = history(&p, error);
    fdl_html_raw(&p.html, "</main>\n<footer><p>Versions of a DuckLake catalog, kept by FDL.</p></footer>\n</body>\n</html>\n");
    if (code == FDL_OK)
        code = p.html.code;
    if (code == FDL_OK && !(*out = fdl_buf_detach(&p.html.text, length_bytes)))
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    page_clear(&p);
    return code;
}
