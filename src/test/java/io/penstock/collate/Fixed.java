// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.List;

/** A dataset that has a field {@code tokens} of one shape and no samples: enough for a layout. */
record Fixed(DType dtype, long... shape) implements Dataset {

    @Override
    public long size() {
        return 0;
    }

    @Override
    public List<TensorSpec> fields() {
        return List.of(new TensorSpec("tokens", dtype, shape));
    }

    @Override
    public FieldSource source(int field) {
        return FieldSource.stored((_, _) -> {
            throw new IndexOutOfBoundsException("it has no samples");
        });
    }

    @Override
    public String fingerprint() {
        return "fixed";
    }
}
