//go:build cgo

#include "walk.h"

#include <stdlib.h>
#include <string.h>

// A query is matched by one walk over the tree: at each node, the patterns that begin at its symbol are followed up
// through its ancestors, which the walk has at hand. Each node is visited once, and costs what its symbol's patterns do.
// The runtime's own queries go down instead, keep a state for each pattern that has begun, and took two and a half times
// as long; on an error of tens of thousands of children they took the square of that.

// How many nodes are visited between two looks at the clock.
#define LF_NODES 256

typedef struct lf_frame {
  TSNode node;
  uint16_t symbol, field;
} lf_frame;

// The paths that begin at symbol s are those from first[s] up to first[s + 1].
struct lf_paths {
  const lf_step *steps;
  const lf_branch *branches;
  const lf_path *paths;
  const uint16_t *first;
  uint32_t symbols;
  const bool *fielded; // whether it matters what field a node of the symbol is
};

static void *lf_copy(char **at, const void *from, size_t size) {
  void *to = *at;
  if (size > 0) memcpy(to, from, size); // From may be NULL then, which memcpy must not be given.
  *at += (size + 7) / 8 * 8;
  return to;
}

lf_paths *lf_paths_new(const TSLanguage *language, const lf_step *steps, uint32_t step_count, const lf_branch *branches,
                       uint32_t branch_count, const lf_path *paths, uint32_t path_count) {
  uint32_t symbols = ts_language_symbol_count(language);
  size_t size = sizeof(lf_paths) + step_count * sizeof(lf_step) + branch_count * sizeof(lf_branch) +
                path_count * sizeof(lf_path) + (symbols + 1) * (sizeof(uint16_t) + sizeof(bool)) + 5 * 8;
  lf_paths *p = calloc(1, size);
  if (p == NULL) abort();
  char *at = (char *)(p + 1);
  p->steps = lf_copy(&at, steps, step_count * sizeof(lf_step));
  p->branches = lf_copy(&at, branches, branch_count * sizeof(lf_branch));
  lf_path *sorted = lf_copy(&at, paths, path_count * sizeof(lf_path));
  uint16_t *first = (uint16_t *)at;
  bool *fielded = (bool *)(first + symbols + 1);
  uint16_t done = 0;
  for (uint32_t s = 0; s < symbols; s++) {
    first[s] = done;
    for (uint32_t i = 0; i < path_count; i++) {
      if (steps[paths[i].step].symbol == s) sorted[done++] = paths[i];
    }
  }
  first[symbols] = done;
  for (uint32_t i = 0; i < step_count; i++) fielded[steps[i].symbol] |= steps[i].field != 0;
  p->paths = sorted;
  p->first = first;
  p->fielded = fielded;
  p->symbols = symbols;
  return p;
}

static bool lf_same(TSNode a, TSNode b) { return a.id == b.id && a.context[0] == b.context[0]; }

static void lf_keep(lf_captures *out, TSNode node, uint32_t match, uint16_t pattern, uint16_t name) {
  if (name == LF_NONE) return;
  if (out->count == out->room) {
    out->room = 2 * out->room + 1024;
    out->list = realloc(out->list, out->room * sizeof(lf_capture));
    if (out->list == NULL) abort();
  }
  out->list[out->count++] = (lf_capture){node.context[0], ts_node_end_byte(node), match, pattern, name};
}

static bool lf_is_in_place(const lf_frame *frame, uint16_t place) {
  if (place == LF_ANYWHERE) return true;
  TSNode parent = frame[-1].node;
  uint32_t at = place == LF_FIRST ? 0 : ts_node_named_child_count(parent) - 1;
  return lf_same(ts_node_named_child(parent, at), frame->node);
}

// Whether the path fits the node of the last frame.
static bool lf_fits(const lf_paths *p, const lf_path *path, const lf_frame *last, uint32_t depth) {
  if (path->steps > depth + 1) return false;
  for (uint16_t i = 0; i < path->steps; i++) {
    const lf_step *step = &p->steps[path->step + i];
    const lf_frame *frame = last - i;
    if (step->symbol != frame->symbol || (step->field != 0 && step->field != frame->field)) return false;
  }
  for (uint16_t i = 0; i < path->steps; i++) {
    if (!lf_is_in_place(last - i, p->steps[path->step + i].place)) return false;
  }
  return true;
}

// Finds the branches of a path that fits, and keeps the captures if all are there.
static void lf_match(const lf_paths *p, const lf_path *path, const lf_frame *last, lf_captures *captures) {
  TSNode found[LF_BRANCHES];
  for (uint16_t i = 0; i < path->branches; i++) {
    const lf_branch *b = &p->branches[path->branch + i];
    TSNode parent = b->of >= 0 ? last[-b->of].node : found[~b->of];
    found[i] = ts_node_child_by_field_id(parent, b->field);
    bool is_there = !ts_node_is_null(found[i]);
    if (b->symbol == LF_NONE) {
      if (is_there) return;
      continue;
    }
    if (!is_there) return;
    if (b->symbol == 0 ? !ts_node_is_named(found[i]) : ts_node_symbol(found[i]) != b->symbol) return;
    // What the path itself goes through is no branch of it.
    if (b->of > 0 && lf_same(found[i], last[1 - b->of].node)) return;
  }
  uint32_t match = captures->matches++;
  for (uint16_t i = 0; i < path->steps; i++) {
    lf_keep(captures, last[-(int)i].node, match, path->pattern, p->steps[path->step + i].name);
  }
  for (uint16_t i = 0; i < path->branches; i++) {
    lf_keep(captures, found[i], match, path->pattern, p->branches[path->branch + i].name);
  }
}

// Enters a node into its frame, and matches what begins there.
static void lf_visit(const lf_paths *p, const TSTreeCursor *cursor, uint32_t depth, lf_captures *captures) {
  if (depth == captures->depth) {
    captures->depth = 2 * depth + 256;
    captures->frames = realloc(captures->frames, captures->depth * sizeof(lf_frame));
    if (captures->frames == NULL) abort();
  }
  lf_frame *frame = &captures->frames[depth];
  frame->node = ts_tree_cursor_current_node(cursor);
  frame->symbol = ts_node_symbol(frame->node);
  frame->field = 0;
  if (frame->symbol >= p->symbols) return; // an error
  if (p->fielded[frame->symbol]) frame->field = ts_tree_cursor_current_field_id(cursor);
  for (uint16_t i = p->first[frame->symbol]; i < p->first[frame->symbol + 1]; i++) {
    if (lf_fits(p, &p->paths[i], frame, depth)) lf_match(p, &p->paths[i], frame, captures);
  }
}

bool lf_walk(const lf_paths *paths, TSNode root, uint64_t until, lf_captures *captures) {
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  uint32_t depth = 0;
  bool more = true;
  for (uint32_t n = 0; more; n++) {
    if (n % LF_NODES == 0 && lf_micros() >= until) break;
    lf_visit(paths, &cursor, depth, captures);
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      depth++;
      continue;
    }
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      more = ts_tree_cursor_goto_parent(&cursor);
      if (!more) break;
      depth--;
    }
  }
  ts_tree_cursor_delete(&cursor);
  return !more;
}
