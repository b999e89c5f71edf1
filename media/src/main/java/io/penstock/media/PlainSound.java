// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.internal.Scratch;
import io.penstock.media.sound.Mono;
import io.penstock.media.sound.PcmReader;
import io.penstock.media.sound.SoundStep;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** Decodes whole files of sound without a library. For one thread, file after file. */
interface PlainSound extends AutoCloseable {

    /** Opens a file, and tells whether it is of this kind. */
    boolean open(MemorySegment file, long size);

    /** Returns the samples of a channel in a second. */
    int rate();

    int channels();

    /** Returns how many samples each channel has. */
    long samples();

    /** Writes the samples as {@code f32}: their mean, or all channels interleaved, from byte {@code at} on. */
    void read(boolean isMean, MemorySegment out, long at) throws IOException;

    /** The default is for sound that keeps no memory. */
    @Override
    default void close() {
    }

    /** WAV, RF64 and AIFF. */
    final class Pcm implements PlainSound {

        private final PcmReader reader = new PcmReader();
        private final Scratch interleaved = new Scratch();
        private final Map<Integer, SoundStep.Applier> means = new HashMap<>();
        private final KeyedRandom random = new KeyedRandom(0, 0);

        @Override
        public boolean open(MemorySegment file, long size) {
            return reader.open(file, size);
        }

        @Override
        public int rate() {
            return reader.rate();
        }

        @Override
        public int channels() {
            return reader.channels();
        }

        @Override
        public long samples() {
            return reader.samples();
        }

        @Override
        public void read(boolean isMean, MemorySegment out, long at) throws IOException {
            if (!isMean || channels() == 1) {
                reader.read(0, samples(), out, at);
                return;
            }
            long all = samples() * channels();
            MemorySegment from = interleaved.of(all * Float.BYTES);
            reader.read(0, samples(), from, 0);
            means.computeIfAbsent(channels(), of -> new Mono(of).open()).apply(from, 0, all, random, out, at);
        }

        @Override
        public void close() {
            interleaved.close();
        }
    }
}
