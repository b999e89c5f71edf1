// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.memory.DType;
import java.util.Locale;
import java.util.Set;

/** The widths of token ids in a batch, as tests go through them. */
public enum TokenWidth {
    /** The store's own width: the fewest bytes to copy. A GPU widens them faster than a bus transfers them. */
    STORE,
    /** Widened to {@code i32} on the host. */
    I32,
    /** Widened to {@code i64} on the host, as PyTorch's embedding and loss expect. */
    I64;

    /**
     * {@return the width with the given {@link #toString} name}
     *
     * @param id {@code store}, {@code i32} or {@code i64}
     * @throws IllegalArgumentException if no width has that name
     */
    public static TokenWidth of(String id) {
        for (TokenWidth width : values()) {
            if (width.toString().equals(id)) {
                return width;
            }
        }
        throw new IllegalArgumentException("unknown token width '" + id + "', expected store, i32 or i64");
    }

    /**
     * The dtype of a batch's token ids.
     *
     * @param stored the store's dtype
     * @return the store's dtype, or the one this width widens to
     * @throws IllegalArgumentException if the store's ids are not integers, or are wider than this
     */
    public DType dtype(DType stored) {
        DType wanted = switch (this) {
            case STORE -> stored;
            case I32 -> DType.I32;
            case I64 -> DType.I64;
        };
        if (!stored.isInteger() || stored.byteSize() > wanted.byteSize()) {
            throw new IllegalArgumentException("tokens stored as " + stored + " cannot be converted to " + wanted);
        }
        return wanted;
    }

    /** {@return a collator of token windows} */
    public CausalLm windows() {
        return this == STORE ? CausalLm.narrow() : CausalLm.widened(DType.of(toString()));
    }

    /** {@return a collator of packed sequences with the fields that most take} */
    public PackedLm packed() {
        return this == STORE ? PackedLm.narrow() : PackedLm.of(DType.of(toString()));
    }

    /**
     * {@return a collator of packed sequences}
     *
     * @param fields its fields
     */
    public PackedLm packed(Set<PackedLm.Field> fields) {
        return this == STORE ? PackedLm.narrow(fields) : PackedLm.of(DType.of(toString()), fields);
    }

    /**
     * {@return a collator of documents}
     *
     * @param padValue the value after a row's tokens
     */
    public Pad padded(long padValue) {
        return this == STORE ? Pad.toLongest(padValue) : Pad.toLongest(DType.of(toString()), padValue);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
