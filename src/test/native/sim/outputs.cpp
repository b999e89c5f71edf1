// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's kernels, and which words of their arguments are addresses that they write: what the simulated runtime
 * needs to see that an output is read too early, or written too late.
 */
#include "kernels.cu"

#include <stddef.h>

#define WORD(Arguments, field) (int64_t) (offsetof(Arguments, field) / sizeof(int64_t))
#define OUTPUTS(name, ...) extern "C" const int64_t name##_outputs[] = {__VA_ARGS__, -1}

OUTPUTS(penstock_causal_lm, WORD(CausalLm, input_ids), WORD(CausalLm, labels));
OUTPUTS(penstock_documents, WORD(Documents, position_ids), WORD(Documents, document_ids),
        WORD(Documents, row_documents));
OUTPUTS(penstock_document_starts, WORD(DocumentStarts, cu_seqlens), WORD(DocumentStarts, totals));
OUTPUTS(penstock_packed, WORD(Packed, input_ids), WORD(Packed, labels), WORD(Packed, position_ids),
        WORD(Packed, document_ids), WORD(Packed, padding_mask));
OUTPUTS(penstock_packed_attention, WORD(PackedAttention, mask));
OUTPUTS(penstock_images, WORD(Images, target));
OUTPUTS(penstock_augment_prepare, WORD(Pass, numbers), WORD(Pass, weights));
OUTPUTS(penstock_augment_measure, WORD(Pass, tables));
OUTPUTS(penstock_augment_columns, WORD(Pass, more));
OUTPUTS(penstock_augment, WORD(Pass, target));
OUTPUTS(penstock_framed_weigh, WORD(Framed, scratch));
OUTPUTS(penstock_framed, WORD(Framed, target), WORD(Framed, decoded));
OUTPUTS(penstock_log_mel, WORD(LogMel, target), WORD(LogMel, most));
OUTPUTS(penstock_log_mel_scale, WORD(LogMel, target));
OUTPUTS(penstock_mask_means, WORD(Masks, means));
OUTPUTS(penstock_masks, WORD(Masks, target));
OUTPUTS(penstock_cast, WORD(Cast, target));
