/*
 * s3_xml.h - the XML that S3 answers with: listings, errors, upload ids.
 *
 * Answers come from servers of many makes, some of them hostile.  The walk is
 * strict about what it needs (matching tags, known entities, one root, no
 * DOCTYPE, bounded depth and text) and does not care about the rest.
 */
#ifndef FDL_STORE_S3_XML_H
#define FDL_STORE_S3_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/store.h"

/* An element begins or ends. */
typedef struct fdl_xml_event {
    bool open;
    size_t depth;       /* of the element; the root's is 1 */
    const char *name;   /* without a namespace prefix */
    const char *parent; /* "" for the root */
    const char *text;   /* at the end of an element without children: what it holds, entities decoded; else "" */
} fdl_xml_event;

typedef fdl_code (*fdl_xml_callback)(void *data, const fdl_xml_event *event, fdl_error *error);

/* `who` is what the sender is called in errors.  Anything but FDL_OK from the callback ends the walk. */
fdl_code fdl_xml_walk(const char *bytes, size_t length, const char *who, fdl_xml_callback callback, void *data,
                      fdl_error *error);

/* <root><field>text</field></root>: false when the document is not that, or the text does not fit. */
bool fdl_s3_field(const char *bytes, size_t length, const char *root, const char *field, char *out, size_t out_bytes);

/* An entry of a page: `key` as S3 has it, from the start of the bucket. */
typedef fdl_code (*fdl_s3_entry_callback)(void *data, const char *key, bool folder, const fdl_object *object,
                                          fdl_error *error);

/* One page of ListObjectsV2.  `token` (1024 bytes at least) is "" on the last one. */
fdl_code fdl_s3_page(const char *bytes, size_t length, const char *who, fdl_s3_entry_callback callback, void *data,
                     char *token, size_t token_bytes, fdl_error *error);

#endif
