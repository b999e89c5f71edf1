package io.penstock.tune;

import io.penstock.loader.DataLoaderBuilder;
import java.io.IOException;

/** Opens what is to be tuned, anew for each round. */
@FunctionalInterface
public interface LoaderSource {

    /**
     * Opens dataset and store, or lends ones that are open.
     *
     * @return a builder with all that is not searched: dataset, order, batch size, collator, device
     * @throws IOException if the store cannot be opened
     */
    Opened open() throws IOException;

    /**
     * A builder, and the store behind it.
     *
     * @param builder what the loader is opened by
     * @param closer closes the store behind the loader; does nothing where that stays open
     */
    record Opened(DataLoaderBuilder builder, Runnable closer) implements AutoCloseable {
        @Override
        public void close() {
            closer.run();
        }
    }
}
