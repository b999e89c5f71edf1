// SPDX-License-Identifier: Apache-2.0
/* Casts, gathers and pads of plain tensors. Twins: io.penstock.transform. */
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

struct alignas(16) Sixteen { uint64_t low, high; };

template <class T> FUNCTION void copy_unit(int64_t to, int64_t i, int64_t from, int64_t j, bool exists) {
    at<T>(to)[i] = exists ? at<const T>(from)[j] : T{};
}

/* Rows of a table, picked by index; an index outside the table gives zeros. */
struct GatherRows {
    int64_t table, rows, indices, index_type, count, target, row_units, unit_bytes;
};

KERNEL(penstock_gather_rows, GatherRows) {
    FOR_EACH(i, a.count * a.row_units) {
        const int64_t picked = i / a.row_units;
        const int64_t row = load_integer(a.index_type, a.indices, picked);
        const bool exists = (uint64_t) row < (uint64_t) a.rows;
        const int64_t from = (exists ? row : 0) * a.row_units + (i - picked * a.row_units);
        switch (a.unit_bytes) {
            case 16: copy_unit<Sixteen>(a.target, i, a.table, from, exists); break;
            case 8: copy_unit<uint64_t>(a.target, i, a.table, from, exists); break;
            case 4: copy_unit<uint32_t>(a.target, i, a.table, from, exists); break;
            case 2: copy_unit<uint16_t>(a.target, i, a.table, from, exists); break;
            default: copy_unit<uint8_t>(a.target, i, a.table, from, exists); break;
        }
    }
}

/* Ragged rows side by side to rows of one length: cut, or filled up with a padding element. */
struct PadRows {
    int64_t values, element_bytes, offsets, offset_type, rows, length, target, padding;
};

KERNEL(penstock_pad_rows, PadRows) {
    FOR_EACH(i, a.rows * a.length) {
        const int64_t row = i / a.length;
        const int64_t t = i - row * a.length;
        const int64_t from = load_integer(a.offset_type, a.offsets, row) + t;
        const bool exists = from < load_integer(a.offset_type, a.offsets, row + 1);
        switch (a.element_bytes) {
            case 8: at<uint64_t>(a.target)[i] = exists ? at<const uint64_t>(a.values)[from] : a.padding; break;
            case 4:
                at<uint32_t>(a.target)[i] = exists ? at<const uint32_t>(a.values)[from] : (uint32_t) a.padding;
                break;
            case 2:
                at<uint16_t>(a.target)[i] = exists ? at<const uint16_t>(a.values)[from] : (uint16_t) a.padding;
                break;
            default:
                at<uint8_t>(a.target)[i] = exists ? at<const uint8_t>(a.values)[from] : (uint8_t) a.padding;
                break;
        }
    }
}
