//go:build cgo

// The memory of one reading: taken piece by piece, and given up as a whole.

#ifndef LOOKFIRST_REGION_H
#define LOOKFIRST_REGION_H

#include <setjmp.h>
#include <stddef.h>

typedef struct lf_region lf_region;

lf_region *lf_region_new(void);
void lf_region_delete(lf_region *region);

// From here on, until it leaves, what tree-sitter allocates on this thread comes from the region, which is empty. What
// would make it hold more than limit bytes does not return, but goes on at full.
void lf_region_enter(lf_region *region, size_t limit, jmp_buf *full);
void lf_region_leave(lf_region *region);

// Has tree-sitter allocate from the region that its thread is in, or else from the C library. When it returns, that is so,
// whoever did it.
void lf_region_install(void);

#endif
