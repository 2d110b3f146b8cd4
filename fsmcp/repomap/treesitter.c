//go:build cgo

#include "region.h"
#include "walk.h"

#include <stdlib.h>
#include <time.h>

typedef struct TSParser TSParser;

TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *parser);
bool ts_parser_set_language(TSParser *parser, const TSLanguage *language);
TSTree *ts_parser_parse_string(TSParser *parser, const TSTree *old, const char *text, uint32_t length);
void ts_parser_set_timeout_micros(TSParser *parser, uint64_t micros);

struct lf_reader {
  lf_captures captures;
  lf_region *region;
};

lf_reader *lf_reader_new(void) {
  lf_region_install();
  lf_reader *reader = calloc(1, sizeof(lf_reader));
  if (reader == NULL) abort();
  reader->region = lf_region_new();
  return reader;
}

void lf_reader_delete(lf_reader *reader) {
  free(reader->captures.list);
  free(reader->captures.frames);
  lf_region_delete(reader->region);
  free(reader);
}

uint64_t lf_micros(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static lf_end lf_parse(const TSLanguage *language, const lf_paths *paths, const char *text, uint32_t length,
                       const lf_limits *limits, lf_captures *captures) {
  // A scanner that a grammar brings along has memory of the C library; that goes with the parser, which for this reason
  // is deleted. The tree is in the region.
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, language)) return LF_VERSION;
  ts_parser_set_timeout_micros(parser, limits->parse_micros);
  const TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
  ts_parser_delete(parser);
  if (tree == NULL) return LF_PARSE_TIME;
  TSNode root = ts_tree_root_node(tree);
  if (ts_node_is_error(root) && ts_node_child_count(root) > limits->broken) return LF_BROKEN;
  return lf_walk(paths, root, lf_micros() + limits->query_micros, captures) ? LF_DONE : LF_QUERY_TIME;
}

const lf_captures *lf_read(lf_reader *reader, const TSLanguage *language, const lf_paths *paths, const char *text,
                           uint32_t length, const lf_limits *limits) {
  lf_captures *captures = &reader->captures;
  captures->count = captures->matches = 0;
  // Whoever is full loses its scanner too, which is some hundred bytes.
  jmp_buf full;
  lf_region_enter(reader->region, limits->memory, &full);
  if (setjmp(full) == 0) { // Anywhere but in a condition as plain as this, C says nothing of what it does.
    captures->end = lf_parse(language, paths, text, length, limits, captures);
  } else {
    captures->end = LF_MEMORY;
  }
  lf_region_leave(reader->region);
  return captures;
}
