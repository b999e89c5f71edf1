package io.penstock.convert;

import java.nio.file.Path;
import java.util.List;

/**
 * What a conversion wrote.
 *
 * @param format the format
 * @param records documents of tokens, rows of a tensor of records, samples of a WebDataset; tensors, where tensors
 *     became tensors
 * @param files the files, the checksums that the writer put beside them included
 * @param bytes their sizes together
 * @param lost what the source has and the result has not, a line each; empty if nothing is lost
 * @param nanos how long it took
 */
public record ConversionSummary(
        TargetFormat format, long records, List<Path> files, long bytes, List<String> lost, long nanos) {

    /** Copies. */
    public ConversionSummary {
        files = List.copyOf(files);
        lost = List.copyOf(lost);
    }

    /**
     * The rate of the whole conversion.
     *
     * @return bytes written a second
     */
    public double bytesPerSecond() {
        return nanos == 0 ? 0 : bytes * 1e9 / nanos;
    }
}
