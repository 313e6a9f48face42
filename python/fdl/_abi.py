"""libfdl's structs and functions as fdl/flow.h has them; a test compares their sizes with the compiler's."""

import ctypes
import pathlib
from ctypes import POINTER, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p

MESSAGE_BYTES, KEY_BYTES, ID_BYTES, REF_BYTES = 2048, 1100, 37, 232

library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "lib" / "libfdl.so.0"))

NOTE = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)


def _struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


Error = _struct("fdl_error", ("code", c_int), ("message", c_char * MESSAGE_BYTES), ("key", c_char * KEY_BYTES))
Context = _struct(
    "fdl_context",
    ("note", NOTE),
    ("note_data", c_void_p),
    ("progress", c_void_p),
    ("progress_data", c_void_p),
    ("libduckdb", c_char_p),
    ("jobs", c_int),
    ("checker", c_char_p),
    ("unsafe_no_conditions", c_bool),
)
InitOptions = _struct(
    "fdl_init_options", ("data_dir", c_char_p), ("id", c_char_p), ("url", c_char_p), ("branch", c_char_p)
)
CheckoutOptions = _struct("fdl_checkout_options", ("revision", c_char_p), ("force", c_bool))
CheckoutResult = _struct(
    "fdl_checkout_result",
    ("base", c_char * ID_BYTES),
    ("branch", c_char * REF_BYTES),
    ("attach_statement", c_char_p),
    ("backup", c_char_p),
)
Request = _struct("fdl_request", ("state", c_int), ("number", c_int64), ("reason", c_char * 512))
StatusResult = _struct(
    "fdl_status_result",
    ("repo", c_char_p),
    ("branch", c_char * REF_BYTES),
    ("base", c_char * ID_BYTES),
    ("base_seq", c_int64),
    ("base_snapshot", c_int64),
    ("committed_snapshot", c_int64),
    ("snapshot", c_int64),
    ("pending", c_void_p),
    ("pending_count", c_size_t),
    ("request", Request),
    ("remote_known", c_bool),
    ("moved", c_bool),
    ("remote", c_char * ID_BYTES),
    ("remote_error", c_char * MESSAGE_BYTES),
    ("attach_statement", c_char_p),
)
CommitOptions = _struct(
    "fdl_commit_options",
    ("message", c_char_p),
    ("author_name", c_char_p),
    ("author_email", c_char_p),
    ("dataset_path", c_char_p),
    ("dbt_folder", c_char_p),
    ("sources", POINTER(c_char_p)),
    ("source_count", c_size_t),
    ("sign_key", c_char_p),
    ("allow_empty", c_bool),
    ("keep_snapshots", c_bool),
    ("flush_inlined", c_bool),
    ("allow_encrypted", c_bool),
)
CommitResult = _struct(
    "fdl_commit_result",
    ("made", c_bool),
    ("id", c_char * ID_BYTES),
    ("seq", c_int64),
    ("table_count", c_uint64),
    ("file_count", c_uint64),
    ("catalog_bytes", c_uint64),
)
Sent = _struct("fdl_sent", ("files", c_uint64), ("bytes", c_uint64))
PushOptions = _struct("fdl_push_options", ("branch", c_char_p))
PushResult = _struct(
    "fdl_push_result",
    ("branch", c_char * REF_BYTES),
    ("pushed", c_void_p),
    ("pushed_count", c_size_t),
    ("request", Request),
    ("waiting", c_char * ID_BYTES),
    ("behind_count", c_size_t),
    ("sent", Sent),
)

MIRRORED = [Error, Context, InitOptions, CheckoutOptions, CheckoutResult, Request, StatusResult, CommitOptions, CommitResult]
MIRRORED += [Sent, PushOptions, PushResult]

# Only handed from one call to another, so it need not be known, just held.
LOCATION_BYTES = 64 * 1024
Location = _struct("fdl_location", ("room", c_uint64 * (LOCATION_BYTES // 8)))

_TEXTS = {"fdl_version_string": [], "fdl_code_name": [c_int]}
for name, arguments in _TEXTS.items():
    getattr(library, name).restype = c_char_p
    getattr(library, name).argtypes = arguments

_p = c_void_p
_CODES = {
    "fdl_repo_open": [_p, c_char_p, _p, _p],
    "fdl_init": [_p, _p, _p, _p],
    "fdl_locate": [_p, c_char_p, _p, _p],
    "fdl_attach_statement": [_p, _p, c_char_p, c_char_p, _p, _p],
    "fdl_secret_statement": [_p, _p, _p],
    "fdl_checkout": [_p, c_char_p, _p, _p, _p],
    "fdl_status": [_p, c_char_p, _p, _p],
    "fdl_commit": [_p, c_char_p, _p, _p, _p],
    "fdl_push": [_p, c_char_p, _p, _p, _p],
}
for name, arguments in _CODES.items():
    getattr(library, name).restype = c_int
    getattr(library, name).argtypes = arguments

for name in ("fdl_repo_free", "fdl_location_clear", "fdl_checkout_result_clear", "fdl_status_result_clear", "fdl_push_result_clear"):
    getattr(library, name).restype = None
    getattr(library, name).argtypes = [_p]

free = ctypes.CDLL(None).free
free.restype = None
free.argtypes = [_p]
