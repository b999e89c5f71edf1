package io.penstock.diagnose.data;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Arrays;
import java.util.Locale;

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

    final long[] rows = new long[DataProfile.REPLICATES];
    final long[] values = new long[DataProfile.REPLICATES];
    /** For padded fields: elements that are data. */
    final long[] filled = new long[DataProfile.REPLICATES];
    /** For padded fields: all elements; otherwise 0. */
    final long[] places = new long[DataProfile.REPLICATES];
    final long[] constantRows = new long[DataProfile.REPLICATES];
    final long[] nonFinite = new long[DataProfile.REPLICATES];
    /** Null for ids. */
    final Moments moments;
    /** Null for numbers; replicate by replicate, {@link #buckets} each. */
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
        this.counts = buckets == 0 ? null : new long[DataProfile.REPLICATES * buckets];
        this.moments = kind == FieldKind.IDS ? null : new Moments(channels);
    }

    FieldProfile(TensorSpec field, FieldKind kind, int channels) {
        this(field.name(), field.dtype(), Arrays.copyOfRange(field.shape(), Math.min(1, field.rank()), field.rank()),
                kind, channels);
    }

    FieldProfile empty() {
        return new FieldProfile(name, dtype, rowShape, kind, channels());
    }

    /**
     * The field's name.
     *
     * @return as the batch has it
     */
    public String name() {
        return name;
    }

    /**
     * The kind of its values.
     *
     * @return the kind
     */
    public FieldKind kind() {
        return kind;
    }

    /**
     * The number of channels.
     *
     * @return 1 if the field has no channels
     */
    public int channels() {
        return moments == null ? 1 : moments.channels;
    }

    /**
     * The number of rows read.
     *
     * @return at least 0
     */
    public long rows() {
        return sum(rows);
    }

    /**
     * The number of values read in these rows.
     *
     * @return at least 0
     */
    public long values() {
        return sum(values);
    }

    /**
     * The share of elements that are padding.
     *
     * @return 0 to 1; {@code NaN} if the field is not padded
     */
    public double paddingShare() {
        return 1 - (double) sum(filled) / sum(places);
    }

    /**
     * The share of rows whose sampled values are all equal, such as black images.
     *
     * @return 0 to 1; {@code NaN} before any row
     */
    public double constantShare() {
        return (double) sum(constantRows) / sum(rows);
    }

    /**
     * The number of values that are NaN, infinite, or beyond 10^150.
     *
     * @return at least 0; no other figure includes them
     */
    public long nonFinite() {
        return sum(nonFinite);
    }

    /**
     * The minimum of the values read.
     *
     * @return infinity before any
     */
    public double min() {
        return min;
    }

    /**
     * The maximum of the values read.
     *
     * @return minus infinity before any
     */
    public double max() {
        return max;
    }

    /**
     * The mean of a channel.
     *
     * @param channel from 0
     * @return {@code NaN} before any value, and of ids
     */
    public double mean(int channel) {
        return moments == null ? Double.NaN : Ratio.mean(moments, channel).value();
    }

    /**
     * The standard deviation of a channel's values.
     *
     * @param channel from 0
     * @return {@code NaN} before any value, and of ids
     */
    public double deviation(int channel) {
        return moments == null ? Double.NaN : Math.sqrt(Ratio.variance(moments, channel).value());
    }

    /**
     * The histogram's counts.
     *
     * @return counts by bucket, empty for numbers; {@link #bucketName} names the buckets
     */
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
     * The field's dtype, shape and kind, without the batch dimension.
     *
     * @return for example {@code u8[224,224,3] as numbers of 3 channels}
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
        add(rows, other.rows);
        add(values, other.values);
        add(filled, other.filled);
        add(places, other.places);
        add(constantRows, other.constantRows);
        add(nonFinite, other.nonFinite);
        if (moments != null) {
            moments.add(other.moments);
        }
        if (counts != null) {
            add(counts, other.counts);
        }
        min = Math.min(min, other.min);
        max = Math.max(max, other.max);
    }

    void clear() {
        for (long[] each : new long[][] {rows, values, filled, places, constantRows, nonFinite}) {
            Arrays.fill(each, 0);
        }
        if (moments != null) {
            moments.clear();
        }
        if (counts != null) {
            Arrays.fill(counts, 0);
        }
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
