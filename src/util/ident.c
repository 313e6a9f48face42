/*
 * ident.c - UUIDs, SHA-256 and instants.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "util/crypto.h"
#include "util/file.h"
#include "util/ident.h"

/* ---- UUIDs -------------------------------------------------------------- */

static fdl_code random_bytes(void *out, size_t length, fdl_error *error) {
    unsigned char *at = out;
    while (length > 0) {
        ssize_t got = getrandom(at, length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fdl_fail(error, FDL_FAILED, NULL, "cannot get random bytes from the system");
        at += got;
        length -= (size_t)got;
    }
    return FDL_OK;
}

void fdl_hex_write(const unsigned char *bytes, size_t length, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * length] = '\0';
}

fdl_code fdl_random_hex(size_t count, char *out, fdl_error *error) {
    unsigned char bytes[32];
    if (count > sizeof bytes)
        return fdl_fail(error, FDL_FAILED, NULL, "at most 32 random bytes at once");
    fdl_code code = random_bytes(bytes, count, error);
    if (code == FDL_OK)
        fdl_hex_write(bytes, count, out);
    return code;
}

/* Sets version and variant, and writes 8-4-4-4-12. */
static void uuid_write(unsigned char bytes[16], unsigned version, char out[37]) {
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | (version << 4));
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char hex[33];
    fdl_hex_write(bytes, 16, hex);
    snprintf(out, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

fdl_code fdl_uuid_v4(char out[37], fdl_error *error) {
    unsigned char bytes[16];
    fdl_code code = random_bytes(bytes, sizeof bytes, error);
    if (code == FDL_OK)
        uuid_write(bytes, 4, out);
    return code;
}

/*
 * The 60 bits before the variant (48 of milliseconds, 12 free ones) are one
 * tick that never stands still: it starts each millisecond at a random value in
 * the lower half of the free bits, and within the millisecond, or when the clock
 * goes back, it is the last tick plus one.  The 62 bits behind are always fresh,
 * so that processes, forked ones too, do not meet.
 */
fdl_code fdl_uuid_v7(char out[37], fdl_error *error) {
    static _Atomic uint64_t last_tick;
    unsigned char bytes[16];
    fdl_code code = random_bytes(bytes, sizeof bytes, error);
    if (code != FDL_OK)
        return code;

    uint64_t start = ((uint64_t)fdl_now_ms() << 12) | (((uint64_t)bytes[6] << 8 | bytes[7]) & 0x7ff);
    uint64_t last = atomic_load(&last_tick);
    uint64_t tick;
    do {
        tick = start > last ? start : last + 1;
    } while (!atomic_compare_exchange_weak(&last_tick, &last, tick));

    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(tick >> (52 - 8 * i));
    bytes[6] = (unsigned char)((tick >> 8) & 0x0f);
    bytes[7] = (unsigned char)tick;
    uuid_write(bytes, 7, out);
    return FDL_OK;
}

bool fdl_uuid_valid(const char *text) {
    if (strlen(text) != 36)
        return false;
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (dash ? text[i] != '-' : !hex)
            return false;
    }
    return true;
}

/* ---- SHA-256 ------------------------------------------------------------ */

static fdl_code hash_failed(fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "cannot compute a sha256: libcrypto refuses");
}

fdl_code fdl_sha256_start(fdl_sha256 *hash, fdl_error *error) {
    hash->state = NULL;
    fdl_code code = fdl_crypto_open(error);
    if (code != FDL_OK)
        return code;
    hash->state = fdl_crypto.EVP_MD_CTX_new();
    if (!hash->state || fdl_crypto.EVP_DigestInit_ex(hash->state, fdl_crypto.EVP_sha256(), NULL) != 1) {
        fdl_sha256_drop(hash);
        return hash_failed(error);
    }
    return FDL_OK;
}

fdl_code fdl_sha256_add(fdl_sha256 *hash, const void *bytes, size_t length, fdl_error *error) {
    return fdl_crypto.EVP_DigestUpdate(hash->state, bytes, length) == 1 ? FDL_OK : hash_failed(error);
}

fdl_code fdl_sha256_finish(fdl_sha256 *hash, char out[65], fdl_error *error) {
    unsigned char digest[32];
    unsigned length = 0;
    int done = fdl_crypto.EVP_DigestFinal_ex(hash->state, digest, &length);
    fdl_sha256_drop(hash);
    if (done != 1 || length != sizeof digest)
        return hash_failed(error);
    fdl_hex_write(digest, sizeof digest, out);
    return FDL_OK;
}

void fdl_sha256_drop(fdl_sha256 *hash) {
    if (hash->state)
        fdl_crypto.EVP_MD_CTX_free(hash->state);
    hash->state = NULL;
}

fdl_code fdl_sha256_bytes(const void *bytes, size_t length, char out[65], fdl_error *error) {
    fdl_sha256 hash;
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        return code;
    code = fdl_sha256_add(&hash, bytes, length, error);
    if (code == FDL_OK)
        return fdl_sha256_finish(&hash, out, error);
    fdl_sha256_drop(&hash);
    return code;
}

fdl_code fdl_sha256_file(const char *path, char out[65], uint64_t *size_bytes, fdl_error *error) {
    fdl_sha256 hash = {NULL};
    uint64_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fdl_file_error(error, "read", path, errno);
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        goto done;
    char piece[65536];
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            code = fdl_file_error(error, "read", path, errno);
        if (got <= 0)
            break;
        size += (uint64_t)got;
        code = fdl_sha256_add(&hash, piece, (size_t)got, error);
        if (code != FDL_OK)
            break;
    }
    if (code == FDL_OK)
        code = fdl_sha256_finish(&hash, out, error);
    if (code == FDL_OK && size_bytes)
        *size_bytes = size;
done:
    fdl_sha256_drop(&hash);
    close(fd);
    return code;
}

/* ---- instants ----------------------------------------------------------- */

int64_t fdl_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t fdl_now_ms(void) {
    return fdl_now_us() / 1000;
}

int64_t fdl_steady_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void fdl_time_write(int64_t ms, char out[32]) {
    /* Four-digit years alone can be written: 0000-01-01 to 9999-12-31. */
    const int64_t first = -62167219200000;
    const int64_t last = 253402300799999;
    ms = ms < first ? first : ms > last ? last : ms;
    int64_t fraction = ((ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((ms - fraction) / 1000);
    struct tm t;
    gmtime_r(&seconds, &t);
    char text[64]; /* as wide as the compiler must fear */
    int length = snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
                          t.tm_hour, t.tm_min, t.tm_sec);
    if (fraction != 0)
        snprintf(text + length, sizeof text - (size_t)length, ".%03dZ", (int)fraction);
    else
        snprintf(text + length, sizeof text - (size_t)length, "Z");
    memcpy(out, text, 31);
    out[31] = '\0';
}

/* Exactly `digits` digits at *at, which moves on; -1 when there are fewer. */
static int take_number(const char **at, int digits) {
    int number = 0;
    for (int i = 0; i < digits; i++) {
        char c = **at;
        if (c < '0' || c > '9')
            return -1;
        number = number * 10 + (c - '0');
        (*at)++;
    }
    return number;
}

static bool take_char(const char **at, const char *accepted) {
    if (**at == '\0' || !strchr(accepted, **at))
        return false;
    (*at)++;
    return true;
}

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* "YYYY-MM-DDTHH:MM:SS"; a leap second (60) is taken as the second after. */
static bool take_date_time(const char **at, struct tm *t) {
    int year = take_number(at, 4);
    bool shape = year >= 0 && take_char(at, "-");
    int month = shape ? take_number(at, 2) : -1;
    shape = shape && take_char(at, "-");
    int day = shape ? take_number(at, 2) : -1;
    shape = shape && take_char(at, "Tt");
    int hour = shape ? take_number(at, 2) : -1;
    shape = shape && take_char(at, ":");
    int minute = shape ? take_number(at, 2) : -1;
    shape = shape && take_char(at, ":");
    int second = shape ? take_number(at, 2) : -1;
    if (!shape || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    *t = (struct tm){.tm_year = year - 1900,
                     .tm_mon = month - 1,
                     .tm_mday = day,
                     .tm_hour = hour,
                     .tm_min = minute,
                     .tm_sec = second};
    return true;
}

/* ".123456": cut to milliseconds; absent is 0. */
static bool take_fraction(const char **at, int *ms) {
    *ms = 0;
    if (!take_char(at, "."))
        return true;
    int weight = 100;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        *ms += (**at - '0') * weight;
        weight /= 10;
    }
    return true;
}

/* Seconds since 1970. */
#define YEAR_0 INT64_C(-62167219200)
#define YEAR_10000 INT64_C(253402300800)

/* "Z" or "+09:00". */
static bool take_offset(const char **at, int *minutes) {
    *minutes = 0;
    if (take_char(at, "Zz"))
        return true;
    int sign = **at == '-' ? -1 : 1;
    if (!take_char(at, "+-"))
        return false;
    int hour = take_number(at, 2);
    if (hour < 0 || hour > 23 || !take_char(at, ":"))
        return false;
    int minute = take_number(at, 2);
    if (minute < 0 || minute > 59)
        return false;
    *minutes = sign * (hour * 60 + minute);
    return true;
}

bool fdl_time_parse(const char *text, int64_t *ms) {
    struct tm t;
    int fraction;
    int offset;
    if (!take_date_time(&text, &t) || !take_fraction(&text, &fraction) || !take_offset(&text, &offset) || *text != '\0')
        return false;
    int64_t seconds = (int64_t)timegm(&t) - (int64_t)offset * 60;
    *ms = seconds * 1000 + fraction;
    return seconds >= YEAR_0 && seconds < YEAR_10000; /* an offset may lead out of the years with four digits */
}
