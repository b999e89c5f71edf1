// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The leading fields of the arguments of kernels that read token rows: {@code struct Rows} of {@code tokens.cu}. */
final class TokenRows {
    private static final StructLayout LAYOUT = Word.struct("Rows",
            "tokens", "token_type", "batch", "length", "stride", "separator", "separator_mode");
    static final Word TOKENS = Word.of(LAYOUT, "tokens");
    static final Word TOKEN_TYPE = Word.of(LAYOUT, "token_type");
    static final Word BATCH = Word.of(LAYOUT, "batch");
    static final Word LENGTH = Word.of(LAYOUT, "length");
    static final Word STRIDE = Word.of(LAYOUT, "stride");
    static final Word SEPARATOR = Word.of(LAYOUT, "separator");
    static final Word SEPARATOR_MODE = Word.of(LAYOUT, "separator_mode");

    static final int NONE = 0;
    private static final int END = 1;
    private static final int START = 2;

    /** A struct that starts with the rows, followed by other words. */
    static StructLayout struct(String name, String... words) {
        return MemoryLayout.structLayout(Stream.concat(
                Stream.of(LAYOUT.withName("rows")), Stream.of(Word.layouts(words))).toArray(MemoryLayout[]::new))
                .withName(name);
    }

    /** Sets what is the same for all batches. */
    static void describe(MemorySegment arguments, DType tokenType, long length, long stride,
            @Nullable DocumentSeparator separator) {
        TOKEN_TYPE.set(arguments, Arguments.integer("tokens", tokenType));
        LENGTH.set(arguments, Arguments.atLeast(1, "length", length));
        STRIDE.set(arguments, stride);
        if (separator == null) {
            SEPARATOR_MODE.set(arguments, NONE);
        } else {
            SEPARATOR.set(arguments, separator.token());
            SEPARATOR_MODE.set(arguments, separator.side() == DocumentSeparator.Side.END ? END : START);
        }
    }

    static void setBatch(MemorySegment arguments, long tokens, long batch) {
        TOKENS.set(arguments, Arguments.address("tokens", tokens, TOKEN_TYPE.dtype(arguments).byteSize()));
        BATCH.set(arguments, batch);
    }

    /** The address of a row's first token. */
    static long row(MemorySegment arguments, long row) {
        return TOKENS.get(arguments) + row * STRIDE.get(arguments) * TOKEN_TYPE.dtype(arguments).byteSize();
    }

    /** Whether a document starts at a token, other than because the token is the row's first. */
    static boolean begins(DType type, long rowAddress, long mode, long separator, long t) {
        return mode != NONE && t != 0 && RawMemory.integer(type, rowAddress, mode == END ? t - 1 : t) == separator;
    }
}
