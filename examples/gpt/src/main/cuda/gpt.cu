// SPDX-License-Identifier: Apache-2.0
/*
 * The kernels of the GPT trainer, but for its matrix products, which cuBLAS does. CudaOps.java launches them.
 *
 * They are written as kernel.cuh of the engine says: a kernel takes one struct of 64-bit words, FOR_EACH spreads items
 * over threads, FOR_BLOCKS over blocks, and PHASE is a part of a block's work that begins when all its threads have
 * ended the part before. So a C++ compiler can make a library of them that runs on the CPU, for tests.
 *
 * Each float is made by one thread or one block, in an order that is always the same, and nothing is added atomically:
 * the same input gives the same bits, whatever the grid. Matrices are row-major.
 */
#include "kernel.cuh"

#include <math.h>

/* The sum, or the greatest, of part[0], part[1], … goes to part[0]: in pairs, then in pairs of pairs. */
#define REDUCE(part, combined) \
    for (int half = BLOCK_THREADS / 2; half > 0; half /= 2) { \
        PHASE(t) { \
            if (t < half) { \
                part[t] = combined(part[t], part[t + half]); \
            } \
        } \
    }

/* What a thread of a block does: every BLOCK_THREADS-th item of a row. */
#define EACH_OF(t, i, n) for (int64_t i = t; i < (n); i += BLOCK_THREADS)

template <class T> FUNCTION T sum_of(T a, T b) { return a + b; }
FUNCTION float greatest_of(float a, float b) { return a > b ? a : b; }

/* ---- memory ---- */

struct Fill { int64_t x, count; double value; };

KERNEL(gpt_fill, Fill) {
    FOR_EACH(i, a.count) {
        at<float>(a.x)[i] = (float) a.value;
    }
}

struct Add { int64_t x, y, count; };

/* x += y */
KERNEL(gpt_add, Add) {
    FOR_EACH(i, a.count) {
        at<float>(a.x)[i] += at<const float>(a.y)[i];
    }
}

struct CopyRow { int64_t row, y, rows, width; };

/* Every row of y becomes the row: a bias, to which a product is added. */
KERNEL(gpt_copy_row, CopyRow) {
    FOR_EACH(i, a.rows * a.width) {
        at<float>(a.y)[i] = at<const float>(a.row)[i % a.width];
    }
}

/* ---- a batch ---- */

struct ReadBatch {
    int64_t input_ids, labels, position_ids;    /* i32 [rows]: the batch, which is lent */
    int64_t numbers, tokens;                    /* i32 [tokens]: of each token its number, or -1 */
    int64_t rows, to_ids, to_labels, to_positions;
};

FUNCTION int32_t number_of(const ReadBatch &a, int32_t token) {
    return token >= 0 && token < a.tokens ? at<const int32_t>(a.numbers)[token] : -1;
}

/* Copies a batch to memory of the trainer's, so that the batch can be closed. */
KERNEL(gpt_read_batch, ReadBatch) {
    FOR_EACH(i, a.rows) {
        int32_t label = at<const int32_t>(a.labels)[i];
        at<int32_t>(a.to_ids)[i] = number_of(a, at<const int32_t>(a.input_ids)[i]);
        at<int32_t>(a.to_labels)[i] = label < 0 ? label : number_of(a, label);
        at<int32_t>(a.to_positions)[i] = at<const int32_t>(a.position_ids)[i];
    }
}

struct CountLabels { int64_t labels, rows, count; };

/* The number of tokens that have a label, as a double. One block. */
KERNEL(gpt_count_labels, CountLabels) {
    SHARED double part[BLOCK_THREADS];
    FOR_BLOCKS(only, 1) {
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, a.rows) {
                part[t] += at<const int32_t>(a.labels)[i] >= 0 ? 1 : 0;
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            if (t == 0) {
                *at<double>(a.count) = part[0];
            }
        }
    }
}

/* ---- embedding ---- */

struct Embed { int64_t ids, positions, tokens, places, x, rows, width; };

/* x = tokens[id] + places[position]; NaN for a token that is not in the vocabulary, which shows in the loss. */
KERNEL(gpt_embed, Embed) {
    FOR_EACH(i, a.rows * a.width) {
        int64_t row = i / a.width;
        int64_t column = i - row * a.width;
        int64_t id = at<const int32_t>(a.ids)[row];
        int64_t position = at<const int32_t>(a.positions)[row];
        at<float>(a.x)[i] = id < 0 ? NAN : at<const float>(a.tokens)[id * a.width + column]
                + at<const float>(a.places)[position * a.width + column];
    }
}

struct AddRowsAt { int64_t x, indices, rows, sums, entries, width; };

/* sums[e] += all rows of x whose index is e. A block has an entry and looks at every index, so nothing is atomic. */
KERNEL(gpt_add_rows_at, AddRowsAt) {
    FOR_BLOCKS(entry, a.entries) {
        PHASE(t) {
            for (int64_t row = 0; row < a.rows; row++) {
                if (at<const int32_t>(a.indices)[row] == entry) {
                    EACH_OF(t, column, a.width) {
                        at<float>(a.sums)[entry * a.width + column] += at<const float>(a.x)[row * a.width + column];
                    }
                }
            }
        }
    }
}

/* ---- gradients of what is added to every row ---- */

constexpr int SUM_COLUMNS = 32;
constexpr int SUM_PARTS = BLOCK_THREADS / SUM_COLUMNS;

struct AddRows { int64_t x, rows, sums, width; };

/* sums += all rows of x. A block has some columns; its threads share the rows. */
KERNEL(gpt_add_rows, AddRows) {
    SHARED float part[BLOCK_THREADS];
    FOR_BLOCKS(b, (a.width + SUM_COLUMNS - 1) / SUM_COLUMNS) {
        PHASE(t) {
            int64_t column = b * SUM_COLUMNS + t % SUM_COLUMNS;
            part[t] = 0;
            for (int64_t row = t / SUM_COLUMNS; row < a.rows && column < a.width; row += SUM_PARTS) {
                part[t] += at<const float>(a.x)[row * a.width + column];
            }
        }
        PHASE(t) {
            int64_t column = b * SUM_COLUMNS + t;
            if (t < SUM_COLUMNS && column < a.width) {
                for (int p = 1; p < SUM_PARTS; p++) {
                    part[t] += part[t + p * SUM_COLUMNS];
                }
                at<float>(a.sums)[column] += part[t];
            }
        }
    }
}

/* ---- layer norm ---- */

constexpr float NORM_EPSILON = 1e-5f;

/* The mean of a row, and 1 / sqrt(variance + epsilon). */
#define MOMENTS(x, width, part, mean, inverse) \
    PHASE(t) { \
        part[t] = 0; \
        EACH_OF(t, i, width) { \
            part[t] += x[i]; \
        } \
    } \
    REDUCE(part, sum_of) \
    PHASE(t) { \
        if (t == 0) { \
            mean = part[0] / (float) (width); \
        } \
    } \
    PHASE(t) { \
        part[t] = 0; \
        EACH_OF(t, i, width) { \
            part[t] += (x[i] - mean) * (x[i] - mean); \
        } \
    } \
    REDUCE(part, sum_of) \
    PHASE(t) { \
        if (t == 0) { \
            inverse = 1 / sqrtf(part[0] / (float) (width) + NORM_EPSILON); \
        } \
    }

struct LayerNorm { int64_t x, gain, bias, y, rows, width; };

KERNEL(gpt_layer_norm, LayerNorm) {
    SHARED float part[BLOCK_THREADS];
    SHARED float mean, inverse;
    FOR_BLOCKS(row, a.rows) {
        const float *x = at<const float>(a.x) + row * a.width;
        float *y = at<float>(a.y) + row * a.width;
        MOMENTS(x, a.width, part, mean, inverse)
        PHASE(t) {
            EACH_OF(t, i, a.width) {
                y[i] = (x[i] - mean) * inverse * at<const float>(a.gain)[i] + at<const float>(a.bias)[i];
            }
        }
    }
}

struct LayerNormBackward { int64_t x, gain, dy, dx, normal, rows, width; };

/* Adds to dx, and leaves dy times the normalized row in normal: its sums are the gradient of the gain. */
KERNEL(gpt_layer_norm_backward, LayerNormBackward) {
    SHARED float part[BLOCK_THREADS];
    SHARED float along[BLOCK_THREADS];
    SHARED float mean, inverse;
    FOR_BLOCKS(row, a.rows) {
        const float *x = at<const float>(a.x) + row * a.width;
        const float *gain = at<const float>(a.gain);
        const float *dy = at<const float>(a.dy) + row * a.width;
        float *dx = at<float>(a.dx) + row * a.width;
        float *normal = at<float>(a.normal) + row * a.width;
        MOMENTS(x, a.width, part, mean, inverse)
        PHASE(t) {
            part[t] = 0;
            along[t] = 0;
            EACH_OF(t, i, a.width) {
                part[t] += dy[i] * gain[i];
                along[t] += dy[i] * gain[i] * (x[i] - mean) * inverse;
            }
        }
        REDUCE(part, sum_of)
        REDUCE(along, sum_of)
        PHASE(t) {
            EACH_OF(t, i, a.width) {
                float n = (x[i] - mean) * inverse;
                dx[i] += (dy[i] * gain[i] - part[0] / (float) a.width - n * along[0] / (float) a.width) * inverse;
                normal[i] = dy[i] * n;
            }
        }
    }
}

/* ---- GELU, by GPT-2's approximation ---- */

constexpr float CUBIC = 0.044715f;
constexpr float TWICE_ROOT_2_OVER_PI = 1.5957691216f;

/* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), with u = sqrt(2 / pi) (x + 0.044715 x^3) */
FUNCTION float gate(float x) { return 1 / (1 + expf(-TWICE_ROOT_2_OVER_PI * x * (1 + CUBIC * x * x))); }

struct Gelu { int64_t x, y, count; };

KERNEL(gpt_gelu, Gelu) {
    FOR_EACH(i, a.count) {
        float x = at<const float>(a.x)[i];
        at<float>(a.y)[i] = x * gate(x);
    }
}

struct GeluBackward { int64_t x, dy, dx, count; };

KERNEL(gpt_gelu_backward, GeluBackward) {
    FOR_EACH(i, a.count) {
        float x = at<const float>(a.x)[i];
        float g = gate(x);
        float slope = TWICE_ROOT_2_OVER_PI * (1 + 3 * CUBIC * x * x);
        at<float>(a.dx)[i] = (g + x * slope * g * (1 - g)) * at<const float>(a.dy)[i];
    }
}

/* ---- attention ---- */

struct Softmax { int64_t weights, positions, sequences, heads, context; double scale; };

/* Scores [sequences, heads, context, context] become weights; 0 where a token does not attend. */
KERNEL(gpt_softmax, Softmax) {
    SHARED float part[BLOCK_THREADS];
    SHARED float greatest;
    FOR_BLOCKS(row, a.sequences * a.heads * a.context) {
        float *w = at<float>(a.weights) + row * a.context;
        const float scale = (float) a.scale;
        const int64_t last = row % a.context;
        /* The first token of the document. */
        const int64_t first = last - at<const int32_t>(a.positions)[row / (a.heads * a.context) * a.context + last];
        PHASE(t) {
            part[t] = -INFINITY;
            EACH_OF(t, i, last + 1) {
                part[t] = i >= first ? greatest_of(part[t], scale * w[i]) : part[t];
            }
        }
        REDUCE(part, greatest_of)
        PHASE(t) {
            if (t == 0) {
                greatest = part[0];
            }
        }
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, a.context) {
                w[i] = i >= first && i <= last ? expf(scale * w[i] - greatest) : 0;
                part[t] += w[i];
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            EACH_OF(t, i, a.context) {
                w[i] /= part[0];
            }
        }
    }
}

struct SoftmaxBackward { int64_t weights, gradient, rows, width; double scale; };

/* The gradient of the weights becomes that of the scores. */
KERNEL(gpt_softmax_backward, SoftmaxBackward) {
    SHARED float part[BLOCK_THREADS];
    FOR_BLOCKS(row, a.rows) {
        const float *w = at<const float>(a.weights) + row * a.width;
        float *d = at<float>(a.gradient) + row * a.width;
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, a.width) {
                part[t] += w[i] * d[i];
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            EACH_OF(t, i, a.width) {
                d[i] = w[i] * (d[i] - part[0]) * (float) a.scale;
            }
        }
    }
}

/* ---- loss ---- */

struct CrossEntropy { int64_t logits, labels, labelled, losses, rows, vocabulary; };

/* The loss of each row as a double. The logits become the gradient of the mean over all rows that have a label. */
KERNEL(gpt_cross_entropy, CrossEntropy) {
    SHARED float part[BLOCK_THREADS];
    SHARED float greatest, sum;
    FOR_BLOCKS(row, a.rows) {
        float *z = at<float>(a.logits) + row * a.vocabulary;
        const int64_t label = at<const int32_t>(a.labels)[row];
        const float share = 1 / (float) *at<const double>(a.labelled);
        PHASE(t) {
            part[t] = -INFINITY;
            EACH_OF(t, i, a.vocabulary) {
                part[t] = greatest_of(part[t], z[i]);
            }
        }
        REDUCE(part, greatest_of)
        PHASE(t) {
            if (t == 0) {
                greatest = part[0];
            }
        }
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, a.vocabulary) {
                part[t] += expf(z[i] - greatest);
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            if (t == 0) {
                sum = part[0];
                at<double>(a.losses)[row] = label < 0 ? 0 : log((double) sum) - (double) (z[label] - greatest);
            }
        }
        PHASE(t) {
            EACH_OF(t, i, a.vocabulary) {
                float probability = expf(z[i] - greatest) / sum;
                z[i] = label < 0 ? 0 : (probability - (i == label ? 1.0f : 0.0f)) * share;
            }
        }
    }
}

struct AddLosses { int64_t losses, rows, labelled, slot; };

/* slot[0] += the losses of all rows, slot[1] += how many rows have a label. One block. */
KERNEL(gpt_add_losses, AddLosses) {
    SHARED double part[BLOCK_THREADS];
    FOR_BLOCKS(only, 1) {
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, a.rows) {
                part[t] += at<const double>(a.losses)[i];
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            if (t == 0) {
                at<double>(a.slot)[0] += part[0];
                at<double>(a.slot)[1] += *at<const double>(a.labelled);
            }
        }
    }
}

/* ---- optimizer ---- */

constexpr int64_t PART_FLOATS = 1 << 14;        /* CudaOps.PART_FLOATS */

struct SumOfSquares { int64_t x, count, parts; };

/* A double for each PART_FLOATS elements. */
KERNEL(gpt_sum_of_squares, SumOfSquares) {
    SHARED double part[BLOCK_THREADS];
    FOR_BLOCKS(b, (a.count + PART_FLOATS - 1) / PART_FLOATS) {
        const float *x = at<const float>(a.x) + b * PART_FLOATS;
        const int64_t left = a.count - b * PART_FLOATS;
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, left < PART_FLOATS ? left : PART_FLOATS) {
                part[t] += (double) x[i] * x[i];
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            if (t == 0) {
                at<double>(a.parts)[b] = part[0];
            }
        }
    }
}

struct Clip { int64_t parts, count, scale; double max_norm, epsilon; };

/* What shortens a gradient, whose squares have these sums, to a norm; at most 1. One block. */
KERNEL(gpt_clip, Clip) {
    SHARED double part[BLOCK_THREADS];
    FOR_BLOCKS(only, 1) {
        PHASE(t) {
            part[t] = 0;
            EACH_OF(t, i, a.count) {
                part[t] += at<const double>(a.parts)[i];
            }
        }
        REDUCE(part, sum_of)
        PHASE(t) {
            if (t == 0) {
                double scale = a.max_norm / (sqrt(part[0]) + a.epsilon);
                *at<float>(a.scale) = (float) (scale < 1 ? scale : 1);
            }
        }
    }
}

struct AdamW {
    int64_t weight, gradient, mean, square, scale, count;
    double beta1, beta2, epsilon, learning, step, square_correction, decay;
};

KERNEL(gpt_adam_w, AdamW) {
    FOR_EACH(i, a.count) {
        const float beta1 = (float) a.beta1, beta2 = (float) a.beta2;
        const float by = at<const float>(a.gradient)[i] * *at<const float>(a.scale);
        const float mean = beta1 * at<float>(a.mean)[i] + (1 - beta1) * by;
        const float square = beta2 * at<float>(a.square)[i] + (1 - beta2) * by * by;
        at<float>(a.mean)[i] = mean;
        at<float>(a.square)[i] = square;
        at<float>(a.weight)[i] = at<float>(a.weight)[i] * (1 - (float) a.learning * (float) a.decay)
                - (float) a.step * mean / (sqrtf(square) * (float) a.square_correction + (float) a.epsilon);
    }
}
