// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.penstock.decode.Decoder;
import io.penstock.media.SoundDecoder;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A warm session allocates nothing on the heap. In a JVM of its own: calls of other tests decide what is inlined. */
final class SoundHeapTest {

    private static List<SoundStep> steps() {
        return List.of(LogMel.whisper(80), MelSpectrogram.of(16_000), new KaldiFbank(16_000, 80),
                Resample.hann(44_100, 16_000), Resample.hann(16_000, 16_000), new Mono(2), Gain.of(-3),
                Gain.random(-6, 6), FixedLength.of(20_000), FixedLength.random(1000),
                SpecAugment.of(80).bands(2, 27).frames(2, 50), SpecAugment.of(80).bands(2, 27).framesFirst().mean(),
                NoiseMix.of(List.of(Vectors.memory(Vectors.signal())), 0, 20));
    }

    /** Prints what each step allocates. */
    static void main(String[] args) throws IOException {
        for (SoundStep step : steps()) {
            System.out.println(step.name() + " " + Vectors.heapBytes(step, Vectors.signal()));
        }
        System.out.println("decoder " + heapBytesOfDecoding());
    }

    /** Decodes a file of six channels at 16 kHz to one at 8 kHz, and to bands. */
    private static long heapBytesOfDecoding() throws IOException {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        byte[] bytes = PcmReaderTest.resource("/media/pcm-s16-16k-5.1-extensible.wav");
        MemorySegment file = PcmReaderTest.memory(bytes);
        long least = Long.MAX_VALUE;
        try (Decoder.Session session = SoundDecoder.mono(8000).resampled().then(new KaldiFbank(8000, 40)).open()) {
            MemorySegment out = Arena.ofAuto().allocate(session.byteSize(file, bytes.length));
            for (int i = 0; i < 20_000 && least > 0; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                session.decode(file, bytes.length, out, 0, session.byteSize(file, bytes.length));
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
        }
        return least;
    }

    @Test
    void aWarmSessionTakesNoHeap() throws IOException, InterruptedException {
        List<String> command = JavaCommand.optimized(JavaCommand.classPath(), "-XX:+UseSerialGC");
        command.add(SoundHeapTest.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        List<String> expected = new ArrayList<>(steps().stream().map(step -> step.name() + " 0").toList());
        expected.add("decoder 0");
        assertEquals(expected, output.lines().toList());
    }
}
