/*
 * sign.h - SSH signatures of version.json, made and judged by ssh-keygen -Y,
 * which keeps the keys and knows the rules.
 *
 * A signature is over the very bytes of version.json, in the namespace
 * "fdl-version", so that none made for something else (a Git commit, a login)
 * can be passed off as one.  Whom to trust comes from the caller, never from the
 * repository: who can forge a version can forge fdl.json too.
 */
#ifndef FDL_FLOW_SIGN_H
#define FDL_FLOW_SIGN_H

#include <stddef.h>

#include "fdl/flow.h"

#define FDL_SIGNATURE_NAMESPACE "fdl-version"

/*
 * Signs a file: the signature becomes "<path>.sig" and is checked before this
 * returns.  `key` is a private key's file, or a public one whose private part
 * the SSH agent has; a passphrase is asked for on the terminal.
 */
fdl_code fdl_sign_file(const char *path, const char *key, fdl_error *error);

/*
 * Reads and judges a version's signature; `bytes` are its version.json.
 * `allowed_signers` may be NULL.  FDL_OK whatever it is worth.  FDL_UNSUPPORTED:
 * there is one to be judged, and no ssh-keygen; FDL_NOT_FOUND: the file of
 * allowed signers cannot be read.
 */
fdl_code fdl_signature_read(fdl_repo *repo, const fdl_version *version, const char *bytes, size_t length,
                            const char *allowed_signers, fdl_signature *out, fdl_error *error);

#endif
