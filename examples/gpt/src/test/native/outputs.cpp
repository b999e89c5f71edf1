// SPDX-License-Identifier: Apache-2.0
/* The trainer's kernels, and what each writes: what the simulated runtime asks of a kernel, as of the engine's. */
#include "gpt.cu"

#include <stddef.h>

#define WORD(Arguments, field) (int64_t) (offsetof(Arguments, field) / sizeof(int64_t))
#define OUTPUTS(name, ...) extern "C" const int64_t name##_outputs[] = {__VA_ARGS__, -1}

OUTPUTS(gpt_fill, WORD(Fill, x));
OUTPUTS(gpt_add, WORD(Add, x));
OUTPUTS(gpt_copy_row, WORD(CopyRow, y));
OUTPUTS(gpt_read_batch, WORD(ReadBatch, to_ids), WORD(ReadBatch, to_labels), WORD(ReadBatch, to_positions));
OUTPUTS(gpt_count_labels, WORD(CountLabels, count));
OUTPUTS(gpt_embed, WORD(Embed, x));
OUTPUTS(gpt_add_rows_at, WORD(AddRowsAt, sums));
OUTPUTS(gpt_add_rows, WORD(AddRows, sums));
OUTPUTS(gpt_layer_norm, WORD(LayerNorm, y));
OUTPUTS(gpt_layer_norm_backward, WORD(LayerNormBackward, dx), WORD(LayerNormBackward, normal));
OUTPUTS(gpt_gelu, WORD(Gelu, y));
OUTPUTS(gpt_gelu_backward, WORD(GeluBackward, dx));
OUTPUTS(gpt_softmax, WORD(Softmax, weights));
OUTPUTS(gpt_softmax_backward, WORD(SoftmaxBackward, gradient));
OUTPUTS(gpt_cross_entropy, WORD(CrossEntropy, logits), WORD(CrossEntropy, losses));
OUTPUTS(gpt_add_losses, WORD(AddLosses, slot));
OUTPUTS(gpt_sum_of_squares, WORD(SumOfSquares, parts));
OUTPUTS(gpt_clip, WORD(Clip, scale));
OUTPUTS(gpt_adam_w, WORD(AdamW, weight), WORD(AdamW, mean), WORD(AdamW, square));
