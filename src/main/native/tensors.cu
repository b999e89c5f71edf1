// SPDX-License-Identifier: Apache-2.0
/* Casts of plain tensors. Twins: io.penstock.transform. */
#include "floats.cuh"

struct Cast {
    int64_t source, source_type, target, target_type, count;
};

/* Bits of an integer dtype, and whether it has a sign. */
FUNCTION int integer_bits(int64_t type) { return 8 << (type >> 1); }
FUNCTION bool is_signed(int64_t type) { return (type & 1) != 0; }

/* Towards zero, to the nearest end of the range if outside, 0 for a NaN. */
FUNCTION int64_t integer_of(const Number &x, int64_t type) {
    if (x.nan || (x.negative && !is_signed(type))) {
        return 0;
    }
    const int bits = integer_bits(type) - (is_signed(type) ? 1 : 0);
    const uint64_t greatest = (~0ull >> (64 - bits)) + (x.negative ? 1 : 0);
    uint64_t magnitude;
    if (x.infinite) {
        magnitude = greatest;
    } else if (x.exponent >= 0) {
        magnitude = x.magnitude == 0 ? 0
                : leading_zeros(x.magnitude) < x.exponent ? greatest : x.magnitude << x.exponent;
    } else {
        magnitude = x.exponent <= -64 ? 0 : x.magnitude >> -x.exponent;
    }
    magnitude = magnitude > greatest ? greatest : magnitude;
    return (int64_t) (x.negative ? 0 - magnitude : magnitude);
}

KERNEL(penstock_cast, Cast) {
    FOR_EACH(i, a.count) {
        if (a.source_type == F32 && a.target_type == BF16) {
            at<uint16_t>(a.target)[i] = bf16_of(at<const float>(a.source)[i]);
        } else if (a.source_type == F32 && a.target_type == F16) {
            at<uint16_t>(a.target)[i] = f16_of(at<const float>(a.source)[i]);
        } else if (is_float(a.source_type)) {
            const Number x = load_float(a.source_type, a.source, i);
            if (is_float(a.target_type)) {
                store_float(a.target_type, a.target, i, x);
            } else if (a.target_type == BOOL) {
                at<uint8_t>(a.target)[i] = x.nan || x.infinite || x.magnitude != 0;
            } else {
                store_integer(a.target_type, a.target, i, integer_of(x, a.target_type));
            }
        } else {
            const int64_t value = load_integer(a.source_type, a.source, i);
            if (is_float(a.target_type)) {
                const bool negative = value < 0 && a.source_type != U64;
                const Number x = {negative ? 0 - (uint64_t) value : (uint64_t) value, 0, negative, false, false};
                store_float(a.target_type, a.target, i, x);
            } else if (a.target_type == BOOL) {
                at<uint8_t>(a.target)[i] = value != 0;
            } else {
                store_integer(a.target_type, a.target, i, value);
            }
        }
    }
}
