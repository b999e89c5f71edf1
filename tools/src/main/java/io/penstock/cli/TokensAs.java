// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.collate.CausalLm;
import io.penstock.collate.PackedLm;
import io.penstock.collate.Pad;
import io.penstock.collate.PadAnswers;
import io.penstock.dataset.AnswerLengths;
import io.penstock.memory.DType;
import java.util.Locale;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** The values of --tokens-as: the dtype of token ids in a batch. */
@NullMarked
enum TokensAs {
    STORE(null), I32(DType.I32), I64(DType.I64);

    private final @Nullable DType dtype;

    TokensAs(@Nullable DType dtype) {
        this.dtype = dtype;
    }

    CausalLm windows() {
        return dtype == null ? CausalLm.narrow() : CausalLm.widened(dtype);
    }

    PackedLm packed() {
        return dtype == null ? PackedLm.narrow() : PackedLm.of(dtype);
    }

    Pad padded() {
        return dtype == null ? Pad.toLongest(0) : Pad.toLongest(dtype, 0);
    }

    /** The stored ids of answers are {@code i32}. */
    PadAnswers answers(AnswerLengths lengths) {
        return PadAnswers.of(dtype == null ? DType.I32 : dtype, 0, lengths);
    }

    /** The same for samples whose lengths are not known before. */
    PadAnswers answers(int most, long longest) {
        return PadAnswers.of(dtype == null ? DType.I32 : dtype, 0, most, Math.toIntExact(longest), 1);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
