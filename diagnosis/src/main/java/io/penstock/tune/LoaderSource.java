// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.loader.DataLoaderBuilder;
import java.io.IOException;

/** Opens what is tuned, again for each round. */
@FunctionalInterface
public interface LoaderSource {

    /**
     * Opens dataset and store, or lends open ones.
     *
     * @return a builder with everything that is not searched: dataset, order, batch size, collator, device
     * @throws IOException if the store cannot be opened
     */
    Opened open() throws IOException;

    /**
     * A builder and its store.
     *
     * @param builder opens the loader
     * @param closer closes the store after the loader; does nothing if the store stays open
     */
    record Opened(DataLoaderBuilder builder, Runnable closer) implements AutoCloseable {
        @Override
        public void close() {
            closer.run();
        }
    }
}
