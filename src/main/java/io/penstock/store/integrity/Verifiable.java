package io.penstock.store.integrity;

import io.penstock.store.Progress;
import java.io.IOException;
import java.util.function.Consumer;

/** A store whose format has checksums of its own. */
public interface Verifiable {

    /**
     * What the format calls its checksums, for reports.
     *
     * @return for example {@code index hashes}; null if this store was written without them
     */
    String checksum();

    /**
     * Reads everything that the format's checksums cover, and tells what does not agree with them.
     *
     * @param faults told each fault; its check is {@link #checksum}
     * @param progress told how much is read
     * @throws IOException if a file cannot be read
     */
    void verify(Consumer<Fault> faults, Progress progress) throws IOException;
}
