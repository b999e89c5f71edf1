// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import static io.penstock.memory.LittleEndian.F32;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.image.Target;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.ImageFormat;
import io.penstock.image.reading.ImageFrame;
import io.penstock.image.reading.ImageHeader;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.PixelLayout;
import io.penstock.internal.Scratch;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Moves one target after the other, for one thread. */
public final class TargetWorker implements SampleMap.Mapper {

    private static final int CORNERS = 4;
    /** The numbers per box in the working array: two corners, and the share of the box that was not cut off. */
    private static final int BOX = 5;
    /** The numbers per point in the working array: x, y, and 1 while the point is visible. */
    private static final int POINT = 3;

    private final TargetMap map;
    private final Canvas canvas = new Canvas();
    private final Placement placement = new Placement();
    private final double[] values = new double[Step.MAX_PARAMETERS];
    /** The boxes or points, one after another. */
    private double[] items = {};
    /** Reads the sizes of images; null if they are known. */
    private final @Nullable FrameDecoder images;
    /** Null for all but masks that are files. */
    private final @Nullable ImageReader masks;
    private final Scratch mask = new Scratch();
    private int height;
    private int width;

    TargetWorker(TargetMap map) {
        this.map = map;
        Size image = map.image();
        images = image == null ? new FrameDecoder(map.decoding()) : null;
        height = image == null ? 0 : image.height();
        width = image == null ? 0 : image.width();
        masks = map.readsInPlace() ? null : new ImageReader();
    }

    @Override
    public void beside(MemorySegment file, long offset, long bytes) {
        if (images != null) {
            ImageFrame image = images.read(offset == 0 ? file : file.asSlice(offset, bytes), bytes);
            height = image.height();
            width = image.width();
        }
    }

    @Override
    public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random, MemorySegment out,
            long outOffset, long outBytes, PartClock clock) {
        if (height == 0) {
            throw new IllegalStateException("found no image beside '" + map.target().field() + "'");
        }
        switch (map.target()) {
            case Target.Mask target -> {
                load(in, inOffset, inBytes, target.outside());
                moveMask(random);
                canvas.store(out, outOffset);
            }
            case Target.Boxes target -> {
                int count = load(in, inOffset, inBytes, BOX, target.coordinates());
                move(random, count, BOX);
                for (int i = 0; i < count; i++) {
                    double area = area(items, BOX * i);
                    boolean isValid = area > 0 && area >= target.minimumArea()
                            && items[BOX * i + BOX - 1] >= target.minimumVisible();
                    store(i, BOX, isValid, isValid, target.coordinates(), out, outOffset);
                }
            }
            case Target.Keypoints target -> {
                int count = load(in, inOffset, inBytes, POINT, target.coordinates());
                move(random, count, POINT);
                for (int i = 0; i < count; i++) {
                    boolean isVisible = items[POINT * i + POINT - 1] > 0
                            && isInside(POINT * i, map.result().height(), map.result().width());
                    store(i, POINT, true, isVisible, target.coordinates(), out, outOffset);
                }
            }
        }
    }

    private void load(MemorySegment in, long offset, long bytes, int outside) {
        if (masks == null) {
            canvas.loadMask(in, offset, height, width, map.maskChannels(), outside);
            return;
        }
        ImageHeader header = masks.read(offset == 0 ? in : in.asSlice(offset, bytes), bytes);
        boolean hasClasses = header.layout() == PixelLayout.GRAY || header.layout() == PixelLayout.PALETTE;
        if (header.format() != ImageFormat.PNG || !hasClasses || header.bits() > 8) {
            throw new CodecException("a mask of " + header, "a PNG of gray or palette indices of at most 8 bits");
        }
        if (header.height() != height || header.width() != width) {
            throw new CodecException("a mask of " + header.height() + " x " + header.width(),
                    height + " x " + width + " as the image");
        }
        MemorySegment pixels = mask.of(header.storedByteSize());
        masks.decodeStored(pixels, 0);
        canvas.loadMask(pixels, 0, height, width, 1, outside);
    }

    private void moveMask(RandomGenerator random) {
        List<NamedStep> steps = map.steps();
        for (int s = 0; s < steps.size(); s++) {
            int fromHeight = canvas.height();
            int fromWidth = canvas.width();
            try {
                steps.get(s).draw(random, fromHeight, fromWidth, values);
                steps.get(s).step().apply(values, 0, canvas);
            } catch (IllegalArgumentException | ArithmeticException e) {
                throw unfit(s, fromHeight, fromWidth, e);
            }
        }
    }

    /** Moves boxes or points of {@code numbers} numbers each. */
    private void move(RandomGenerator random, int count, int numbers) {
        List<NamedStep> steps = map.steps();
        placement.begin(height, width);
        for (int s = 0; s < steps.size(); s++) {
            int fromHeight = placement.height();
            int fromWidth = placement.width();
            try {
                steps.get(s).draw(random, fromHeight, fromWidth, values);
                placement.begin(fromHeight, fromWidth);
                steps.get(s).step().place(values, 0, placement);
            } catch (IllegalArgumentException | ArithmeticException e) {
                throw unfit(s, fromHeight, fromWidth, e);
            }
            for (int i = 0; i < count; i++) {
                if (numbers == BOX) {
                    moveBox(items, BOX * i, placement);
                } else {
                    movePoint(POINT * i);
                }
            }
        }
    }

    /** An image that is too small for a step is a bad sample if it is a file. */
    private RuntimeException unfit(int step, int fromHeight, int fromWidth, RuntimeException e) {
        if (images != null) {
            AugmentWorker.checkSize(map.steps().get(step).step(), fromHeight, fromWidth,
                    map.decoding().format().channels());
        }
        return e;
    }

    /** Encloses the moved corners of a box, and cuts the result at the image's edges. */
    public static void moveBox(double[] boxes, int at, Placement placement) {
        double left = Double.POSITIVE_INFINITY;
        double top = Double.POSITIVE_INFINITY;
        double right = Double.NEGATIVE_INFINITY;
        double bottom = Double.NEGATIVE_INFINITY;
        for (int corner = 0; corner < CORNERS; corner++) {
            placement.move(boxes[at + 2 * (corner & 1)], boxes[at + 1 + (corner & 2)]);
            left = Math.min(left, placement.x());
            right = Math.max(right, placement.x());
            top = Math.min(top, placement.y());
            bottom = Math.max(bottom, placement.y());
        }
        double whole = (right - left) * (bottom - top);
        boxes[at] = Math.clamp(left, 0.0, placement.width());
        boxes[at + 1] = Math.clamp(top, 0.0, placement.height());
        boxes[at + 2] = Math.clamp(right, 0.0, placement.width());
        boxes[at + 3] = Math.clamp(bottom, 0.0, placement.height());
        boxes[at + 4] *= whole > 0 ? area(boxes, at) / whole : 0;
    }

    private static double area(double[] boxes, int at) {
        return (boxes[at + 2] - boxes[at]) * (boxes[at + 3] - boxes[at + 1]);
    }

    private void movePoint(int at) {
        placement.move(items[at], items[at + 1]);
        items[at] = placement.x();
        items[at + 1] = placement.y();
        if (!isInside(at, placement.height(), placement.width())) {
            items[at + 2] = 0;
        }
    }

    private boolean isInside(int at, int imageHeight, int imageWidth) {
        return items[at] >= 0 && items[at] < imageWidth && items[at + 1] >= 0 && items[at + 1] < imageHeight;
    }

    /** Loads items of {@code numbers} numbers each; returns how many there are. */
    private int load(MemorySegment in, long offset, long bytes, int numbers, Target.Coordinates meaning) {
        int coordinates = numbers - 1;
        int count = Math.toIntExact(bytes / ((long) coordinates * Float.BYTES));
        if (items.length < count * numbers) {
            items = new double[count * numbers];
        }
        double shift = shift(meaning);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < coordinates; k++) {
                items[i * numbers + k] = in.get(F32, offset + ((long) i * coordinates + k) * Float.BYTES) + shift;
            }
            items[i * numbers + coordinates] = 1;
        }
        return count;
    }

    /** Writes an item's coordinates, or zeros if it is dropped; or its flag. */
    private void store(int i, int numbers, boolean isKept, boolean flag, Target.Coordinates meaning,
            MemorySegment out, long offset) {
        if (map.output() == TargetMap.Output.FLAGS) {
            out.set(JAVA_BYTE, offset + i, (byte) (flag ? 1 : 0));
            return;
        }
        double shift = shift(meaning);
        for (int k = 0; k < numbers - 1; k++) {
            out.set(F32, offset + ((long) i * (numbers - 1) + k) * Float.BYTES,
                    isKept ? (float) (items[i * numbers + k] - shift) : 0);
        }
    }

    private static double shift(Target.Coordinates meaning) {
        return meaning == Target.Coordinates.AREA ? 0 : 0.5;
    }

    @Override
    public void close() {
        if (images != null) {
            images.close();
        }
        if (masks != null) {
            masks.close();
        }
        mask.close();
    }
}
