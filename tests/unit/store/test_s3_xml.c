/*
 * test_s3_xml.c - the XML of S3: listings, errors, and documents that are none.
 */
#include "store/s3_xml.h"
#include "support/support.h"

static fdl_error error;

/* ---- the walk ------------------------------------------------------------- */

static fdl_code ignore(void *data, const fdl_xml_event *event, fdl_error *problem) {
    (void)data;
    (void)event;
    (void)problem;
    return FDL_OK;
}

static void broken_documents_are_refused(void **state) {
    (void)state;
    static const char *const documents[] = {
        "",
        "   ",
        "text",
        "<a>",
        "<a></b>",
        "</a>",
        "<a></a><b></b>",
        "<a></a>text",
        "<a></a>&amp;",
        "<a/></a>",
        "<>x</>",
        "<a",
        "<a b='c",
        "<a b=\"c>",
        "<a>&nope;</a>",
        "<a>&amp</a>",
        "<a>&#0;</a>",
        "<a>&#xD800;</a>",
        "<a>&#x110000;</a>",
        "<a>&#12345678;</a>",
        "<a>&#;</a>",
        "<a>&#x;</a>",
        "<a><![CDATA[x]]</a>",
        "<![CDATA[x]]>",
        "<a><!-- x</a>",
        "<?xml",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
        "<a><b><c><d><e><f><g><h><i></i></h></g></f></e></d></c></b></a>",
    };
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        if (fdl_xml_walk(documents[i], strlen(documents[i]), "host", ignore, NULL, &error) == FDL_OK)
            fail_msg("'%s' passes", documents[i]);
        expect_said("'host'", &error);
    }
}

static void every_cut_of_a_document_is_refused(void **state) {
    (void)state;
    static const char document[] =
        "<?xml version=\"1.0\"?><!-- c --><a x='1>2'><b>&lt;&#x41;<![CDATA[<c>]]></b><d/></a>";
    expect_ok(fdl_xml_walk(document, strlen(document), "host", ignore, NULL, &error), &error);
    for (size_t length = 0; length < strlen(document); length++) {
        char *cut = malloc(length + 1); /* so that a sanitizer sees a step too far */
        assert_non_null(cut);
        memcpy(cut, document, length);
        cut[length] = '\0';
        assert_int_not_equal(fdl_xml_walk(cut, length, "host", ignore, NULL, &error), FDL_OK);
        free(cut);
    }
}

static void text_has_a_limit(void **state) {
    (void)state;
    enum { LENGTH = 20000 };
    char *document = malloc(LENGTH + 8);
    assert_non_null(document);
    memset(document, 'x', LENGTH + 7);
    memcpy(document, "<a>", 3);
    memcpy(document + LENGTH + 3, "</a>", 5);
    assert_int_not_equal(fdl_xml_walk(document, LENGTH + 7, "host", ignore, NULL, &error), FDL_OK);
    free(document);
}

/* ---- fields ---------------------------------------------------------------- */

static void expect_field(const char *document, const char *wanted) {
    char out[32];
    assert_true(fdl_s3_field(document, strlen(document), "Error", "Code", out, sizeof out));
    assert_string_equal(out, wanted);
}

static void expect_no_field(const char *document) {
    char out[8] = "before";
    assert_false(fdl_s3_field(document, strlen(document), "Error", "Code", out, sizeof out));
    assert_string_equal(out, "");
}

static void a_field_is_read_from_its_place_only(void **state) {
    (void)state;
    expect_field("<Error><Code>NoSuchKey</Code></Error>", "NoSuchKey");
    expect_field("\xef\xbb\xbf<?xml version='1.0'?>\n<Error xmlns=\"x\">\n <Message>m</Message>\n "
                 "<Code>A&amp;B</Code>\n</Error>\n",
                 "A&B");
    expect_field("<s3:Error><s3:Code>x</s3:Code></s3:Error>", "x");
    expect_field("<Error><Code><![CDATA[<x>]]></Code></Error>", "<x>");
    expect_field("<Error><Code>&#65;&#x42;&#xfc;&#x65e5;&#x1F600;</Code></Error>",
                 "AB\xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80");
    expect_field("<Error><Code/></Error>", "");
    expect_no_field("<Other><Code>x</Code></Other>");
    expect_no_field("<Error><Sub><Code>x</Code></Sub></Error>");
    expect_no_field("<Error><Code>too long for it</Code></Error>");
    expect_no_field("<Error><Code>x</Code>");
    expect_no_field("<html><body>Welcome");
    expect_no_field("");
}

/* ---- listings ---------------------------------------------------------------- */

typedef struct seen {
    char keys[8][64];
    bool folders[8];
    fdl_object objects[8];
    int count;
} seen;

static fdl_code collect(void *data, const char *key, bool folder, const fdl_object *object, fdl_error *problem) {
    seen *s = data;
    (void)problem;
    snprintf(s->keys[s->count], sizeof s->keys[0], "%s", key);
    s->folders[s->count] = folder;
    s->objects[s->count++] = *object;
    return FDL_OK;
}

static void a_page_gives_objects_folders_and_where_it_goes_on(void **state) {
    (void)state;
    static const char document[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<ListBucketResult xmlns=\"x\"><Name>b</Name><Prefix>lake/</Prefix><KeyCount>3</KeyCount>"
        "<IsTruncated>true</IsTruncated><NextContinuationToken>1/a+b==</NextContinuationToken>"
        "<Contents><Key>lake/a &amp; b</Key><LastModified>2026-10-15T09:00:00.000Z</LastModified>"
        "<ETag>&quot;abc&quot;</ETag><Size>12</Size><Owner><ID>o</ID><DisplayName>Key</DisplayName></Owner></Contents>"
        "<Contents><Size>0</Size><Key>lake/\xc3\xbc</Key></Contents>"
        "<CommonPrefixes><Prefix>lake/data/</Prefix></CommonPrefixes></ListBucketResult>";
    seen s = {.count = 0};
    char token[64];
    expect_ok(fdl_s3_page(document, strlen(document), "host", collect, &s, token, sizeof token, &error), &error);
    assert_int_equal(s.count, 3);
    assert_string_equal(s.keys[0], "lake/a & b");
    assert_string_equal(s.objects[0].etag, "\"abc\"");
    assert_int_equal(s.objects[0].size_bytes, 12);
    assert_int_equal(s.objects[0].modified_ms, 1792054800000);
    assert_string_equal(s.keys[1], "lake/\xc3\xbc");
    assert_string_equal(s.objects[1].etag, "");
    assert_string_equal(s.keys[2], "lake/data/");
    assert_false(s.folders[1]);
    assert_true(s.folders[2]);
    assert_string_equal(token, "1/a+b==");
}

static void a_page_that_cannot_be_is_refused(void **state) {
    (void)state;
    static const char *const pages[] = {
        "<Error><Code>x</Code></Error>",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>99999999999999999999</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><LastModified>now</LastModified></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult>",
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        seen s = {.count = 0};
        char token[64];
        expect_code(FDL_FAILED,
                    fdl_s3_page(pages[i], strlen(pages[i]), "host", collect, &s, token, sizeof token, &error), &error);
        expect_said("'host'", &error);
    }
}

static void the_last_page_says_so_whatever_token_it_has(void **state) {
    (void)state;
    static const char page[] = "<ListBucketResult><NextContinuationToken>t</NextContinuationToken>"
                               "<IsTruncated>false</IsTruncated></ListBucketResult>";
    seen s = {.count = 0};
    char token[64] = "before";
    expect_ok(fdl_s3_page(page, strlen(page), "host", collect, &s, token, sizeof token, &error), &error);
    assert_string_equal(token, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_documents_are_refused),
        cmocka_unit_test(every_cut_of_a_document_is_refused),
        cmocka_unit_test(text_has_a_limit),
        cmocka_unit_test(a_field_is_read_from_its_place_only),
        cmocka_unit_test(a_page_gives_objects_folders_and_where_it_goes_on),
        cmocka_unit_test(a_page_that_cannot_be_is_refused),
        cmocka_unit_test(the_last_page_says_so_whatever_token_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
