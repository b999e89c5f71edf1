// SPDX-License-Identifier: Apache-2.0
/* Token windows to what a language model takes. Twins: io.penstock.transform. */
#include "kernel.cuh"

/* How many of n ascending numbers are not above x. */
FUNCTION int64_t not_above(const int32_t *ascending, int64_t n, int64_t x) {
    int64_t low = 0;
    int64_t high = n;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (ascending[middle] <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where documents begin and end within rows of tokens, as a token tells it. */
struct Rows {
    int64_t tokens, token_type, batch, length, stride;
    int64_t separator;              /* the token */
    int64_t separator_mode;         /* 0: there is none, 1: it ends documents, 2: it begins them */
};

/* Whether a document begins at a token of a row, other than by being the row's first one. */
FUNCTION bool begins(const Rows &rows, int64_t row, int64_t t) {
    if (rows.separator_mode == 0 || t == 0) {
        return false;
    }
    int64_t decisive = rows.separator_mode == 1 ? t - 1 : t;
    return load_integer(rows.token_type, rows.tokens, row * rows.stride + decisive) == rows.separator;
}

/* Windows [batch, length + 1] to inputs and labels [batch, length]. */
struct CausalLm {
    Rows rows;
    int64_t input_ids, labels, out_type;
    int64_t cu_seqlens, cu_count;   /* document bounds in the flattened inputs, if the address is not 0 */
    int64_t ignore_index;
};

KERNEL(penstock_causal_lm, CausalLm) {
    FOR_EACH(i, a.rows.batch * a.rows.length) {
        int64_t row = i / a.rows.length;
        int64_t t = i - row * a.rows.length;
        int64_t from = row * a.rows.stride + t;
        bool crosses = begins(a.rows, row, t + 1);
        if (a.cu_seqlens != 0 && t + 1 < a.rows.length) {
            const int32_t *bounds = at<const int32_t>(a.cu_seqlens);
            crosses = crosses || not_above(bounds, a.cu_count, i + 1) > not_above(bounds, a.cu_count, i);
        }
        if (a.input_ids != 0) {
            store_integer(a.out_type, a.input_ids, i, load_integer(a.rows.token_type, a.rows.tokens, from));
        }
        if (a.labels != 0) {
            store_integer(a.out_type, a.labels, i,
                    crosses ? a.ignore_index : load_integer(a.rows.token_type, a.rows.tokens, from + 1));
        }
    }
}

/* The document starts of a chunk of a row as bits, with what comes before each word of them. */
constexpr int CHUNK_TOKENS = 32 * BLOCK_THREADS;

struct Starts {
    uint32_t words[BLOCK_THREADS];
    int64_t last_before[BLOCK_THREADS];     /* the last start in the row before the word */
    int64_t count_before[BLOCK_THREADS];    /* starts in the row before the word, its first token not counted */
    int64_t last;                           /* of the chunks before */
    int64_t count;
    int32_t longest;
};

/* Statements, not a function: a phase is a loop over the block's threads. */
#define BEGIN_ROW(s) \
    PHASE(t) { \
        if (t == 0) { \
            s.last = 0; \
            s.count = 0; \
            s.longest = 0; \
        } \
    }
#define FIND_STARTS(s, rows, row, base) \
    PHASE(t) { \
        s.words[t] = 0; \
    } \
    PHASE(t) { \
        ROLLED for (int j = t; j < CHUNK_TOKENS && base + j < rows.length; j += BLOCK_THREADS) { \
            if (begins(rows, row, base + j)) { \
                shared_or(&s.words[j >> 5], 1u << (j & 31)); \
            } \
        } \
    } \
    PHASE(t) { \
        s.last_before[t] = s.last; \
        s.count_before[t] = s.count; \
        ROLLED for (int w = 0; w < t; w++) { \
            if (s.words[w] != 0) { \
                s.last_before[t] = base + 32 * w + 31 - leading_zeros(s.words[w]); \
                s.count_before[t] += ones(s.words[w]); \
            } \
        } \
    }
#define END_CHUNK(s, base) \
    PHASE(t) { \
        if (t == BLOCK_THREADS - 1) { \
            s.last = last_start(s, base, CHUNK_TOKENS - 1); \
            s.count = starts_up_to(s, CHUNK_TOKENS - 1); \
        } \
    }

/* The last start not after token j of the chunk. */
FUNCTION int64_t last_start(const Starts &s, int64_t base, int j) {
    uint32_t upto = s.words[j >> 5] & (0xFFFFFFFFu >> (31 - (j & 31)));
    return upto == 0 ? s.last_before[j >> 5] : base + (j & ~31) + 31 - leading_zeros(upto);
}

FUNCTION int64_t starts_up_to(const Starts &s, int j) {
    return s.count_before[j >> 5] + ones(s.words[j >> 5] & (0xFFFFFFFFu >> (31 - (j & 31))));
}

/* Position ids, document ids, and for each row how many documents it has and how long the longest is. */
struct Documents {
    Rows rows;
    int64_t position_ids, document_ids, out_type;
    int64_t row_documents;          /* i32 [batch, 2]: count, longest */
};

KERNEL(penstock_documents, Documents) {
    SHARED Starts s;
    FOR_BLOCKS(row, a.rows.batch) {
        BEGIN_ROW(s)
        ROLLED for (int64_t base = 0; base < a.rows.length; base += CHUNK_TOKENS) {
            FIND_STARTS(s, a.rows, row, base)
            PHASE(t) {
                ROLLED for (int j = t; j < CHUNK_TOKENS && base + j < a.rows.length; j += BLOCK_THREADS) {
                    int64_t i = row * a.rows.length + base + j;
                    if (a.position_ids != 0) {
                        store_integer(a.out_type, a.position_ids, i, base + j - last_start(s, base, j));
                    }
                    if (a.document_ids != 0) {
                        store_integer(a.out_type, a.document_ids, i, starts_up_to(s, j));
                    }
                    if ((s.words[j >> 5] >> (j & 31) & 1) != 0) {
                        int64_t previous = (j & 31) == 0 ? s.last_before[j >> 5] : last_start(s, base, j - 1);
                        shared_max(&s.longest, (int32_t) (base + j - previous));
                    }
                }
            }
            END_CHUNK(s, base)
        }
        PHASE(t) {
            if (t == 0 && a.row_documents != 0) {
                int32_t *summary = at<int32_t>(a.row_documents) + 2 * row;
                int32_t final_length = (int32_t) (a.rows.length - s.last);
                summary[0] = (int32_t) (s.count + 1);
                summary[1] = s.longest > final_length ? s.longest : final_length;
            }
        }
    }
}

/* The starts of all documents of a batch in its flattened tokens, from what penstock_documents counted. */
struct DocumentStarts {
    Rows rows;
    int64_t row_documents;
    int64_t cu_seqlens, capacity;   /* i32 [capacity + 1] */
    int64_t totals;                 /* i32 [2]: documents, longest; or 0 */
};

KERNEL(penstock_document_starts, DocumentStarts) {
    SHARED Starts s;
    SHARED int64_t before[BLOCK_THREADS];
    SHARED int64_t all[BLOCK_THREADS];
    SHARED int32_t longest;
    FOR_BLOCKS(row, a.rows.batch) {
        const int32_t *counted = at<const int32_t>(a.row_documents);
        int32_t *cu_seqlens = at<int32_t>(a.cu_seqlens);
        BEGIN_ROW(s)
        PHASE(t) {
            before[t] = 0;
            all[t] = 0;
            if (t == 0) {
                longest = 0;
            }
        }
        PHASE(t) {
            ROLLED for (int64_t r = t; r < a.rows.batch; r += BLOCK_THREADS) {
                before[t] += r < row ? counted[2 * r] : 0;
                all[t] += counted[2 * r];
                shared_max(&longest, counted[2 * r + 1]);
            }
        }
        PHASE(t) {
            if (t == 0) {
                ROLLED for (int u = 1; u < BLOCK_THREADS; u++) {
                    before[0] += before[u];
                    all[0] += all[u];
                }
            }
        }
        ROLLED for (int64_t base = 0; base < a.rows.length; base += CHUNK_TOKENS) {
            FIND_STARTS(s, a.rows, row, base)
            PHASE(t) {
                ROLLED for (int j = t; j < CHUNK_TOKENS && base + j < a.rows.length; j += BLOCK_THREADS) {
                    if (base + j == 0 || (s.words[j >> 5] >> (j & 31) & 1) != 0) {
                        int64_t document = before[0] + starts_up_to(s, j);
                        if (document < a.capacity) {
                            cu_seqlens[document] = (int32_t) (row * a.rows.length + base + j);
                        }
                    }
                }
            }
            END_CHUNK(s, base)
        }
        PHASE(t) {
            int64_t end = all[0] < a.capacity ? all[0] : a.capacity;
            const int64_t stride = a.rows.batch * BLOCK_THREADS;
            ROLLED for (int64_t k = end + row * BLOCK_THREADS + t; k <= a.capacity; k += stride) {
                cu_seqlens[k] = (int32_t) (a.rows.batch * a.rows.length);
            }
            if (row == 0 && t == 0 && a.totals != 0) {
                at<int32_t>(a.totals)[0] = (int32_t) all[0];
                at<int32_t>(a.totals)[1] = longest;
            }
        }
    }
}

/*
 * A packed batch of tokens [batch, length], sequences side by side in each row and padding behind them, to what a
 * language model takes. cu_seqlens has the starts of sequences and paddings in the flattened tokens, lengths the tokens
 * before the padding of each row. An output whose address is 0 is not written.
 */
struct Packed {
    int64_t tokens, token_type, batch, length, cu_seqlens, cu_count, lengths;
    int64_t loss_bits;              /* u8 [batch, (length + 7) / 8], lowest bit first, or 0: all are trained on */
    int64_t input_ids, labels, position_ids, document_ids, padding_mask, out_type, ignore_index;
};

/* Where the sequence of token i starts, given how many bounds are not above i. */
FUNCTION int64_t sequence_start(const int32_t *bounds, int64_t upto, int64_t row_start) {
    return upto > 0 && bounds[upto - 1] > row_start ? bounds[upto - 1] : row_start;
}

KERNEL(penstock_packed, Packed) {
    FOR_EACH(i, a.batch * a.length) {
        const int32_t *bounds = at<const int32_t>(a.cu_seqlens);
        const int64_t row = i / a.length;
        const int64_t t = i - row * a.length;
        const int64_t used = at<const int32_t>(a.lengths)[row];
        const int64_t upto = not_above(bounds, a.cu_count, i);
        if (a.input_ids != 0) {
            store_integer(a.out_type, a.input_ids, i, load_integer(a.token_type, a.tokens, i));
        }
        if (a.labels != 0) {
            bool trained = t + 1 < used && (upto == a.cu_count || bounds[upto] > i + 1);
            if (trained && a.loss_bits != 0) {
                const uint8_t *bits = at<const uint8_t>(a.loss_bits) + row * ((a.length + 7) / 8);
                trained = (bits[(t + 1) >> 3] >> ((t + 1) & 7) & 1) != 0;
            }
            store_integer(a.out_type, a.labels, i,
                    trained ? load_integer(a.token_type, a.tokens, i + 1) : a.ignore_index);
        }
        if (a.position_ids != 0) {
            store_integer(a.out_type, a.position_ids, i, i - sequence_start(bounds, upto, i - t));
        }
        if (a.document_ids != 0) {
            store_integer(a.out_type, a.document_ids, i,
                    t < used ? upto - not_above(bounds, a.cu_count, i - t) + 1 : 0);
        }
        if (a.padding_mask != 0) {
            at<uint8_t>(a.padding_mask)[i] = t < used;
        }
    }
}

/* Which tokens attend to which, bool [batch, length, length]: to those of their sequence up to themselves. */
struct PackedAttention {
    int64_t batch, length, cu_seqlens, cu_count, lengths, mask;
};

KERNEL(penstock_packed_attention, PackedAttention) {
    FOR_BLOCKS(i, a.batch * a.length) {
        const int32_t *bounds = at<const int32_t>(a.cu_seqlens);
        const int64_t row = i / a.length;
        const int64_t query = i - row * a.length;
        const bool padding = query >= at<const int32_t>(a.lengths)[row];
        const int64_t first =
                sequence_start(bounds, not_above(bounds, a.cu_count, i), row * a.length) - row * a.length;
        PHASE(t) {
            ROLLED for (int64_t key = t; key < a.length; key += BLOCK_THREADS) {
                at<uint8_t>(a.mask)[i * a.length + key] = !padding && first <= key && key <= query;
            }
        }
    }
}
