// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.image.reading.FramedFile;
import io.penstock.image.reading.ImageFrame;
import io.penstock.image.reading.Resizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * The kernels that make decoded images the results that their frames describe, and their arguments: {@code struct
 * Framed} of {@code framed.cu}. Pixels are those of {@link Resizer}.
 */
public final class FramedImages {

    /** The place of an image that cannot be decoded; its result is black. */
    static final long DAMAGED = -1;
    /** An image's place in the table: where its pixels are in scratch memory, and its weights. */
    static final int PLACE_BYTES = 2 * Long.BYTES;

    private static final int CHANNELS = 3;

    static final StructLayout LAYOUT = Word.struct("Framed", "rows", "row_bytes", "places", "scratch", "first", "count",
            "height", "width", "target", "decoded");
    static final Word ROWS = Word.of(LAYOUT, "rows");
    static final Word ROW_BYTES = Word.of(LAYOUT, "row_bytes");
    static final Word PLACES = Word.of(LAYOUT, "places");
    static final Word SCRATCH = Word.of(LAYOUT, "scratch");
    static final Word FIRST = Word.of(LAYOUT, "first");
    static final Word COUNT = Word.of(LAYOUT, "count");
    static final Word HEIGHT = Word.of(LAYOUT, "height");
    static final Word WIDTH = Word.of(LAYOUT, "width");
    static final Word TARGET = Word.of(LAYOUT, "target");
    static final Word DECODED = Word.of(LAYOUT, "decoded");

    /** Threads of a GPU share weights; the twin of the other kernel computes them where it needs them. */
    public static final Kernel WEIGH = new Kernel("penstock_framed_weigh", LAYOUT, _ -> { });
    public static final Kernel RESULTS = new Kernel("penstock_framed", LAYOUT, FramedImages::run);

    private static final ThreadLocal<FramedImages> OF_THREAD = ThreadLocal.withInitial(FramedImages::new);

    private final ImageFrame frame = new ImageFrame();
    private final Resizer resizer = new Resizer();

    private FramedImages() {
    }

    /** Enqueues both kernels. */
    static void enqueue(DeviceStream stream, MemorySegment arguments) {
        long results = COUNT.get(arguments);
        stream.launch(WEIGH, Kernel.blocksForItems(results * (HEIGHT.get(arguments) + WIDTH.get(arguments))),
                arguments);
        stream.launch(RESULTS, Kernel.blocksForItems(results * HEIGHT.get(arguments) * WIDTH.get(arguments)),
                arguments);
    }

    private static void run(MemorySegment arguments) {
        FramedImages twin = OF_THREAD.get();
        long first = FIRST.get(arguments);
        for (long image = first; image < first + COUNT.get(arguments); image++) {
            twin.run(arguments, image);
        }
    }

    private void run(MemorySegment arguments, long image) {
        int height = (int) HEIGHT.get(arguments);
        int width = (int) WIDTH.get(arguments);
        long bytes = (long) height * width * CHANNELS;
        long row = ROWS.get(arguments) + image * ROW_BYTES.get(arguments);
        long place = RawMemory.bits(Long.BYTES, PLACES.get(arguments), 2 * image);
        long target = TARGET.get(arguments) + image * bytes;
        RawMemory.setBits(Byte.BYTES, DECODED.get(arguments), image, place == DAMAGED ? 0 : 1);
        if (place == DAMAGED) {
            RawMemory.clear(target, bytes);
        } else if (FramedFile.fileBytes(RawMemory.all(), row) == 0) {
            RawMemory.copy(row + FramedFile.HEADER_BYTES, target, bytes);
        } else {
            FramedFile.read(RawMemory.all(), row, height, width, frame);
            resizer.resize(frame, RawMemory.all(), SCRATCH.get(arguments) + place, CHANNELS, RawMemory.all(), target);
        }
    }
}
