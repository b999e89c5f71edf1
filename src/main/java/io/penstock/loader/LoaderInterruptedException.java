// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.error.PenstockException;

/**
 * The trainer's thread was interrupted while it waited for a batch. The interrupt status is set. No batch is lost: the
 * next call of {@link DataLoader#next()} waits for the same one.
 */
public final class LoaderInterruptedException extends PenstockException {

    private static final long serialVersionUID = 1;

    LoaderInterruptedException(long batch) {
        super("interrupted while waiting for batch " + batch, null);
    }
}
