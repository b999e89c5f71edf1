// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.LoaderReport.PartTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The parts of decoding and of sample maps with their times, decoding first. */
record PartShares(List<PartTime> parts) {

    private static double nanos(List<PartTime> parts) {
        return parts.stream().mapToLong(PartTime::nanos).sum();
    }

    /** The step of a map that takes the most time; empty if no map tells its steps. */
    Optional<PartTime> dearest() {
        return parts.stream().filter(part -> part.nanos() > 0 && !part.name().startsWith(PartTime.DECODE))
                .max(Comparator.comparingLong(PartTime::nanos));
    }

    /** The part that takes the most time, where a map tells its steps. */
    Optional<PartTime> dearestWithDecoding() {
        return dearest().isEmpty() ? Optional.empty() : parts.stream().max(Comparator.comparingLong(PartTime::nanos));
    }

    /** Whether pictures are decoded where the JDK decodes JPEG. */
    boolean isDecodedByJdk() {
        return parts.stream().anyMatch(part -> part.nanos() > 0 && part.name().equals(PartTime.DECODE_BY_JDK));
    }

    /** A part's share of the time of all. */
    double share(PartTime part) {
        return part.nanos() / nanos(parts);
    }

    /** The share from the dearest step on: what runs on the device if that one does. */
    double fromDearest() {
        return dearest().map(part -> nanos(parts.subList(parts.indexOf(part), parts.size())) / nanos(parts))
                .orElse(0.0);
    }

    List<Summary.PartRow> rows() {
        return parts.stream().filter(part -> part.nanos() > 0)
                .map(part -> new Summary.PartRow(part.name(), part.nanos() / 1e6, share(part))).toList();
    }
}
