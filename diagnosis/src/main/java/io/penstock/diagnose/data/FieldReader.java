// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** Reads one field of batches into its profile: a limited number of values, spread evenly over the rows with weight. */
final class FieldReader {

    /** A larger last dimension does not hold colors. */
    static final int MAX_CHANNELS = 4;
    /** Values beyond count as infinite, because their squares would be. */
    private static final double GREATEST = 1e150;
    private static final int NONE = -1;
    /** Number of values gathered before they are counted. */
    private static final int CHUNK = 512;
    private static final String PIECE_IDS = "document_ids";

    private final int field;
    private final DType dtype;
    private final FieldKind kind;
    private final boolean hasRows;
    private final boolean isStarts;
    private final int channels;
    private final boolean channelsLast;
    /** The field with the number of data elements per row; or {@link #NONE}. */
    private final int lengths;
    /** The field whose zeros mark padding at a row's end; or {@link #NONE}. */
    private final int pieceIds;
    /** The dtype of the field that {@link #lengths} or {@link #pieceIds} is. */
    private final DType placesDtype;
    private final double[] shift = new double[MAX_CHANNELS];
    private final double[] sum = new double[MAX_CHANNELS];
    private final double[] squares = new double[MAX_CHANNELS];
    private final long[] count = new long[MAX_CHANNELS];
    private final double[] numbers;
    private final long[] integers;
    /** The extremes of the current row. */
    private double low;
    private double high;

    FieldReader(SlabLayout layout, int field, FieldKind kind) {
        List<TensorSpec> fields = layout.fields();
        TensorSpec spec = fields.get(field);
        this.field = field;
        this.dtype = spec.dtype();
        this.kind = kind;
        this.numbers = new double[kind == FieldKind.NUMBERS ? CHUNK : 0];
        this.integers = new long[kind == FieldKind.NUMBERS ? 0 : CHUNK];
        this.isStarts = spec.name().equals(FieldKind.STARTS) && kind == FieldKind.LENGTHS;
        this.hasRows = hasRows(layout, field);
        boolean hasPixels = kind == FieldKind.NUMBERS && hasRows && spec.rank() == 4;
        this.channelsLast = hasPixels && spec.dim(3) <= MAX_CHANNELS;
        this.channels = !hasPixels ? 1
                : (int) (channelsLast ? spec.dim(3) : spec.dim(1) <= MAX_CHANNELS ? spec.dim(1) : 1);
        this.lengths = hasRows && spec.rank() > 1 && kind != FieldKind.LENGTHS
                ? ofShape(fields, lengthsOf(fields, field), spec.dim(0)) : NONE;
        this.pieceIds = hasRows && spec.rank() == 2 && kind == FieldKind.IDS
                ? ofShape(fields, indexOf(fields, PIECE_IDS), spec.shape()) : NONE;
        this.placesDtype = lengths != NONE ? fields.get(lengths).dtype()
                : pieceIds != NONE ? fields.get(pieceIds).dtype() : dtype;
    }

    /** Whether the field's first dimension is the samples, like the first field's. */
    private static boolean hasRows(SlabLayout layout, int field) {
        TensorSpec spec = layout.fields().get(field);
        TensorSpec first = layout.fields().getFirst();
        return spec.rank() > 0 && first.rank() > 0 && spec.dim(0) == first.dim(0);
    }

    /** Where padding collators put the lengths: right after the field, or in "lengths" for the first field. */
    private static int lengthsOf(List<TensorSpec> fields, int field) {
        int own = indexOf(fields, fields.get(field).name() + "_lengths");
        return own != NONE || field != 0 ? own : indexOf(fields, "lengths");
    }

    /** The field, if it has integers and that shape: data may have a field of that name for something else. */
    private static int ofShape(List<TensorSpec> fields, int field, long... shape) {
        return field != NONE && fields.get(field).dtype().isInteger()
                && Arrays.equals(fields.get(field).shape(), shape) ? field : NONE;
    }

    private static int indexOf(List<TensorSpec> fields, String name) {
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name)) {
                return f;
            }
        }
        return NONE;
    }

    FieldProfile profile(SlabLayout layout) {
        return new FieldProfile(layout.fields().get(field), kind, channels);
    }

    /** Reads a batch into one replicate of a profile; returns the number of values read. */
    long read(BatchPlan plan, Slab slab, int maxValues, int replicate, FieldProfile into) {
        long bytes = slab.byteSize(field);
        if (bytes == 0) {
            return 0;
        }
        if (isStarts) {
            return readPieces(slab, maxValues, replicate, into);
        }
        long rows = hasRows ? Math.min(plan.valid(), slab.dim(field, 0)) : 1;
        long rowElements = bytes / dtype.byteSize() / (hasRows ? slab.dim(field, 0) : 1);
        long quota = Math.max(1, maxValues / channels / Math.max(1, rows));
        long read = 0;
        for (int row = 0; row < rows; row++) {
            long filled = rowElements;
            if (lengths != NONE || pieceIds != NONE) {
                filled = lengths != NONE
                        ? Math.clamp(Elements.integer(placesDtype, slab.segment(),
                                slab.offset(lengths) + (long) placesDtype.byteSize() * row), 0, slab.dim(field, 1))
                                * (rowElements / slab.dim(field, 1))
                        : filledWithPieces(slab, row, rowElements);
                into.filled[replicate] += filled;
                into.places[replicate] += rowElements;
            }
            long sample = hasRows ? plan.sample(row) : plan.firstPosition();
            read += readRow(slab.segment(), slab.offset(field) + row * rowElements * dtype.byteSize(), rowElements,
                    filled, quota, Buckets.mix(sample + (plan.epoch() << 48)), replicate, into);
        }
        return read;
    }

    /** The number of elements before the first one that belongs to no piece. */
    private long filledWithPieces(Slab slab, int row, long rowElements) {
        int width = placesDtype.byteSize();
        long at = slab.offset(pieceIds) + row * rowElements * width;
        long low = 0;
        long high = rowElements;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (Elements.integer(placesDtype, slab.segment(), at + width * middle) != 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private long readPieces(Slab slab, int maxValues, int replicate, FieldProfile into) {
        long at = slab.offset(field);
        long pieces = Math.min(maxValues, slab.dim(field, 0) - 1);
        clearSums();
        for (long piece = 0; piece < pieces; piece++) {
            long next = at + dtype.byteSize() * (piece + 1);
            addLength(Elements.integer(dtype, slab.segment(), next)
                    - Elements.integer(dtype, slab.segment(), next - dtype.byteSize()), replicate, into);
        }
        return finishRow(pieces, Double.NaN, Double.NaN, replicate, into);
    }

    /** Reads elements at a stride from a start that the sample determines; whole pixels if there are channels. */
    private long readRow(MemorySegment slab, long start, long rowElements, long filled, long quota, long chance,
            int replicate, FieldProfile into) {
        long pixels = filled / channels;
        long step = (pixels + quota - 1) / Math.max(1, quota) | 1;      // odd: out of step with an image's rows
        long first = step == 1 ? 0 : Long.remainderUnsigned(chance, Math.min(step, Math.max(1, pixels)));
        long read = pixels <= first ? 0 : (pixels - first + step - 1) / step;
        int width = dtype.byteSize();
        clearSums();
        low = Double.POSITIVE_INFINITY;
        high = Double.NEGATIVE_INFINITY;
        long strideBytes = step * width * (channelsLast ? channels : 1);
        long channelBytes = width * (channelsLast ? 1 : rowElements / channels);
        for (int channel = 0; channel < channels; channel++) {
            long at = start + first * (channelsLast ? channels : 1) * width + channel * channelBytes;
            for (long done = 0; done < read; done += CHUNK) {
                int count = (int) Math.min(CHUNK, read - done);
                if (kind == FieldKind.NUMBERS) {
                    Elements.numbers(dtype, slab, at + done * strideBytes, strideBytes, numbers, count);
                    addNumbers(channel, count, replicate, into);
                } else {
                    Elements.integers(dtype, slab, at + done * strideBytes, strideBytes, integers, count);
                    addIntegers(count, replicate, into);
                }
            }
        }
        return finishRow(kind == FieldKind.NUMBERS ? valuesAdded() : read, low, high, replicate, into);
    }

    private void addIntegers(int chunk, int replicate, FieldProfile into) {
        if (kind == FieldKind.LENGTHS) {
            for (int i = 0; i < chunk; i++) {
                addLength(integers[i], replicate, into);
            }
            return;
        }
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        long[] counts = into.counts;
        int base = replicate * into.buckets;
        for (int i = 0; i < chunk; i++) {
            long id = integers[i];
            counts[base + Buckets.ofId(id)]++;
            least = Math.min(least, id);
            most = Math.max(most, id);
        }
        low = Math.min(low, least);
        high = Math.max(high, most);
    }

    private void addNumbers(int channel, int chunk, int replicate, FieldProfile into) {
        for (int i = 0; i < chunk; i++) {
            double value = numbers[i];
            if (Math.abs(value) <= GREATEST) {
                addNumber(channel, value);
                low = value < low ? value : low;
                high = value > high ? value : high;
            } else {
                into.nonFinite[replicate]++;
            }
        }
    }

    private void clearSums() {
        for (int channel = 0; channel < channels; channel++) {
            count[channel] = 0;
            sum[channel] = 0;
            squares[channel] = 0;
        }
    }

    private void addNumber(int channel, double value) {
        if (count[channel]++ == 0) {
            shift[channel] = value;
        }
        double difference = value - shift[channel];
        sum[channel] += difference;
        squares[channel] += difference * difference;
    }

    private void addLength(long length, int replicate, FieldProfile into) {
        addNumber(0, length);
        into.count(replicate, Buckets.ofLength(length));
        into.min = Math.min(into.min, length);
        into.max = Math.max(into.max, length);
    }

    private long valuesAdded() {
        long values = 0;
        for (int channel = 0; channel < channels; channel++) {
            values += count[channel];
        }
        return values;
    }

    private long finishRow(long read, double least, double most, int replicate, FieldProfile into) {
        into.rows[replicate]++;
        into.values[replicate] += read;
        if (least == most && read > channels) {
            into.constantRows[replicate]++;
        }
        if (least <= most) {
            into.min = Math.min(into.min, least);
            into.max = Math.max(into.max, most);
        }
        if (into.moments != null) {
            for (int channel = 0; channel < channels; channel++) {
                into.moments.add(replicate, channel, count[channel], shift[channel], sum[channel], squares[channel]);
            }
        }
        return read;
    }
}
