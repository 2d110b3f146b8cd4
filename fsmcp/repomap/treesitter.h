//go:build cgo

// Reading one file with tree-sitter in one call: text in, captures out. No node ever leaves the call, so none can
// outlive its tree, and there is nothing that a caller could forget to close but the three objects it made itself.

#ifndef LOOKFIRST_TREESITTER_H
#define LOOKFIRST_TREESITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What follows is declared as api.h of tree-sitter 0.25 has it. That header lies in a module of its own, where cgo does
// not find it; the functions are linked from there.
typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct TSQuery TSQuery;
typedef struct TSQueryCursor TSQueryCursor;

TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *parser);
bool ts_parser_set_language(TSParser *parser, const TSLanguage *language);
TSQuery *ts_query_new(const TSLanguage *language, const char *source, uint32_t length, uint32_t *error_offset, int *error_type);
void ts_query_delete(TSQuery *query);
uint32_t ts_query_capture_count(const TSQuery *query);
const char *ts_query_capture_name_for_id(const TSQuery *query, uint32_t index, uint32_t *length);
TSQueryCursor *ts_query_cursor_new(void);
void ts_query_cursor_delete(TSQueryCursor *cursor);

// One captured node: bytes from start up to end.
typedef struct {
  uint32_t start, end;
  uint32_t match;   // the same for captures of one match
  uint16_t pattern; // in the order of the query's text
  uint16_t name;
} lf_capture;

// Why a reading ended.
enum { LF_DONE, LF_PARSE_TIME, LF_QUERY_TIME, LF_MEMORY, LF_BROKEN };

// A worker's captures, kept from file to file.
typedef struct {
  lf_capture *list;
  uint32_t count, room;
} lf_captures;

// What a reading may cost: wall time in microseconds, memory in bytes, and the children of a root that is one error.
typedef struct {
  uint64_t parse_micros, query_micros;
  int64_t memory;
  uint32_t broken;
} lf_limits;

// Puts the C library's allocator in place of the binding's. Harmless when called again.
void lf_allocator(void);

int lf_read(TSParser *parser, TSQueryCursor *cursor, const TSQuery *query, const char *text, uint32_t length,
            const lf_limits *limits, lf_captures *captures);

// Gives memory that parsing has left free back to the system, where the C library keeps it.
void lf_trim(void);

#endif
