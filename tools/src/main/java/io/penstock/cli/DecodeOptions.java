// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.DecodeLimit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Limits on the decoded size of compressed files. */
final class DecodeOptions {

    @Option(names = "--max-decoded", paramLabel = "SIZE", converter = AmountText.Bytes.class,
            description = "Largest decoded size of a compressed file, for example 500G; default: 16T.")
    private @Nullable Long maxDecoded;

    @Option(names = "--max-ratio", paramLabel = "N",
            description = "Largest ratio of decoded to compressed size, enforced beyond 1G (text: 64M); default:"
                + " 1100.")
    private @Nullable Long maxRatio;

    @Option(names = "--max-window", paramLabel = "SIZE", converter = AmountText.Bytes.class,
            description = "Largest window of zstd data, which takes as much memory: up to 2G, for files of zstd"
                    + " --long=31; default: 128M.")
    private @Nullable Long maxWindow;

    /** The limit that the options set, or else the default. */
    DecodeLimit limit(DecodeLimit usual) {
        DecodeLimit limit = maxDecoded == null ? usual : usual.withMaxBytes(maxDecoded);
        if (maxWindow != null) {
            UsageException.requireAtLeast(1, "--max-window", maxWindow);
            limit = limit.withMaxWindowBytes(maxWindow);
        }
        if (maxRatio == null) {
            return limit;
        }
        UsageException.requireAtLeast(1, "--max-ratio", maxRatio);
        return limit.withMaxRatio(maxRatio);
    }
}
