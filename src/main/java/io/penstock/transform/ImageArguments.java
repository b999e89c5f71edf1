// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.internal.Word;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;

/** The image kernel's arguments: {@code struct Images} of {@code images.cu}. */
final class ImageArguments {
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT;

    static final StructLayout LAYOUT = MemoryLayout.structLayout(Stream.concat(
            Stream.of(Word.layouts("source", "batch", "channels", "height", "width", "source_channels_last",
                    "target", "target_type", "target_channels_last")),
            Stream.of(MemoryLayout.sequenceLayout(ImageTransform.MAX_CHANNELS, F32).withName("mean"),
                    MemoryLayout.sequenceLayout(ImageTransform.MAX_CHANNELS, F32).withName("deviation")))
            .toArray(MemoryLayout[]::new)).withName("Images");

    static final Word SOURCE = Word.of(LAYOUT, "source");
    static final Word BATCH = Word.of(LAYOUT, "batch");
    static final Word CHANNELS = Word.of(LAYOUT, "channels");
    static final Word HEIGHT = Word.of(LAYOUT, "height");
    static final Word WIDTH = Word.of(LAYOUT, "width");
    static final Word SOURCE_CHANNELS_LAST = Word.of(LAYOUT, "source_channels_last");
    static final Word TARGET = Word.of(LAYOUT, "target");
    static final Word TARGET_TYPE = Word.of(LAYOUT, "target_type");
    static final Word TARGET_CHANNELS_LAST = Word.of(LAYOUT, "target_channels_last");
    private static final long MEAN = LAYOUT.byteOffset(PathElement.groupElement("mean"));
    private static final long DEVIATION = LAYOUT.byteOffset(PathElement.groupElement("deviation"));

    static float mean(MemorySegment arguments, int channel) {
        return arguments.get(F32, MEAN + (long) channel * Float.BYTES);
    }

    static float deviation(MemorySegment arguments, int channel) {
        return arguments.get(F32, DEVIATION + (long) channel * Float.BYTES);
    }

    static void setNormalization(MemorySegment arguments, int channel, float mean, float deviation) {
        arguments.set(F32, MEAN + (long) channel * Float.BYTES, mean);
        arguments.set(F32, DEVIATION + (long) channel * Float.BYTES, deviation);
    }

    /** The image shape of the source or the target. */
    static long[] shape(MemorySegment arguments, Word channelsLast) {
        long h = HEIGHT.get(arguments);
        long w = WIDTH.get(arguments);
        long c = CHANNELS.get(arguments);
        return channelsLast.get(arguments) != 0 ? new long[] {h, w, c} : new long[] {c, h, w};
    }

    /** Whether two transforms normalize and write alike, ignoring what differs between batches. */
    static boolean normalizeAlike(MemorySegment a, MemorySegment b) {
        return CHANNELS.get(a) == CHANNELS.get(b) && MemorySegment.mismatch(
                a, TARGET_TYPE.offset(), LAYOUT.byteSize(), b, TARGET_TYPE.offset(), LAYOUT.byteSize()) == -1;
    }
}
