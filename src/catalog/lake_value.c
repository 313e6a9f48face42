/*
 * lake_value.c - instants and UUIDs, read from text and written back.
 *
 * Which spelling of an instant a SQLite catalog holds depends on the time zone
 * of the session that wrote it, so reading accepts all of them and the result
 * never depends on ours.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/lake_value.h"

#define SECOND INT64_C(1000000)
#define DAY_SECONDS INT64_C(86400)
/* Beyond this, with a day to spare for the offset, microseconds in 64 bits run out: in the year 294247. */
#define DAYS_MAX INT64_C(106751989)

/* ---- the calendar --------------------------------------------------------- */

/* Days from 1970-01-01; years count from March, so that the leap day comes last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

static int days_in(int64_t year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

/* ---- reading instants ------------------------------------------------------- */

typedef struct text_at {
    const char *at;
    const char *end;
} text_at;

static bool take(text_at *text, char wanted) {
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static bool take_word(text_at *text, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || strncasecmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* Takes nothing when there are too few digits. */
static bool take_number(text_at *text, int least_digits, int most_digits, int64_t *out) {
    const char *at = text->at;
    int digits = 0;
    int64_t number = 0;
    while (at < text->end && isdigit((unsigned char)*at) && digits < most_digits) {
        number = number * 10 + (*at++ - '0');
        digits++;
    }
    if (digits < least_digits)
        return false;
    text->at = at;
    *out = number;
    return true;
}

static bool take_date(text_at *text, int64_t *days) {
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    bool negative = take(text, '-');
    if (!take_number(text, 4, 6, &year) || !take(text, '-') || !take_number(text, 1, 2, &month) || !take(text, '-') ||
        !take_number(text, 1, 2, &day))
        return false;
    if (negative)
        year = -year;
    if (take_word(text, " (BC)"))
        year = 1 - year;
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, (int)month))
        return false;
    *days = days_of(year, month, day);
    return *days >= -DAYS_MAX && *days <= DAYS_MAX;
}

/* "01:22[:42[.70317]]" in microseconds. */
static bool take_time(text_at *text, int64_t *out) {
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    int64_t fraction = 0;
    if (!take_number(text, 1, 2, &hour) || !take(text, ':') || !take_number(text, 2, 2, &minute) || hour > 23 ||
        minute > 59)
        return false;
    if (take(text, ':')) {
        if (!take_number(text, 2, 2, &second) || second > 59)
            return false;
        if (take(text, '.')) {
            int64_t unit = SECOND;
            while (text->at < text->end && isdigit((unsigned char)*text->at)) {
                unit /= 10;
                fraction += (*text->at++ - '0') * unit;
            }
        }
    }
    *out = ((hour * 60 + minute) * 60 + second) * SECOND + fraction;
    return true;
}

/* "", "Z", " UTC", "+09", "+0900", "-03:30", "+08:30:15" in seconds to subtract. */
static bool take_offset(text_at *text, int64_t *out) {
    int64_t hours = 0;
    int64_t minutes = 0;
    int64_t seconds = 0;
    *out = 0;
    if (text->at == text->end || take_word(text, "Z") || take_word(text, " UTC"))
        return true;
    bool west = take(text, '-');
    if ((!west && !take(text, '+')) || !take_number(text, 2, 2, &hours))
        return false;
    bool colon = take(text, ':');
    if (take_number(text, 2, 2, &minutes)) {
        if (take(text, ':') && !take_number(text, 2, 2, &seconds))
            return false;
    } else if (colon) {
        return false;
    }
    if (hours > 18 || minutes > 59 || seconds > 59)
        return false;
    *out = (hours * 60 + minutes) * 60 + seconds;
    if (west)
        *out = -*out;
    return true;
}

bool fdl_lake_time_parse(const char *bytes, size_t length, int64_t *out) {
    text_at text = {bytes, bytes + length};
    int64_t days = 0;
    int64_t time = 0;
    int64_t offset = 0;
    if (take_word(&text, "infinity") || take_word(&text, "-infinity")) {
        *out = bytes[0] == '-' ? -INT64_MAX : INT64_MAX;
        return text.at == text.end;
    }
    if (!take_date(&text, &days))
        return false;
    if (text.at < text.end && (take(&text, 'T') || take(&text, ' '))) {
        if (!take_time(&text, &time) || !take_offset(&text, &offset))
            return false;
    }
    *out = (days * DAY_SECONDS - offset) * SECOND + time;
    return text.at == text.end;
}

/* ---- writing instants ------------------------------------------------------- */

void fdl_lake_time_write(int64_t microseconds, char out[FDL_LAKE_TIME_BYTES]) {
    if (microseconds == INT64_MAX || microseconds <= -INT64_MAX) {
        snprintf(out, FDL_LAKE_TIME_BYTES, "%sinfinity", microseconds < 0 ? "-" : "");
        return;
    }
    int64_t seconds = microseconds / SECOND - (microseconds % SECOND < 0);
    int64_t days = seconds / DAY_SECONDS - (seconds % DAY_SECONDS < 0);
    int second = (int)(seconds - days * DAY_SECONDS);
    int64_t year = 0;
    int month = 0;
    int day = 0;
    date_of(days, &year, &month, &day);

    char fraction[16] = "";
    int micros = (int)(microseconds - seconds * SECOND);
    int digits = 6;
    for (; micros != 0 && micros % 10 == 0; micros /= 10)
        digits--;
    if (micros != 0)
        snprintf(fraction, sizeof fraction, ".%0*d", digits, micros);
    snprintf(out, FDL_LAKE_TIME_BYTES, "%04d-%02d-%02d%s %02d:%02d:%02d%s+00", (int)(year > 0 ? year : 1 - year), month,
             day, year > 0 ? "" : " (BC)", second / 3600, second / 60 % 60, second % 60, fraction);
}

/* ---- UUIDs -------------------------------------------------------------------- */

static int hex_value(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool fdl_lake_uuid_parse(const char *text, size_t length, fdl_duck_hugeint *out) {
    uint64_t halves[2] = {0, 0};
    int digits = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-' && digits > 0 && digits < 32 && text[i - 1] != '-')
            continue;
        int value = hex_value(text[i]);
        if (value < 0 || digits == 32)
            return false;
        halves[digits / 16] = halves[digits / 16] << 4 | (unsigned)value;
        digits++;
    }
    out->upper = (int64_t)(halves[0] ^ UINT64_C(1) << 63);
    out->lower = halves[1];
    return digits == 32;
}

void fdl_lake_uuid_write(const fdl_duck_hugeint *uuid, char out[37]) {
    uint64_t upper = (uint64_t)uuid->upper ^ UINT64_C(1) << 63;
    snprintf(out, 37, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(upper >> 32), (unsigned)(upper >> 16 & 0xffff),
             (unsigned)(upper & 0xffff), (unsigned)(uuid->lower >> 48),
             (unsigned long long)(uuid->lower & UINT64_C(0xffffffffffff)));
}
