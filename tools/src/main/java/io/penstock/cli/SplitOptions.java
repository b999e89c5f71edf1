// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.Split;
import io.penstock.json.Json;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The part of a store's samples that is used: the one to train on, or the one to validate with. */
final class SplitOptions {

    @Option(names = "--split", paramLabel = "SHARE",
            description = "Use only SHARE of the samples, such as 0.9, by a hash of each one's key, file name or index."
                    + " A sample stays in its part when data are added.")
    private @Nullable Double share;

    @Option(names = "--validation", description = "With --split: use the other samples.")
    private boolean validation;

    @Option(names = "--split-by", paramLabel = "FIELD",
            description = "With --split: keep samples with the same value of FIELD in the same part.")
    private @Nullable String field;

    @Option(names = "--split-seed", paramLabel = "NUMBER",
            description = "Seed of --split, whatever --seed is; default: 0.")
    private @Nullable Long seed;

    boolean isGiven() {
        if (share == null && (validation || field != null || seed != null)) {
            throw new UsageException((validation ? "--validation" : field != null ? "--split-by" : "--split-seed")
                    + ": found without --split, which it needs");
        }
        return share != null;
    }

    /** The chosen part of a dataset, or all of it without the option. */
    Dataset of(Dataset all) {
        Double part = share;
        if (!isGiven() || part == null) {
            return all;
        }
        long number = seed == null ? 0 : seed;
        String by = field;
        Split split = UsageException.valid("--split: ",
                () -> by == null ? all.split(part, number) : all.split(part, number, by));
        return validation ? split.validation() : split.train();
    }

    /** Adds what was chosen to what JSON writers say of samples. */
    void describe(Map<String, @Nullable Object> cut) {
        if (share != null) {
            cut.put("split", Json.members("share", share, "by", field, "seed", seed == null ? 0 : seed,
                    "part", validation ? "validation" : "train"));
        }
    }

    /** The same for people, as what follows the samples. */
    String text() {
        return share == null ? "" : validation ? ", to validate with" : ", to train on";
    }
}
