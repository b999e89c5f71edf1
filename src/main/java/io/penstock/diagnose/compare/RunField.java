// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.compare;

import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.compare.Comparison.Difference;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One condition of a run. */
record RunField(String name, Function<Fingerprint, @Nullable Object> value) {

    /** Runs that differ in one of these are not comparable. */
    static final List<RunField> GROUND = List.of(
            new RunField("dataset", Fingerprint::dataset),
            new RunField("batch size", Fingerprint::batchSize),
            new RunField("world size", Fingerprint::worldSize),
            new RunField("page cache", Fingerprint::cacheState),
            new RunField("operating system", Fingerprint::os),
            new RunField("cores", Fingerprint::cores),
            new RunField("device", Fingerprint::gpu));

    /** Settings that are changed to see the effect. */
    static final List<RunField> SETTINGS = List.of(
            new RunField("penstock", Fingerprint::penstock),
            new RunField("JDK", Fingerprint::jdk),
            new RunField("driver", Fingerprint::driver),
            new RunField("workers", Fingerprint::workers),
            new RunField("host slots", Fingerprint::hostSlots),
            new RunField("device slots", Fingerprint::deviceSlots),
            new RunField("read mode", Fingerprint::readMode));

    static List<Difference> differences(List<RunField> fields, Fingerprint before, Fingerprint after) {
        return fields.stream()
                .filter(field -> !Objects.equals(field.value.apply(before), field.value.apply(after)))
                .map(field -> new Difference(field.name, String.valueOf(field.value.apply(before)),
                        String.valueOf(field.value.apply(after))))
                .toList();
    }
}
