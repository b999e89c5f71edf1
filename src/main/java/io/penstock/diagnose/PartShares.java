// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.LoaderReport.PartTime;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Where the time of decoding and of sample maps goes.
 *
 * @param parts in the order of the work; those of maps follow decoding
 */
record PartShares(List<PartTime> parts) {

    private static final String DECODE = "decode";

    private List<PartTime> steps() {
        return parts.stream().filter(part -> !part.name().startsWith(DECODE)).toList();
    }

    /** The time of all parts. */
    private static double nanos(List<PartTime> parts) {
        return parts.stream().mapToLong(PartTime::nanos).sum();
    }

    /** The step of a map that takes the most time; empty if no map tells its steps. */
    Optional<PartTime> dearest() {
        return steps().stream().filter(part -> part.nanos() > 0).max(Comparator.comparingLong(PartTime::nanos));
    }

    /** A step's share of all maps' time. */
    double shareOfMaps(PartTime part) {
        return part.nanos() / nanos(steps());
    }

    /** The share of all maps' time from the dearest step on: what runs on the device if that one does. */
    double fromDearest() {
        List<PartTime> steps = steps();
        return dearest().map(part -> nanos(steps.subList(steps.indexOf(part), steps.size())) / nanos(steps)).orElse(0.0);
    }

    /** The rows of a report. */
    List<Summary.PartRow> rows() {
        double all = nanos(parts);
        return parts.stream().filter(part -> part.nanos() > 0)
                .map(part -> new Summary.PartRow(part.name(), part.nanos() / 1e6, part.nanos() / all)).toList();
    }
}
