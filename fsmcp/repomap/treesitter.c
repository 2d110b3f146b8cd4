//go:build cgo

#include "treesitter.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

// How large a piece of memory is. Where the system does not say, nothing is counted.
#if defined(__APPLE__)
#include <malloc/malloc.h>
#define LF_SIZE malloc_size
#elif defined(_WIN32)
#include <malloc.h>
#define LF_SIZE _msize
#elif defined(__linux__)
#include <malloc.h>
#define LF_SIZE malloc_usable_size
#elif defined(__FreeBSD__)
#include <malloc_np.h>
#define LF_SIZE malloc_usable_size
#else
#define LF_SIZE(p) 0
#endif

typedef struct {
  uint32_t context[4]; // the first is the start byte
  const void *id;
  const TSTree *tree;
} TSNode;

typedef struct {
  TSNode node;
  uint32_t index;
} TSQueryCapture;

typedef struct {
  uint32_t id;
  uint16_t pattern_index, capture_count;
  const TSQueryCapture *captures;
} TSQueryMatch;

TSTree *ts_parser_parse_string(TSParser *parser, const TSTree *old, const char *text, uint32_t length);
void ts_parser_reset(TSParser *parser);
void ts_parser_set_timeout_micros(TSParser *parser, uint64_t micros);
void ts_parser_set_cancellation_flag(TSParser *parser, const size_t *flag);
TSNode ts_tree_root_node(const TSTree *tree);
void ts_tree_delete(TSTree *tree);
bool ts_node_is_error(TSNode node);
uint32_t ts_node_child_count(TSNode node);
uint32_t ts_node_end_byte(TSNode node);
void ts_query_cursor_exec(TSQueryCursor *cursor, const TSQuery *query, TSNode node);
void ts_query_cursor_set_timeout_micros(TSQueryCursor *cursor, uint64_t micros);
bool ts_query_cursor_next_match(TSQueryCursor *cursor, TSQueryMatch *match);
void ts_set_allocator(void *(*m)(size_t), void *(*c)(size_t, size_t), void *(*r)(void *, size_t), void (*f)(void *));

// What the reading on this thread has allocated and not freed, and may. The parser looks at the flag every hundred
// operations and stops when it is set; there is no other way to refuse it memory, since it aborts the process when an
// allocation fails. What is freed here and was allocated on another thread makes the count too low, by no more than
// what a parser keeps between files.
static _Thread_local int64_t lf_live, lf_allowed;
static _Thread_local size_t lf_over;

static inline void *lf_count(void *p) {
  lf_live += (int64_t)LF_SIZE(p);
  if (lf_live > lf_allowed) lf_over = 1;
  return p;
}

// Out of memory ends the process, as in the binding: the runtime has no way to go on.
static void *lf_must(void *p) {
  if (p == NULL) abort();
  return lf_count(p);
}

static void *lf_malloc(size_t size) { return lf_must(malloc(size ? size : 1)); }

static void *lf_calloc(size_t count, size_t size) { return lf_must(calloc(count ? count : 1, size ? size : 1)); }

static void *lf_realloc(void *p, size_t size) {
  if (p != NULL) lf_live -= (int64_t)LF_SIZE(p);
  return lf_must(realloc(p, size ? size : 1));
}

static void lf_free(void *p) {
  if (p == NULL) return;
  lf_live -= (int64_t)LF_SIZE(p);
  free(p);
}

void lf_allocator(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&done)) ts_set_allocator(lf_malloc, lf_calloc, lf_realloc, lf_free);
}

void lf_trim(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

static uint64_t lf_micros(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void lf_keep(lf_captures *out, const TSQueryMatch *match, uint32_t ordinal) {
  if (out->count + match->capture_count > out->room) {
    out->room = 2 * out->room + match->capture_count + 1024;
    out->list = lf_must(realloc(out->list, out->room * sizeof(lf_capture)));
  }
  for (uint16_t i = 0; i < match->capture_count; i++) {
    const TSQueryCapture *c = &match->captures[i];
    out->list[out->count++] = (lf_capture){
        c->node.context[0], ts_node_end_byte(c->node), ordinal, match->pattern_index, (uint16_t)c->index};
  }
}

// The cursor ends in silence when its time is up, as it does at the end of the tree: the clock tells the two apart.
static int lf_query(TSQueryCursor *cursor, const TSQuery *query, TSNode root, const lf_limits *limits, lf_captures *captures) {
  uint64_t begun = lf_micros();
  TSQueryMatch match;
  ts_query_cursor_set_timeout_micros(cursor, limits->query_micros);
  ts_query_cursor_exec(cursor, query, root);
  for (uint32_t ordinal = 0; ts_query_cursor_next_match(cursor, &match); ordinal++) lf_keep(captures, &match, ordinal);
  return lf_micros() - begun >= limits->query_micros ? LF_QUERY_TIME : LF_DONE;
}

int lf_read(TSParser *parser, TSQueryCursor *cursor, const TSQuery *query, const char *text, uint32_t length,
            const lf_limits *limits, lf_captures *captures) {
  captures->count = 0;
  lf_live = 0;
  lf_allowed = limits->memory;
  lf_over = 0;
  ts_parser_set_cancellation_flag(parser, &lf_over);
  ts_parser_set_timeout_micros(parser, limits->parse_micros);
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
  ts_parser_set_cancellation_flag(parser, NULL);
  if (tree == NULL) {
    ts_parser_reset(parser); // or the next file would go on with this one
    return lf_over ? LF_MEMORY : LF_PARSE_TIME;
  }
  TSNode root = ts_tree_root_node(tree);
  int end = LF_BROKEN;
  if (!ts_node_is_error(root) || ts_node_child_count(root) <= limits->broken) {
    lf_allowed = INT64_MAX;
    end = lf_query(cursor, query, root, limits, captures);
  }
  ts_tree_delete(tree);
  return end;
}
