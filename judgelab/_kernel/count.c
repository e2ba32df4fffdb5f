/* One pass over two columns of positions: how often does every pair of them occur?

   No Python in here: `judgelab.kernel` hands over addresses. A signed column is read
   as unsigned, in which a negative position is a huge one. */

#include <stddef.h>
#include <stdint.h>

/* Bytes ahead at which the columns are fetched: without it, the scattered table keeps
   the processor from reading on while it adds. */
#define AHEAD 2048

#define COUNT(NAME, TYPE)                                                               \
    /* Returns at how many rows it came by: all n, or those before a bad position. */   \
    ptrdiff_t NAME(const char *first, ptrdiff_t first_step, const char *second,         \
                   ptrdiff_t second_step, ptrdiff_t n, uint64_t side, int64_t *table)   \
    {                                                                                   \
        for (ptrdiff_t k = 0; k < n; k++) {                                             \
            uint64_t i = *(const TYPE *)first, j = *(const TYPE *)second;               \
            if (i >= side || j >= side)                                                 \
                return k;                                                               \
            __builtin_prefetch((const void *)((uintptr_t)first + AHEAD));               \
            __builtin_prefetch((const void *)((uintptr_t)second + AHEAD));              \
            table[i * side + j]++;                                                      \
            first += first_step;                                                        \
            second += second_step;                                                      \
        }                                                                               \
        return n;                                                                       \
    }

COUNT(count_pairs_1, uint8_t)
COUNT(count_pairs_2, uint16_t)
COUNT(count_pairs_4, uint32_t)
COUNT(count_pairs_8, uint64_t)
