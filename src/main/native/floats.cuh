// SPDX-License-Identifier: Apache-2.0
/*
 * Floating-point formats as bits: exact, rounded once to nearest even, and the same on every machine.
 *
 * A NaN becomes the target's one positive quiet NaN. What is too large becomes infinity; in the 8-bit formats the
 * largest finite number, and so does infinity there.
 */
#pragma once

#include "kernel.cuh"

/* A finite number is magnitude * 2^exponent. */
struct Number {
    uint64_t magnitude;
    int exponent;
    bool negative, infinite, nan;
};

/* A format of EXPONENT and FRACTION bits below the sign; without INFINITY, all ones but the last bit are finite. */
template <int EXPONENT, int FRACTION, bool HAS_INFINITY> FUNCTION Number decode(uint64_t bits) {
    const uint64_t fraction = bits & ((1ull << FRACTION) - 1);
    const int exponent = (int) (bits >> FRACTION) & ((1 << EXPONENT) - 1);
    const int bias = (1 << (EXPONENT - 1)) - 1;
    const bool top = exponent == (1 << EXPONENT) - 1;
    Number x;
    x.negative = (bits >> (EXPONENT + FRACTION) & 1) != 0;
    x.nan = HAS_INFINITY ? top && fraction != 0 : top && fraction == (1ull << FRACTION) - 1;
    x.infinite = HAS_INFINITY && top && fraction == 0;
    x.magnitude = exponent == 0 ? fraction : fraction | 1ull << FRACTION;
    x.exponent = (exponent == 0 ? 1 : exponent) - bias - FRACTION;
    return x;
}

/* LIMIT is the first encoding that is not a finite number, BEYOND what stands for too large, NOT what for a NaN. */
template <int EXPONENT, int FRACTION, uint64_t LIMIT, uint64_t BEYOND, uint64_t NOT>
FUNCTION uint64_t encode(const Number &x) {
    const uint64_t sign = (uint64_t) x.negative << (EXPONENT + FRACTION);
    if (x.nan) {
        return NOT;
    }
    if (x.infinite) {
        return sign | BEYOND;
    }
    if (x.magnitude == 0) {
        return sign;
    }
    const int zeros = leading_zeros(x.magnitude);
    const uint64_t m = x.magnitude << zeros;
    int exponent = x.exponent + 63 - zeros + (1 << (EXPONENT - 1)) - 1;
    int dropped = 63 - FRACTION;
    if (exponent < 1) {                                     /* a subnormal number */
        dropped += 1 - exponent;
        exponent = 1;
    }
    if (dropped > 64) {
        return sign;
    }
    uint64_t kept = dropped == 64 ? 0 : m >> dropped;
    const uint64_t half = 1ull << (dropped - 1);
    const uint64_t rest = m & (half - 1);
    kept += (m & half) != 0 && (rest != 0 || (kept & 1) != 0);
    const uint64_t bits = ((uint64_t) (exponent - 1) << FRACTION) + kept;
    return sign | (bits < LIMIT ? bits : BEYOND);
}

FUNCTION uint16_t bf16_of(float x) {
    const uint32_t bits = bits_of(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return 0x7FC0;
    }
    return (uint16_t) ((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

FUNCTION uint16_t f16_of(float x) {
    const uint32_t bits = bits_of(x);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
        return 0x7E00;
    }
    if (magnitude >= 0x47800000u) {                         /* 65536 */
        return (uint16_t) (sign | 0x7C00u);
    }
    if (magnitude < 0x38800000u) {                          /* 2^-14: adding 0.5 rounds at the last subnormal place */
        return (uint16_t) (sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3F000000u));
    }
    return (uint16_t) (sign | ((magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13));
}

FUNCTION Number load_float(int64_t type, int64_t address, int64_t i) {
    switch (type) {
        case BF16: return decode<8, 7, true>(at<const uint16_t>(address)[i]);
        case F16: return decode<5, 10, true>(at<const uint16_t>(address)[i]);
        case F32: return decode<8, 23, true>(at<const uint32_t>(address)[i]);
        case F64: return decode<11, 52, true>(at<const uint64_t>(address)[i]);
        case F8E4M3: return decode<4, 3, false>(at<const uint8_t>(address)[i]);
        default: return decode<5, 2, true>(at<const uint8_t>(address)[i]);
    }
}

FUNCTION void store_float(int64_t type, int64_t address, int64_t i, const Number &x) {
    switch (type) {
        case BF16: at<uint16_t>(address)[i] = (uint16_t) encode<8, 7, 0x7F80, 0x7F80, 0x7FC0>(x); break;
        case F16: at<uint16_t>(address)[i] = (uint16_t) encode<5, 10, 0x7C00, 0x7C00, 0x7E00>(x); break;
        case F32:
            at<uint32_t>(address)[i] = (uint32_t) encode<8, 23, 0x7F800000, 0x7F800000, 0x7FC00000>(x);
            break;
        case F64:
            at<uint64_t>(address)[i] =
                    encode<11, 52, 0x7FF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000>(x);
            break;
        case F8E4M3: at<uint8_t>(address)[i] = (uint8_t) encode<4, 3, 0x7F, 0x7E, 0x7F>(x); break;
        default: at<uint8_t>(address)[i] = (uint8_t) encode<5, 2, 0x7C, 0x7B, 0x7F>(x); break;
    }
}
