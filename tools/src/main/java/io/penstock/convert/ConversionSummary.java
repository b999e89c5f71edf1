// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import java.nio.file.Path;
import java.util.List;

/**
 * What a conversion wrote.
 *
 * @param format the format's name
 * @param records documents of tokens, rows of a tensor from records, or samples of a WebDataset; the number of tensors
 *     if tensors became tensors
 * @param files the files, including the writer's checksums
 * @param bytes their total size
 * @param lost what the result could not hold, a line each; empty if nothing is lost
 * @param nanos duration
 */
public record ConversionSummary(
        String format, long records, List<Path> files, long bytes, List<String> lost, long nanos) {

    /** Copies both lists, so that the summary is immutable. */
    public ConversionSummary {
        files = List.copyOf(files);
        lost = List.copyOf(lost);
    }

    /** {@return the conversion's throughput in bytes written per second} */
    public double bytesPerSecond() {
        return nanos == 0 ? 0 : bytes * 1e9 / nanos;
    }
}
