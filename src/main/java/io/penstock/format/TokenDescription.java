// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.internal.Sha256;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.StoredArray;
import io.penstock.store.TokenStore;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.List;

/** Describes tokens that are not one run, in the order of their positions. */
public final class TokenDescription {

    public static final String NAME = "tokens";

    /** Describes the tokens of a store, document by document. */
    public static Inspection.Array of(TokenStore store, Inspection.Depth depth, Progress progress) {
        MessageDigest sha256 = Sha256.digest();
        boolean digest = depth.digests();
        DType dtype = store.dtype();
        long max = Long.MIN_VALUE;
        Span span = new Span();
        long bytes = store.tokenCount() * dtype.byteSize();
        boolean isInteger = dtype.isInteger() && store.tokenCount() > 0;
        long done = 0;
        for (long document = 0; digest && document < store.documentCount(); document++) {
            long start = store.documentStart(document);
            long tokens = store.documentStart(document + 1) - start;
            int parts = store.parts(start, tokens);
            for (int part = 0; part < parts; part++) {
                store.locatePart(start, tokens, part, span);
                MemorySegment piece = span.slice();
                Tensor values = Tensor.of(piece, dtype, piece.byteSize() / dtype.byteSize());
                for (long i = 0; isInteger && i < values.elementCount(); i++) {
                    max = Math.max(max, values.getLong(i));
                }
                Sha256.update(sha256, piece);
                done += piece.byteSize();
            }
            progress.update(done, bytes);
        }
        return new Inspection.Array(NAME, dtype, StoredArray.storedDtypeOf(dtype), List.of(store.tokenCount()), null,
                bytes, digest ? Sha256.hex(sha256) : null, digest && isInteger ? max : null);
    }
}
