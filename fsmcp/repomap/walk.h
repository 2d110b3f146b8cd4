//go:build cgo

// What the C files of this package share.

#ifndef LOOKFIRST_WALK_H
#define LOOKFIRST_WALK_H

#include "treesitter.h"

// Declared as api.h of tree-sitter 0.25 has it; see treesitter.h.
typedef struct {
  uint32_t context[4]; // the first is the start byte
  const void *id;
  const TSTree *tree;
} TSNode;

typedef struct {
  const void *tree, *id;
  uint32_t context[3];
} TSTreeCursor;

TSNode ts_tree_root_node(const TSTree *tree);
bool ts_node_is_error(TSNode node);
bool ts_node_is_named(TSNode node);
bool ts_node_is_null(TSNode node);
uint16_t ts_node_symbol(TSNode node);
uint32_t ts_node_child_count(TSNode node);
uint32_t ts_node_end_byte(TSNode node);
uint32_t ts_node_named_child_count(TSNode node);
TSNode ts_node_named_child(TSNode node, uint32_t index);
TSNode ts_node_child_by_field_id(TSNode node, uint16_t field);
TSTreeCursor ts_tree_cursor_new(TSNode node);
void ts_tree_cursor_delete(TSTreeCursor *cursor);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *cursor);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *cursor);
bool ts_tree_cursor_goto_parent(TSTreeCursor *cursor);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *cursor);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *cursor);

// The time by a clock that does not go back, in microseconds.
uint64_t lf_micros(void);

// Keeps what the paths capture below a node. Says whether it came to the end in time.
bool lf_walk(const lf_paths *paths, TSNode root, uint64_t until, lf_captures *captures);

#endif
