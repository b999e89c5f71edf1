package io.penstock.dataset;

import io.penstock.memory.Tensor;
import java.io.IOException;
import java.util.random.RandomGenerator;

/**
 * What code of a user makes of a field of one sample, in a loader's worker. Called by all workers at the same time: it
 * must keep nothing, or keep it by thread. It is deterministic if all its chances come from the random numbers that it
 * is given.
 */
@FunctionalInterface
public interface SampleMap {

    /**
     * Makes a value.
     *
     * @param in the sample's value: a copy, in native memory, for this call alone; see also {@link #readsInPlace}
     * @param random numbers of the loader's seed, the epoch, the sample's position in the epoch's order, and this step:
     *     the same whatever the workers, ranks, batch size, and wherever a run was resumed, and others where the order
     *     gives the sample again; for this call alone
     * @param out where to, for this call alone: native memory of the batch, with anything in it; all of it is to be
     *     written
     * @throws IOException if the sample is bad: policies on bad samples hold for it, as for one that cannot be decoded
     */
    void map(Tensor in, RandomGenerator random, Tensor out) throws IOException;

    /**
     * Whether {@code in} need not be a copy. It may then be the mapping of a file, which Java code alone may read: a
     * page that has vanished is an error to Java, and the end of the process to native code.
     *
     * @return true if the map reads its input by Java code only
     */
    default boolean readsInPlace() {
        return false;
    }
}
