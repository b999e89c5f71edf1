// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;

/** A loader's batches from where it is, as long as a condition holds. */
final class BatchIterator implements Iterator<Batch> {

    private final DeviceLoader loader;
    private final BooleanSupplier hasMore;

    BatchIterator(DeviceLoader loader, BooleanSupplier hasMore) {
        this.loader = loader;
        this.hasMore = hasMore;
    }

    @Override
    public boolean hasNext() {
        return hasMore.getAsBoolean();
    }

    @Override
    public Batch next() {
        if (!hasNext()) {
            throw new NoSuchElementException("no batch is left");
        }
        return loader.next();
    }
}
