// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import java.util.Set;

/**
 * How a framework gets and reads batches: what the contracts need to know of a bridge. Its methods use the bridge as
 * its users do.
 */
public interface Bridge {

    /**
     * Takes the loader's next batch.
     *
     * @param loader a loader on the host
     * @return the batch in the framework's terms
     */
    Taken take(DataLoader loader);

    /** {@return the dtypes that the framework gets bit for bit} */
    Set<DType> exact();

    /** {@return the dtypes that the bridge refuses, with a message that names the field} */
    default Set<DType> refused() {
        return Set.of();
    }

    /**
     * Asks for what the bridge refuses.
     *
     * @param loader a loader whose batches have the field {@code x} of a dtype of {@link #refused}
     */
    default void takeRefused(DataLoader loader) {
        take(loader).close();
    }

    /** A batch as the framework has it. */
    interface Taken extends AutoCloseable {

        /**
         * {@return the sizes that the framework reports, outermost first}
         *
         * @param field a field's name
         */
        long[] shape(String field);

        /**
         * {@return the field's memory as the framework reads it, in row-major order; for dtypes of
         * {@link Bridge#exact}}
         *
         * @param field a field's name
         */
        byte[] bytes(String field);

        /**
         * {@return the field's elements as the framework reads them; for dtypes that are neither exact nor refused}
         *
         * @param field a field's name
         */
        double[] values(String field);

        /** Closes the batch, as the bridge's users do. Calling it again does nothing. */
        @Override
        void close();
    }

    /** A batch whose tensors are aliases of the loader's slot. */
    interface Alias extends Taken {

        /**
         * {@return the address of the first element, as the framework reports it}
         *
         * @param field a field's name
         */
        long address(String field);

        /**
         * Makes a view by the framework's means, such as a slice, that keeps no more of the batch than the framework
         * makes it keep.
         *
         * @param field a field's name
         * @return reads the view's first element
         */
        Runnable view(String field);
    }
}
