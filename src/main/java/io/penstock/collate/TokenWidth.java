// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.memory.DType;
import java.util.Locale;

/** The width of token ids in a batch. */
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

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
