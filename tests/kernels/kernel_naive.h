/* Operators as loops over an array in memory. */
#ifndef WR_TESTS_KERNEL_NAIVE_H
#define WR_TESTS_KERNEL_NAIVE_H

#include "array/naive_array.h"
#include "weir/kernels.h"

/* Of an element that is not complex; exactly. */
long double naive_value(int type, const char *at);

void naive_median(const naive *from, naive *to, int window);

/* As weir_array_relax, in two arrays that are settled; returns which has the latest. */
int naive_relax(const naive *from, naive *const to[2], weir_relaxation *r);

weir_statistics naive_reduce(const naive *a);

#endif
