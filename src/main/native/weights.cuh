// SPDX-License-Identifier: Apache-2.0
/* Weights of a resize, as io.penstock.image.reading.Resizer has them: whole numbers, so that sums are exact. */
#pragma once

#include "kernel.cuh"

constexpr int WEIGHT_BITS = 22;
constexpr int WEIGHT_HALF = 1 << (WEIGHT_BITS - 1);

FUNCTION int limit(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* In the order of the Java enum ResizeFilter. */
enum { FILTER_NEAREST, FILTER_BOX, FILTER_BILINEAR, FILTER_BICUBIC };

FUNCTION double filtered(int filter, double distance) {
    const double x = fabs(distance);
    switch (filter) {
        case FILTER_BOX: return distance > -0.5 && distance <= 0.5 ? 1 : 0;
        case FILTER_BICUBIC:
            return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
        default: return x < 1 ? 1 - x : 0;
    }
}

/* Weighs the pixels of a line for an output: the first one, how many, and their weights. */
FUNCTION void weigh(int32_t *to, int filter, int i, int from_size, int to_size) {
    if (from_size == to_size || filter == FILTER_NEAREST) {
        const int nearest = (int) ((float) i * ((float) from_size / (float) to_size));
        to[0] = nearest < from_size ? nearest : from_size - 1;
        to[1] = 1;
        to[2] = 1 << WEIGHT_BITS;
        return;
    }
    const double scale = (double) from_size / to_size;
    const double stretch = scale > 1 ? scale : 1;
    const double reach = (filter == FILTER_BOX ? 0.5 : filter == FILTER_BICUBIC ? 2 : 1) * stretch;
    const double center = (i + 0.5) * scale;
    const int first = limit((int) (center - reach + 0.5), 0, from_size);
    const int count = limit((int) (center + reach + 0.5), 0, from_size) - first;
    const double inverse = 1 / stretch;
    double sum = 0;
    for (int k = 0; k < count; k++) {
        sum += filtered(filter, (k + first - center + 0.5) * inverse);
    }
    for (int k = 0; k < count; k++) {
        const double weight = filtered(filter, (k + first - center + 0.5) * inverse);
        const double share = (sum == 0 ? weight : weight / sum) * (1 << WEIGHT_BITS);
        to[2 + k] = (int32_t) (share < 0 ? share - 0.5 : share + 0.5);
    }
    to[0] = first;
    to[1] = count;
}
