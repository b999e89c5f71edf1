// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.dataset.Dataset;
import io.penstock.io.Span;

/** Where the bytes of a dataset's fields are, without a reader. */
public final class Fields {

    private Fields() {
    }

    /** Points at a value whose bytes lie together. */
    public static void locate(Dataset dataset, long sample, int field, Span into) {
        locatePart(dataset, sample, field, 0, into);
    }

    /** The runs of bytes that a value is made from. */
    public static int parts(Dataset dataset, long sample, int field) {
        return dataset.source(field).bytes().count().applyAsInt(sample);
    }

    /** Points at one of them. */
    public static void locatePart(Dataset dataset, long sample, int field, int part, Span into) {
        dataset.source(field).bytes().place().locate(sample, part, into);
    }
}
