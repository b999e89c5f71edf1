// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.codec.DecodeLimit;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Limits on the decoded size of compressed files. */
final class DecodeOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--max-decoded", paramLabel = "SIZE", converter = AmountText.Bytes.class,
            description = "Largest decoded size of a compressed file, for example 500G; default: 16T.")
    private Long maxDecoded;

    @Option(names = "--max-ratio", paramLabel = "N",
            description = "Largest ratio of decoded to compressed size, enforced beyond 1G (text: 64M); default:"
                + " 1100.")
    private Long maxRatio;

    /** The limit that the options set, or else the default. */
    DecodeLimit limit(DecodeLimit usual) {
        if (maxRatio != null && maxRatio < 1) {
            throw new ParameterException(spec.commandLine(), "--max-ratio: found " + maxRatio
                    + ", expected at least 1");
        }
        DecodeLimit limit = maxDecoded == null ? usual : usual.withMaxBytes(maxDecoded);
        return maxRatio == null ? limit : limit.withMaxRatio(maxRatio);
    }
}
