// SPDX-License-Identifier: Apache-2.0
/*
 * How a kernel is written here, so that nvcc compiles it for a GPU and any C++17 compiler for the CPU, where tests
 * compare it with its Java twin.
 *
 * A kernel takes one struct of 64-bit words, its arguments, and reads addresses, counts and dtypes from it. Its grid
 * has any number of blocks of BLOCK_THREADS threads; how many changes the speed and never the result:
 *
 *     FOR_EACH(i, n)      each of n items once, spread over all threads of all blocks
 *     FOR_BLOCKS(b, n)    each of n items once, spread over the blocks; the threads of a block work on it together
 *     PHASE(t)            inside FOR_BLOCKS: every thread t of the block, once all have ended the phase before
 *
 * What lives from one phase to the next is in SHARED memory. On the CPU a block is a call and a phase a loop.
 */
#pragma once

#include <math.h>
#include <stdint.h>

constexpr int BLOCK_THREADS = 256;

#ifdef __CUDACC__

#define FUNCTION static __device__ __forceinline__
#define KERNEL(name, Arguments) \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) name(const __grid_constant__ Arguments a)
#define SHARED __shared__
#define ROLLED _Pragma("unroll 1")          /* these loops wait for memory: unrolling them only makes them longer */
#define FOR_EACH(i, n) \
    ROLLED for (int64_t i = (int64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < (n); \
            i += (int64_t) gridDim.x * BLOCK_THREADS)
#define FOR_BLOCKS(b, n) ROLLED for (int64_t b = blockIdx.x; b < (n); b += gridDim.x)
#define PHASE(t) \
    __syncthreads(); \
    for (int t = threadIdx.x, once = 1; once; once = 0)

FUNCTION void shared_or(uint32_t *word, uint32_t bits) { atomicOr(word, bits); }
FUNCTION void shared_max(int32_t *value, int32_t candidate) { atomicMax(value, candidate); }
FUNCTION void shared_add(uint32_t *sum, uint32_t x) { atomicAdd(sum, x); }
FUNCTION void shared_add(uint64_t *sum, uint64_t x) { atomicAdd((unsigned long long *) sum, (unsigned long long) x); }
FUNCTION float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }      /* a * b + c, rounded once */
FUNCTION int ones(uint32_t x) { return __popc(x); }
FUNCTION int leading_zeros(uint32_t x) { return __clz(x); }
FUNCTION int leading_zeros(uint64_t x) { return __clzll((long long) x); }
FUNCTION uint32_t bits_of(float x) { return __float_as_uint(x); }
FUNCTION float float_of(uint32_t bits) { return __uint_as_float(bits); }

#else

#include <string.h>

#define FUNCTION static inline
#define KERNEL(name, Arguments) \
    static void name##_block(const Arguments &a, int64_t block, int64_t blocks); \
    extern "C" const int64_t name##_words = sizeof(Arguments) / sizeof(int64_t); \
    extern "C" void name(const void *words, int64_t blocks) { \
        for (int64_t block = 0; block < blocks; block++) { \
            name##_block(*(const Arguments *) words, block, blocks); \
        } \
    } \
    static void name##_block(const Arguments &a, [[maybe_unused]] int64_t block, [[maybe_unused]] int64_t blocks)
#define SHARED
#define ROLLED
#define FOR_EACH(i, n) \
    for (int thread = 0; thread < BLOCK_THREADS; thread++) \
        for (int64_t i = block * BLOCK_THREADS + thread; i < (n); i += blocks * BLOCK_THREADS)
#define FOR_BLOCKS(b, n) for (int64_t b = block; b < (n); b += blocks)
#define PHASE(t) for (int t = 0; t < BLOCK_THREADS; t++)

FUNCTION void shared_or(uint32_t *word, uint32_t bits) { *word |= bits; }
FUNCTION void shared_max(int32_t *value, int32_t candidate) { *value = candidate > *value ? candidate : *value; }
FUNCTION void shared_add(uint32_t *sum, uint32_t x) { *sum += x; }
FUNCTION void shared_add(uint64_t *sum, uint64_t x) { *sum += x; }
FUNCTION float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FUNCTION int ones(uint32_t x) { return __builtin_popcount(x); }
FUNCTION int leading_zeros(uint32_t x) { return x == 0 ? 32 : __builtin_clz(x); }
FUNCTION int leading_zeros(uint64_t x) { return x == 0 ? 64 : __builtin_clzll(x); }
FUNCTION uint32_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }
FUNCTION float float_of(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }

#endif

/* The dtypes, in the order of the Java enum. */
enum { U8, I8, U16, I16, U32, I32, U64, I64, BF16, F16, F32, F64, BOOL, F8E4M3, F8E5M2 };

FUNCTION bool is_float(int64_t type) {
    return (type >= BF16 && type <= F64) || type == F8E4M3 || type == F8E5M2;
}

template <class T> FUNCTION T *at(int64_t address) { return reinterpret_cast<T *>(address); }

/* An element of an integer dtype, extended to 64 bits; those of u64 keep their bits. */
FUNCTION int64_t load_integer(int64_t type, int64_t address, int64_t i) {
    switch (type) {
        case U8: case BOOL: return at<const uint8_t>(address)[i];
        case I8: return at<const int8_t>(address)[i];
        case U16: return at<const uint16_t>(address)[i];
        case I16: return at<const int16_t>(address)[i];
        case U32: return at<const uint32_t>(address)[i];
        case I32: return at<const int32_t>(address)[i];
        default: return at<const int64_t>(address)[i];
    }
}

/* The low bits of a value as an element of an integer dtype. */
FUNCTION void store_integer(int64_t type, int64_t address, int64_t i, int64_t value) {
    switch (type) {
        case U8: case I8: case BOOL: at<uint8_t>(address)[i] = (uint8_t) value; break;
        case U16: case I16: at<uint16_t>(address)[i] = (uint16_t) value; break;
        case U32: case I32: at<uint32_t>(address)[i] = (uint32_t) value; break;
        default: at<int64_t>(address)[i] = value; break;
    }
}
