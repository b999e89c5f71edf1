// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.diagnose.data.DataFinding.Measure;
import java.util.ArrayList;
import java.util.List;

/** Compares the data of two profiles and reports changes that exceed the sampling noise. */
public final class DataDrift {

    /** With fewer replicates that have values, the noise estimate is too poor for a finding. */
    static final int LEAST_REPLICATES = 8;
    private static final int MOVERS = 3;

    private final DriftLimits limits;
    private final List<DataFinding> findings = new ArrayList<>();
    private final long epoch;

    private DataDrift(DriftLimits limits, long epoch) {
        this.limits = limits;
        this.epoch = epoch;
    }

    /**
     * Compares all fields. Finds nothing if one side has too few batches to estimate its noise: fewer than
     * {@value #LEAST_REPLICATES}.
     *
     * @param before the reference
     * @param now the profile to compare with it
     * @param limits what counts as a change
     * @return the findings; empty if nothing changed
     * @throws DataShapeException if the two have different fields; {@link #compareShared} compares the shared ones
     */
    public static List<DataFinding> compare(DataProfile before, DataProfile now, DriftLimits limits) {
        before.checkSameShape(now);
        return compareShared(before, now, limits, -1);
    }

    /**
     * Like {@link #compare}, but for profiles with different fields: compares fields of equal name, kind and channels.
     *
     * @param before the reference
     * @param now the profile to compare with it
     * @param limits what counts as a change
     * @return the findings; empty if no shared field changed
     */
    public static List<DataFinding> compareShared(DataProfile before, DataProfile now, DriftLimits limits) {
        return compareShared(before, now, limits, -1);
    }

    static List<DataFinding> compareShared(DataProfile before, DataProfile now, DriftLimits limits, long epoch) {
        DataDrift drift = new DataDrift(limits, epoch);
        drift.share("", Measure.BAD_SAMPLES, before.replaced, before.samples, now.replaced, now.samples,
                limits.badShare());
        for (FieldProfile field : now.fields()) {
            before.fields().stream().filter(other -> other.name().equals(field.name())
                    && other.kind() == field.kind() && other.channels() == field.channels())
                    .findFirst().ifPresent(other -> drift.field(other, field));
        }
        return List.copyOf(drift.findings);
    }

    private void field(FieldProfile before, FieldProfile now) {
        if (before.nonFinite() == 0 && now.nonFinite() > 0) {
            add(now.name(), -1, Measure.NON_FINITE, 0,
                    (double) now.nonFinite() / (now.values() + now.nonFinite()), Double.POSITIVE_INFINITY, "");
        } else {
            share(now.name(), Measure.NON_FINITE, before.nonFinite, read(before), now.nonFinite, read(now),
                    limits.badShare());
        }
        share(now.name(), Measure.CONSTANT_ROWS, before.constantRows, before.rows, now.constantRows, now.rows,
                limits.share());
        share(now.name(), Measure.PADDING, empty(before), before.places, empty(now), now.places, limits.share());
        if (before.moments != null && now.moments != null) {
            for (int channel = 0; channel < now.channels(); channel++) {
                moments(before, before.moments, now, now.moments, channel);
            }
        }
        if (now.buckets > 0) {
            distribution(before, now);
        }
    }

    /** All values, with those that are not finite, which {@link FieldProfile#values} leaves out. */
    private static long[] read(FieldProfile field) {
        long[] read = field.values.clone();
        FieldProfile.add(read, field.nonFinite);
        return read;
    }

    private static long[] empty(FieldProfile field) {
        long[] empty = new long[field.places.length];
        for (int r = 0; r < empty.length; r++) {
            empty[r] = field.places[r] - field.filled[r];
        }
        return empty;
    }

    private void share(String field, Measure measure, long[] before, long[] ofBefore, long[] now, long[] ofNow,
            double least) {
        Ratio was = Ratio.of(before, ofBefore);
        Ratio is = Ratio.of(now, ofNow);
        if (isKnown(was, is) && Math.abs(is.value() - was.value()) >= least) {
            addIfFarOut(field, -1, measure, was, is);
        }
    }

    private void moments(FieldProfile before, Moments was, FieldProfile now, Moments is, int channel) {
        Ratio wasMean = Ratio.mean(was, channel);
        Ratio isMean = Ratio.mean(is, channel);
        if (!isKnown(wasMean, isMean)) {
            return;
        }
        int named = now.channels() == 1 ? -1 : channel;
        double deviation = before.deviation(channel);
        if (Math.abs(isMean.value() - wasMean.value()) >= limits.meanDeviations() * deviation) {
            addIfFarOut(now.name(), named, Measure.MEAN, wasMean, isMean);
        }
        Ratio wasVariance = Ratio.variance(was, channel);
        Ratio isVariance = Ratio.variance(is, channel);
        if (Math.abs(now.deviation(channel) - deviation) >= limits.deviationRatio() * deviation) {
            double sigmas = Math.abs(isVariance.zFrom(wasVariance));
            if (sigmas >= limits.sigmas()) {
                add(now.name(), named, Measure.DEVIATION, deviation, now.deviation(channel), sigmas, "");
            }
        }
    }

    private void distribution(FieldProfile before, FieldProfile now) {
        if (replicates(before) < LEAST_REPLICATES || replicates(now) < LEAST_REPLICATES) {
            return;
        }
        Divergence divergence = Divergence.of(before, now);
        if (divergence.sigmas() >= limits.sigmas()
                && divergence.bits() - divergence.noiseBits() >= limits.divergenceBits()) {
            add(now.name(), -1, Measure.DISTRIBUTION, divergence.noiseBits(), divergence.bits(), divergence.sigmas(),
                    Divergence.movers(before, now, MOVERS));
        }
    }

    private static int replicates(FieldProfile field) {
        return Ratio.of(field.values, field.values).replicates();
    }

    private static boolean isKnown(Ratio before, Ratio now) {
        return before.replicates() >= LEAST_REPLICATES && now.replicates() >= LEAST_REPLICATES;
    }

    private void addIfFarOut(String field, int channel, Measure measure, Ratio before, Ratio now) {
        double sigmas = Math.abs(now.zFrom(before));
        if (sigmas >= limits.sigmas()) {
            add(field, channel, measure, before.value(), now.value(), sigmas, "");
        }
    }

    private void add(String field, int channel, Measure measure, double before, double now, double sigmas,
            String detail) {
        findings.add(new DataFinding(field, channel, measure, before, now, sigmas, epoch, detail));
    }
}
