//go:build cgo

// Reading one file with tree-sitter in one call: text in, captures out. No node ever leaves the call, so none can
// outlive its tree, and there is nothing that a caller could forget to close but what it made itself.

#ifndef LOOKFIRST_TREESITTER_H
#define LOOKFIRST_TREESITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What follows is declared as api.h of tree-sitter 0.25 has it. That header lies in a module of its own, where cgo does
// not find it; the functions are linked from there.
typedef struct TSLanguage TSLanguage;
typedef struct TSTree TSTree;

uint32_t ts_language_symbol_count(const TSLanguage *language);
uint16_t ts_language_symbol_for_name(const TSLanguage *language, const char *name, uint32_t length, bool is_named);
uint16_t ts_language_field_id_for_name(const TSLanguage *language, const char *name, uint32_t length);

// How many branches a path may have.
#define LF_BRANCHES 4

// LF_NONE stands where there is no name to capture, and no symbol.
#define LF_NONE 0xffff

// Where a node must stand among the named children of its parent.
enum { LF_ANYWHERE, LF_FIRST, LF_LAST };

// A node that a path goes through.
typedef struct {
  uint16_t symbol; // 0 for any that is named
  uint16_t field;  // of its parent, which it must be; 0 for any
  uint16_t name;   // that it is captured by, or LF_NONE
  uint16_t place;
} lf_step;

// A child, by its field, that a node on the path must have besides; with LF_NONE as its symbol, that it must not have.
typedef struct {
  int16_t of; // the number of the step, or ^ that of an earlier branch of the same path
  uint16_t symbol, field, name;
} lf_branch;

// A pattern: from a node up through its ancestors.
typedef struct {
  uint16_t step, steps, branch, branches; // where they begin, and how many
  uint16_t pattern;                       // the number of the pattern in the query's text
} lf_path;

// A language's patterns, by the symbol that they begin at. It does not change, and serves all readers.
typedef struct lf_paths lf_paths;

// Makes a copy of what it is given; free releases it.
lf_paths *lf_paths_new(const TSLanguage *language, const lf_step *steps, uint32_t step_count, const lf_branch *branches,
                       uint32_t branch_count, const lf_path *paths, uint32_t path_count);

// One captured node: bytes from start up to end.
typedef struct {
  uint32_t start, end;
  uint32_t match;   // the same for captures of one match
  uint16_t pattern; // in the order of the query's text
  uint16_t name;
} lf_capture;

// Why a reading ended.
typedef enum { LF_DONE, LF_PARSE_TIME, LF_QUERY_TIME, LF_MEMORY, LF_BROKEN, LF_VERSION } lf_end;

// What a reading has found. It is there until the next one.
typedef struct {
  lf_end end;
  lf_capture *list;
  uint32_t count, room, matches;
  struct lf_frame *frames; // where the walk is
  uint32_t depth;          // for how many there is room
} lf_captures;

// What a reading may cost: wall time in microseconds, memory in bytes, and the children of a root that is one error.
typedef struct {
  uint64_t parse_micros, query_micros;
  size_t memory;
  uint32_t broken;
} lf_limits;

// What a worker keeps from file to file.
typedef struct lf_reader lf_reader;

lf_reader *lf_reader_new(void);
void lf_reader_delete(lf_reader *reader);

const lf_captures *lf_read(lf_reader *reader, const TSLanguage *language, const lf_paths *paths, const char *text,
                           uint32_t length, const lf_limits *limits);

#endif
