// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.media.sound.LogMel;
import io.penstock.media.sound.Mono;
import io.penstock.media.sound.PcmReader;
import io.penstock.media.sound.Resample;
import io.penstock.media.sound.SoundStep;
import io.penstock.media.sound.SoundSteps;
import io.penstock.sampling.KeyedRandom;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Sound on one thread, beside torch and soundfile by turns, in CPU time of the thread: {@code --python P [--rounds
 * 20]}. Of 30 seconds of stereo at 44.1 kHz, 16 bits: reading the WAV; one channel from 44.1 to 16 kHz; Whisper's
 * log-mel of 80 bands; and all of it. {@code bench/peers/sound_rates.py} writes the file. Results are compared. Prints
 * the least and the median of the rounds, in milliseconds.
 */
public final class SoundRates {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 100;

    private interface Work {
        MemorySegment run() throws IOException;
    }

    private SoundRates() {
    }

    /** See the class. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        int rounds = Integer.parseInt(options.getOrDefault("rounds", "20"));
        Path wav = Files.createTempFile("sound", ".wav");
        Path result = Files.createTempFile("sound", ".f32");
        Process peer = new ProcessBuilder(options.get("python"), "bench/peers/sound_rates.py", wav.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (var in = new BufferedReader(new InputStreamReader(peer.getInputStream(), StandardCharsets.UTF_8));
                var out = new PrintStream(peer.getOutputStream(), true, StandardCharsets.UTF_8);
                Arena arena = Arena.ofConfined()) {
            in.readLine();
            for (var work : works(wav, arena).entrySet()) {
                for (int i = 0; i < WARM_UP; i++) {
                    work.getValue().run();
                }
                Files.write(result, work.getValue().run().toArray(JAVA_BYTE));
                double[] ours = new double[rounds];
                double[] theirs = new double[rounds];
                for (int round = 0; round < rounds; round++) {
                    long start = THREADS.getCurrentThreadCpuTime();
                    work.getValue().run();
                    ours[round] = (THREADS.getCurrentThreadCpuTime() - start) / 1e6;
                    out.println("round " + work.getKey());
                    theirs[round] = Long.parseLong(in.readLine()) / 1e6;
                }
                Arrays.sort(ours);
                Arrays.sort(theirs);
                out.println("compare " + work.getKey() + " " + result);
                System.out.printf(Locale.ROOT, "%-8s penstock %6.2f (%6.2f)  python %6.2f (%6.2f)  %.1f x, "
                        + "differs by %s%n", work.getKey(), ours[0], ours[rounds / 2], theirs[0],
                        theirs[rounds / 2], theirs[0] / ours[0],
                        in.readLine());
            }
        } finally {
            peer.destroy();
            Files.delete(wav);
            Files.delete(result);
        }
    }

    private static Map<String, Work> works(Path wav, Arena arena) throws IOException {
        MemorySegment file;
        try (FileChannel channel = FileChannel.open(wav)) {
            file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
        }
        var reader = new PcmReader();
        reader.open(file, file.byteSize());
        MemorySegment samples = arena.allocate(4 * reader.samples() * reader.channels(), 64);
        Work read = () -> {
            reader.open(file, file.byteSize());
            reader.read(0, reader.samples(), samples, 0);
            return samples;
        };
        MemorySegment one = step(new Mono(2), read.run(), arena).run();
        Work resample = step(Resample.hann(44_100, 16_000), one, arena);
        Map<String, Work> works = new LinkedHashMap<>();
        works.put("read", read);
        works.put("resample", resample);
        works.put("mel", step(LogMel.whisper(80), resample.run(), arena));
        var steps = SoundSteps.of(new Mono(2), Resample.hann(44_100, 16_000), LogMel.whisper(80));
        long values = samples.byteSize() / 4;
        MemorySegment mel = arena.allocate(4 * steps.valuesAfter(values), 64);
        SoundStep.Applier session = steps.open();
        var random = new KeyedRandom(0, 0);
        works.put("all", () -> {
            session.apply(read.run(), 0, values, random, mel, 0);
            return mel;
        });
        return works;
    }

    private static Work step(SoundStep step, MemorySegment in, Arena arena) throws IOException {
        MemorySegment out = arena.allocate(4 * step.valuesAfter(in.byteSize() / 4), 64);
        SoundStep.Applier session = step.open();
        var random = new KeyedRandom(0, 0);
        return () -> {
            session.apply(in, 0, in.byteSize() / 4, random, out, 0);
            return out;
        };
    }
}
