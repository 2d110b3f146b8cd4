//go:build cgo

#include "region.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

// Tree-sitter makes an allocation for every node that is not tiny, and takes a tree apart again node by node; together
// that is a sixth of the time of a reading. In a region an allocation is a step of a pointer, or what has been freed of
// the same size, and a tree is given up with all the rest by moving the pointer back.
//
// The runtime aborts the process when an allocation fails, and there is no limit to what it asks for: 32 KB of "a<b<a<b<…",
// read as Java, took gigabytes within a single step of the parser, between two looks at its flag. Here one that is too
// much is left by a jump out of the parser, wherever it is. Nothing that it was in the middle of matters any more, for
// all of it goes with the region.

enum {
  LF_CHUNK = 1 << 20, // what is asked of the C library at once, in bytes
  LF_SPARE = 8 << 20, // what a region keeps for the next file: more than most take
  LF_STEP = 16,       // small sizes are multiples of this
  LF_SMALL = 64,      // how many small sizes there are
  LF_SIZES = LF_SMALL + 50,
};

typedef struct lf_chunk {
  struct lf_chunk *next;
  size_t size;
} lf_chunk;

// A block is its size's number, and what its owner has. When it is free, that is a pointer to the next free one.
typedef struct lf_block {
  size_t number;
  struct lf_block *next;
} lf_block;

#define LF_HEAD offsetof(lf_block, next)

struct lf_region {
  lf_chunk *used, *spare;
  char *at, *end; // what is left of the chunk that was begun last
  size_t held, limit;
  jmp_buf *full;
  lf_block *free[LF_SIZES];
};

static _Thread_local lf_region *lf_here;

// Chunks come from the system and go back to it: a C library keeps hundreds of megabytes that a hostile file has taken,
// for each thread.
static lf_chunk *lf_take(size_t size) {
#if defined(__unix__) || defined(__APPLE__)
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return p == MAP_FAILED ? NULL : p;
#else
  return malloc(size);
#endif
}

static void lf_give(lf_chunk *chunk) {
#if defined(__unix__) || defined(__APPLE__)
  munmap(chunk, chunk->size);
#else
  free(chunk);
#endif
}

// The number of the smallest size that is not below size, and that size: small ones go up by steps, large ones double.
static size_t lf_number(size_t size, size_t *rounded) {
  size_t number = (size + LF_STEP - 1) / LF_STEP;
  *rounded = number * LF_STEP;
  if (number <= LF_SMALL) return number;
  *rounded = LF_SMALL * LF_STEP;
  for (number = LF_SMALL; *rounded < size; number++) *rounded *= 2;
  return number;
}

static size_t lf_size(size_t number) {
  return number <= LF_SMALL ? number * LF_STEP : (size_t)LF_SMALL * LF_STEP << (number - LF_SMALL);
}

static void lf_begin(lf_region *r, size_t need) {
  lf_chunk *chunk = r->spare;
  need += sizeof(lf_chunk);
  bool is_spare = chunk != NULL && need <= chunk->size;
  size_t size = is_spare ? chunk->size : need > LF_CHUNK ? need : LF_CHUNK;
  if (r->held + size > r->limit) longjmp(*r->full, 1);
  if (is_spare) {
    r->spare = chunk->next;
  } else if ((chunk = lf_take(size)) == NULL) {
    longjmp(*r->full, 1);
  }
  chunk->size = size;
  chunk->next = r->used;
  r->used = chunk;
  r->at = (char *)(chunk + 1);
  r->end = (char *)chunk + chunk->size;
  r->held += size;
}

// The runtime ends the process where there is no memory, and so do we in its place.
static void *lf_whole(void *p, size_t size) {
  if (p == NULL && size != 0) abort();
  return p;
}

// Outside a region, what is allocated is the C library's, as it is without us: a program that we are a part of may use
// tree-sitter too, and may have begun before the allocator was ours. What comes from a region never leaves it, and nothing
// else gets in, so that the two are told apart by where they are asked for.

static void *lf_malloc(size_t size) {
  lf_region *r = lf_here;
  if (r == NULL) return lf_whole(malloc(size), size);
  size_t rounded, number = lf_number(size ? size : 1, &rounded);
  lf_block *block = r->free[number];
  if (block != NULL) {
    r->free[number] = block->next;
    return &block->next;
  }
  if ((size_t)(r->end - r->at) < rounded + LF_HEAD) lf_begin(r, rounded + LF_HEAD);
  block = (lf_block *)r->at;
  r->at += rounded + LF_HEAD;
  block->number = number;
  return &block->next;
}

static void *lf_calloc(size_t count, size_t size) {
  if (lf_here == NULL) return lf_whole(calloc(count, size), count != 0 ? size : 0);
  if (size != 0 && count > SIZE_MAX / size) abort();
  return memset(lf_malloc(count * size), 0, count * size);
}

static void lf_free(void *p) {
  if (lf_here == NULL) {
    free(p);
    return;
  }
  if (p == NULL) return;
  lf_block *block = (lf_block *)((char *)p - LF_HEAD);
  block->next = lf_here->free[block->number];
  lf_here->free[block->number] = block;
}

static void *lf_realloc(void *p, size_t size) {
  if (lf_here == NULL) return lf_whole(realloc(p, size), size);
  if (p == NULL) return lf_malloc(size);
  size_t room = lf_size(((lf_block *)((char *)p - LF_HEAD))->number);
  if (size <= room) return p;
  void *moved = memcpy(lf_malloc(size), p, room);
  lf_free(p);
  return moved;
}

void ts_set_allocator(void *(*m)(size_t), void *(*c)(size_t, size_t), void *(*r)(void *, size_t), void (*f)(void *));

void lf_region_install(void) {
  enum { LF_NOBODY, LF_SOMEBODY, LF_INSTALLED };
  static atomic_int state = LF_NOBODY;
  int expected = LF_NOBODY;
  if (atomic_compare_exchange_strong(&state, &expected, LF_SOMEBODY)) {
    ts_set_allocator(lf_malloc, lf_calloc, lf_realloc, lf_free);
    atomic_store(&state, LF_INSTALLED);
  }
  // Whoever went on before the other is done would allocate here and free there. That is over in a few instructions.
  while (atomic_load(&state) != LF_INSTALLED) {
  }
}

lf_region *lf_region_new(void) {
  lf_region *r = calloc(1, sizeof(lf_region));
  if (r == NULL) abort();
  return r;
}

void lf_region_enter(lf_region *r, size_t limit, jmp_buf *full) {
  r->limit = limit;
  r->full = full;
  lf_here = r;
}

void lf_region_leave(lf_region *r) {
  size_t kept = 0;
  for (lf_chunk *c = r->spare; c != NULL; c = c->next) kept += c->size;
  while (r->used != NULL) {
    lf_chunk *chunk = r->used;
    r->used = chunk->next;
    if (kept + chunk->size > LF_SPARE) {
      lf_give(chunk);
      continue;
    }
    kept += chunk->size;
    chunk->next = r->spare;
    r->spare = chunk;
  }
  r->at = r->end = NULL;
  r->held = 0;
  memset(r->free, 0, sizeof r->free);
  lf_here = NULL;
}

void lf_region_delete(lf_region *r) {
  if (r == NULL) return;
  while (r->spare != NULL) {
    lf_chunk *chunk = r->spare;
    r->spare = chunk->next;
    lf_give(chunk);
  }
  free(r);
}
