// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of one field, by replicate: rows and values read, padding, constant rows, non-finite values, extremes,
 * and, depending on the kind, moments of each channel and a histogram.
 *
 * <p>Immutable and thread-safe once it is a snapshot.
 */
public final class FieldProfile {

    private final String name;
    private final DType dtype;
    private final long[] rowShape;
    private final FieldKind kind;

    /** The counts below by their names in files, each by replicate. */
    final Map<String, long[]> tallies = new LinkedHashMap<>();
    final long[] rows = tally("rows");
    final long[] values = tally("values");
    /** For padded fields: elements that are data. */
    final long[] filled = tally("filled");
    /** For padded fields: all elements; otherwise 0. */
    final long[] places = tally("places");
    final long[] constantRows = tally("constant_rows");
    final long[] nonFinite = tally("non_finite");
    /** Null for ids. */
    final @Nullable Moments moments;
    /** Empty for numbers; replicate by replicate, {@link #buckets} each. */
    final long[] counts;
    final int buckets;
    double min = Double.POSITIVE_INFINITY;
    double max = Double.NEGATIVE_INFINITY;

    FieldProfile(String name, DType dtype, long[] rowShape, FieldKind kind, int channels) {
        this.name = name;
        this.dtype = dtype;
        this.rowShape = rowShape;
        this.kind = kind;
        this.buckets = switch (kind) {
            case IDS -> Buckets.IDS;
            case LENGTHS -> Buckets.LENGTHS;
            case NUMBERS -> 0;
        };
        this.counts = new long[DataProfile.REPLICATES * buckets];
        this.moments = kind == FieldKind.IDS ? null : new Moments(channels);
    }

    FieldProfile(TensorSpec field, FieldKind kind, int channels) {
        this(field.name(), field.dtype(), Arrays.copyOfRange(field.shape(), Math.min(1, field.rank()), field.rank()),
                kind, channels);
    }

    private long[] tally(String name) {
        return tallies.computeIfAbsent(name, _ -> new long[DataProfile.REPLICATES]);
    }

    FieldProfile empty() {
        return new FieldProfile(name, dtype, rowShape, kind, channels());
    }

    /** {@return the field's name in the batch} */
    public String name() {
        return name;
    }

    /** {@return the kind of its values} */
    public FieldKind kind() {
        return kind;
    }

    /** {@return the number of channels; 1 if the field has none} */
    public int channels() {
        return moments == null ? 1 : moments.channels;
    }

    /** {@return the number of rows read} */
    public long rows() {
        return sum(rows);
    }

    /** {@return the number of values read in these rows} */
    public long values() {
        return sum(values);
    }

    /** {@return the share of elements that are padding, 0 to 1; {@code NaN} if the field is not padded} */
    public double paddingShare() {
        return 1 - (double) sum(filled) / sum(places);
    }

    /**
     * {@return the share of rows whose sampled values are all equal, such as black images, 0 to 1; {@code NaN} before
     * any row}
     */
    public double constantShare() {
        return (double) sum(constantRows) / sum(rows);
    }

    /** {@return the number of values that are NaN, infinite, or beyond 10^150, which no other figure includes} */
    public long nonFinite() {
        return sum(nonFinite);
    }

    /** {@return the minimum of the values read; infinity before any} */
    public double min() {
        return min;
    }

    /** {@return the maximum of the values read; minus infinity before any} */
    public double max() {
        return max;
    }

    /**
     * {@return the mean of a channel; {@code NaN} before any value, and of ids}
     *
     * @param channel from 0
     */
    public double mean(int channel) {
        return moments == null ? Double.NaN : Ratio.mean(moments, channel).value();
    }

    /**
     * {@return the standard deviation of a channel's values; {@code NaN} before any value, and of ids}
     *
     * @param channel from 0
     */
    public double deviation(int channel) {
        return moments == null ? Double.NaN : Math.sqrt(Ratio.variance(moments, channel).value());
    }

    /** {@return the histogram's counts by bucket, empty for numbers; {@link #bucketName} names the buckets} */
    public long[] histogram() {
        long[] total = new long[buckets];
        for (int i = 0; i < buckets * DataProfile.REPLICATES; i++) {
            total[i % buckets] += counts[i];
        }
        return total;
    }

    /**
     * The values in a bucket of the histogram: ids below 1024 have one bucket each, those above share 1024; lengths
     * below 16 have one each, those above come in steps of at most 12.5 %.
     *
     * @param bucket from 0
     * @return for example {@code id 198} or {@code lengths 320 to 351}
     */
    public String bucketName(int bucket) {
        return Buckets.name(kind, bucket);
    }

    /**
     * {@return the field's dtype, shape without the batch dimension, and kind: {@code u8[224,224,3] as numbers of 3
     * channels}}
     */
    public String shape() {
        return dtype + Arrays.toString(rowShape).replace(" ", "") + " as " + kind.name().toLowerCase(Locale.ROOT)
                + (channels() == 1 ? "" : " of " + channels() + " channels");
    }

    DType dtype() {
        return dtype;
    }

    long[] rowShape() {
        return rowShape;
    }

    void count(int replicate, int bucket) {
        counts[replicate * buckets + bucket]++;
    }

    void add(FieldProfile other) {
        tallies.forEach((key, tally) -> add(tally, Objects.requireNonNull(other.tallies.get(key))));
        if (moments != null) {
            moments.add(Objects.requireNonNull(other.moments));
        }
        add(counts, other.counts);
        min = Math.min(min, other.min);
        max = Math.max(max, other.max);
    }

    void clear() {
        tallies.values().forEach(tally -> Arrays.fill(tally, 0));
        if (moments != null) {
            moments.clear();
        }
        Arrays.fill(counts, 0);
        min = Double.POSITIVE_INFINITY;
        max = Double.NEGATIVE_INFINITY;
    }

    static void add(long[] to, long[] from) {
        for (int i = 0; i < to.length; i++) {
            to[i] += from[i];
        }
    }

    static long sum(long[] replicates) {
        long sum = 0;
        for (long each : replicates) {
            sum += each;
        }
        return sum;
    }
}
