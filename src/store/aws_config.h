/*
 * aws_config.h - who we are to S3 and where it is: AWS's environment variables
 * and files, as its own tools read them.
 *
 *   credentials  AWS_ACCESS_KEY_ID + AWS_SECRET_ACCESS_KEY (+ AWS_SESSION_TOKEN),
 *                else the profile's in ~/.aws/credentials, else in ~/.aws/config;
 *                else none: anonymous
 *   profile      AWS_PROFILE, else "default"
 *   region       AWS_REGION, AWS_DEFAULT_REGION, the profile's
 *   endpoint     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's services
 *                section, the profile's
 *   files        AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name others
 */
#ifndef FDL_STORE_AWS_CONFIG_H
#define FDL_STORE_AWS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/error.h"

typedef struct fdl_aws_config {
    char *access_key; /* NULL: anonymous */
    char *secret_key;
    char *session_token;     /* NULL: none */
    char *credential_source; /* for messages: "the environment", "profile 'x' in '/home/u/.aws/credentials'" */
    char *region;            /* NULL: not configured */
    char *endpoint;          /* NULL: AWS itself */
    bool virtual_host;       /* the profile's s3 section says "addressing_style = virtual" */
} fdl_aws_config;

/*
 * FDL_DENIED, naming the source and never the secret: half of a key pair, a
 * profile that AWS_PROFILE names and no file has, a profile whose keys come from
 * somewhere we do not go (a role, single sign-on, a program).
 */
fdl_code fdl_aws_config_read(fdl_aws_config *out, fdl_error *error);
void fdl_aws_config_clear(fdl_aws_config *config);

/*
 * The value of `key` in [section] of an AWS ini file; with `parent`, of the
 * indented lines below "parent =".  Points into `text`; false when there is none.
 */
bool fdl_aws_ini_get(const char *text, const char *section, const char *parent, const char *key, const char **value,
                     size_t *length);
bool fdl_aws_ini_has(const char *text, const char *section);

#endif
