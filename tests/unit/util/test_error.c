/*
 * test_error.c - what people are told, whatever strangers put into names.
 */
#include "fdl/context.h"
#include "support/support.h"
#include "util/text.h"

static void test_a_failure_carries_code_message_and_key(void **state) {
    (void)state;
    fdl_error error;
    assert_int_equal(fdl_fail(&error, FDL_CONFLICT, "refs/heads/main", "'%s' moved, %d times", "main", 2),
                     FDL_CONFLICT);
    assert_int_equal(error.code, FDL_CONFLICT);
    assert_string_equal(error.message, "'main' moved, 2 times");
    assert_string_equal(error.key, "refs/heads/main");
    assert_int_equal(fdl_fail(&error, FDL_FAILED, NULL, "plain"), FDL_FAILED);
    assert_string_equal(error.key, "");
    assert_int_equal(fdl_fail(NULL, FDL_BUSY, "k", "nobody listens"), FDL_BUSY);
}

static void expect_shown(const char *raw, const char *shown) {
    fdl_error error;
    fdl_fail(&error, FDL_FAILED, raw, "<%s>", raw);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "<%s>", shown);
    assert_string_equal(error.message, wanted);
    assert_string_equal(error.key, shown);
}

static void test_what_could_steer_a_terminal_is_shown_as_a_question_mark(void **state) {
    (void)state;
    expect_shown("a\nb\tc\rd", "a?b?c?d");
    expect_shown("\x1b[31mred", "?[31mred");
    expect_shown("del\x7f", "del?");
    expect_shown("c1 \xc2\x9b"
                 "31m",
                 "c1 ?31m");
    expect_shown("right \xe2\x80\xae to left \xe2\x81\xa6 on", "right ? to left ? on");
    expect_shown("quotes \xe2\x80\x98 \xe2\x80\xa9 stay \xe2\x80\xaf", "quotes \xe2\x80\x98 \xe2\x80\xa9 stay \xe2\x80\xaf");
    expect_shown("nbsp \xc2\xa0 stays", "nbsp \xc2\xa0 stays");
    expect_shown("日本語 é 🦆", "日本語 é 🦆");
}

static void test_bytes_that_are_no_utf8_are_shown_as_question_marks(void **state) {
    (void)state;
    expect_shown("\xff\xfe", "??");
    expect_shown("a\xc3", "a?");
    expect_shown("\xe3\x81x", "??x");
    expect_shown("\xc0\xaf", "??");
    expect_shown("\xed\xa0\x80", "???");
}

static void test_a_long_message_is_cut_between_characters_with_dots(void **state) {
    (void)state;
    for (size_t lead = 0; lead < 8; lead++) {
        fdl_error error;
        char text[2 * FDL_MESSAGE_LIMIT_BYTES];
        memset(text, 'x', lead);
        size_t at = lead;
        for (; at + 4 < sizeof text; at += 3)
            memcpy(text + at, "\xe3\x81\x82", 4);
        fdl_fail(&error, FDL_FAILED, text, "%s", text);
        size_t length = strlen(error.message);
        assert_true(length < FDL_MESSAGE_LIMIT_BYTES && length > FDL_MESSAGE_LIMIT_BYTES - 8);
        assert_true(fdl_utf8_valid(error.message, length));
        assert_true(fdl_str_ends(error.message, "\xe3\x81\x82..."));
        assert_true(fdl_utf8_valid(error.key, strlen(error.key)));
        assert_true(fdl_str_ends(error.key, "..."));
    }
}

static void test_a_message_that_just_fits_is_whole(void **state) {
    (void)state;
    fdl_error error;
    char text[FDL_MESSAGE_LIMIT_BYTES + 1];
    memset(text, 'x', sizeof text);
    text[FDL_MESSAGE_LIMIT_BYTES - 1] = '\0';
    fdl_fail(&error, FDL_FAILED, NULL, "%s", text);
    assert_string_equal(error.message, text);
    text[FDL_MESSAGE_LIMIT_BYTES - 1] = 'x';
    text[FDL_MESSAGE_LIMIT_BYTES] = '\0';
    fdl_fail(&error, FDL_FAILED, NULL, "%s", text);
    assert_int_equal(strlen(error.message), FDL_MESSAGE_LIMIT_BYTES - 1);
    assert_true(fdl_str_ends(error.message, "xxx..."));
}

static void test_an_error_may_be_made_of_itself(void **state) {
    (void)state;
    fdl_error error;
    fdl_fail(&error, FDL_NOT_FOUND, "key", "cause");
    fdl_fail(&error, FDL_FAILED, error.key, "effect: %s", error.message);
    assert_string_equal(error.message, "effect: cause");
    assert_string_equal(error.key, "key");
}

static void test_codes_have_names_and_exit_statuses(void **state) {
    (void)state;
    static const char *const names[] = {"ok",   "failure", "usage",  "conflict",    "expired",  "not_found",
                                        "busy", "refused", "denied", "unsupported", "uncertain", "waiting"};
    for (int code = FDL_OK; code <= FDL_WAITING; code++) {
        assert_string_equal(fdl_code_name((fdl_code)code), names[code]);
        assert_int_equal(fdl_exit_status((fdl_code)code), code == FDL_WAITING ? 0 : code <= FDL_REFUSED ? code : 1);
    }
}

static void keep_line(void *data, fdl_note_level level, const char *line) {
    char *room = data;
    snprintf(room, 64, "%d %s", (int)level, line);
}

static void test_notes_go_to_the_context_as_one_clean_line(void **state) {
    (void)state;
    char line[64] = "";
    fdl_context context = {.note = keep_line, .note_data = line};
    fdl_note(&context, FDL_NOTE_INFO, "uploading '%s'", "a\nb");
    assert_string_equal(line, "1 uploading 'a?b'");
    fdl_note(NULL, FDL_NOTE_INFO, "silence");
    fdl_note(&(fdl_context){0}, FDL_NOTE_INFO, "silence");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failure_carries_code_message_and_key),
        cmocka_unit_test(test_what_could_steer_a_terminal_is_shown_as_a_question_mark),
        cmocka_unit_test(test_bytes_that_are_no_utf8_are_shown_as_question_marks),
        cmocka_unit_test(test_a_long_message_is_cut_between_characters_with_dots),
        cmocka_unit_test(test_a_message_that_just_fits_is_whole),
        cmocka_unit_test(test_an_error_may_be_made_of_itself),
        cmocka_unit_test(test_codes_have_names_and_exit_statuses),
        cmocka_unit_test(test_notes_go_to_the_context_as_one_clean_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
