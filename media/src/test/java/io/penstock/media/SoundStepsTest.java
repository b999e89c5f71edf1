// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.sound.FixedLength;
import io.penstock.media.sound.Gain;
import io.penstock.media.sound.KaldiFbank;
import io.penstock.media.sound.LogMel;
import io.penstock.media.sound.Mono;
import io.penstock.media.sound.PcmReader;
import io.penstock.media.sound.Resample;
import io.penstock.media.sound.SoundStep;
import io.penstock.media.sound.SoundSteps;
import io.penstock.media.sound.SpecAugment;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of uncompressed sound through a loader, without FFmpeg, against the steps one by one. */
final class SoundStepsTest {

    private static final List<String> FILES = List.of("pcm-s16-16k-5.1-extensible.wav", "g711-mulaw-8k.wav",
            "pcm-s16be.aiff");
    private static final int RATE = 16_000;

    @TempDir
    private Path folder;

    private RecordStore shards() throws IOException {
        try (var writer = WebDatasetWriter.create(folder.resolve("sound-%04d.tar"), 10, 1 << 30)) {
            for (int i = 0; i < FILES.size(); i++) {
                writer.write("clip" + i, Map.of("wav", file(FILES.get(i))));
            }
            writer.commit();
        }
        return RecordStore.open(folder);
    }

    private static MemorySegment file(String name) {
        byte[] bytes = VideoFixture.resource(name);
        return Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
    }

    private static MemorySegment apply(SoundStep step, MemorySegment in) throws IOException {
        long values = in.byteSize() / 4;
        MemorySegment out = Arena.ofAuto().allocate(4 * step.valuesAfter(values));
        try (SoundStep.Applier session = step.open()) {
            session.apply(in, 0, values, new KeyedRandom(0, 0), out, 0);
        }
        return out;
    }

    /** The samples of a file at the rate, of one channel, by the steps one after the other. */
    private static MemorySegment samples(String name) throws IOException {
        var reader = new PcmReader();
        MemorySegment file = file(name);
        assertTrue(reader.open(file, file.byteSize()));
        MemorySegment all = Arena.ofAuto().allocate(4 * reader.samples() * reader.channels());
        reader.read(0, reader.samples(), all, 0);
        MemorySegment one = reader.channels() == 1 ? all : apply(new Mono(reader.channels()), all);
        return reader.rate() == RATE ? one : apply(Resample.hann(reader.rate(), RATE), one);
    }

    private static MemorySegment decode(SoundDecoder decoder, String name) throws IOException {
        try (Decoder.Session session = decoder.open()) {
            MemorySegment file = file(name);
            MemorySegment out = Arena.ofAuto().allocate(session.byteSize(file, file.byteSize()));
            session.decode(file, file.byteSize(), out, 0, out.byteSize());
            return out;
        }
    }

    @Test
    void filesOfAnyRateBecomeOne() throws IOException {
        var decoder = SoundDecoder.mono(RATE).resampled();
        for (String name : FILES) {
            assertEquals(-1, samples(name).mismatch(decode(decoder, name)), name);
            assertEquals(-1, apply(new KaldiFbank(RATE, 40), samples(name))
                    .mismatch(decode(decoder.then(new KaldiFbank(RATE, 40)), name)), name);
        }
        assertEquals("sound of 8000 samples a second, expected 16000", assertThrows(CodecException.class,
                () -> decode(SoundDecoder.mono(RATE), "g711-mulaw-8k.wav")).getMessage());
        assertEquals("sound of 6 channels, expected 2", assertThrows(CodecException.class, () -> decode(
                SoundDecoder.channels(2, RATE), "pcm-s16-16k-5.1-extensible.wav")).getMessage());
        assertTrue(assertThrows(CodecException.class, () -> decode(SoundDecoder.mono(16_001).resampled(),
                "g711-mulaw-8k.wav")).getMessage().startsWith("8000 to 16001 samples a second: found a kernel"));
        assertThrows(IllegalStateException.class, () -> SoundDecoder.channels(2, RATE).resampled());
    }

    /** One session for all files, by turns, as a worker has it. */
    @Test
    void aSessionDecodesOneFileAfterAnother() throws IOException {
        try (Decoder.Session session = SoundDecoder.mono(RATE).resampled().open()) {
            for (int i = 0; i < 9; i++) {
                String name = FILES.get(i * 2 % 3);
                MemorySegment file = file(name);
                MemorySegment out = Arena.ofAuto().allocate(session.byteSize(file, file.byteSize()));
                session.decode(file, file.byteSize(), out, 0, out.byteSize());
                assertEquals(-1, samples(name).mismatch(out), name);
            }
        }
    }

    private static Map<Long, byte[]> read(Dataset dataset, int workers, long epoch) {
        Map<Long, byte[]> rows = new HashMap<>();
        try (DataLoader loader = DataLoader.builder(dataset).batchSize(2).shuffle(5).startEpoch(epoch)
                .endEpoch(epoch + 1).workers(workers).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        rows.put(batch.sample(row), batch.tensor("wav").row(row).segment().toArray(JAVA_BYTE));
                    }
                }
            }
        }
        return rows;
    }

    @Test
    void spectrogramsComeFromALoader() throws IOException {
        try (RecordStore shards = shards()) {
            Dataset speech = RecordFields.of(shards).and("wav", SoundDecoder.mono(RATE).resampled());
            var steps = SoundSteps.of(FixedLength.of(48_000), LogMel.whisper(80));
            Dataset mel = steps.map(speech, "wav");
            assertEquals(List.of(new TensorSpec("wav", DType.F32, 80, 300)), mel.fields());
            Map<Long, byte[]> rows = read(mel, 2, 0);
            assertEquals(FILES.size(), rows.size());
            for (int i = 0; i < FILES.size(); i++) {
                MemorySegment samples = apply(FixedLength.of(48_000), samples(FILES.get(i)));
                MemorySegment expected = apply(LogMel.whisper(80), samples);
                assertArrayEquals(expected.toArray(JAVA_BYTE), rows.get((long) i), FILES.get(i));
            }
        }
    }

    @Test
    void whatIsDrawnDependsOnTheSampleAlone() throws IOException {
        try (RecordStore shards = shards()) {
            Dataset speech = RecordFields.of(shards).and("wav", SoundDecoder.mono(RATE).resampled());
            Dataset drawn = SoundSteps.of(Gain.random(-6, 6), FixedLength.random(4000), LogMel.whisper(80),
                    SpecAugment.of(80).bands(2, 27).frames(2, 10)).map(speech, "wav");
            Map<Long, byte[]> one = read(drawn, 1, 0);
            Map<Long, byte[]> two = read(drawn, 2, 0);
            Map<Long, byte[]> later = read(drawn, 2, 1);
            for (long i = 0; i < FILES.size(); i++) {
                assertArrayEquals(one.get(i), two.get(i));
                assertNotEquals(0, Arrays.compare(one.get(i), later.get(i)));
            }
        }
    }

    /** A step's draws are those of its name: one before it changes nothing. */
    @Test
    void stepsDrawByTheirNames() throws IOException {
        MemorySegment in = samples(FILES.getFirst());
        long values = in.byteSize() / 4;
        MemorySegment plain = Arena.ofAuto().allocate(4000);
        MemorySegment behind = Arena.ofAuto().allocate(4000);
        MemorySegment other = Arena.ofAuto().allocate(4000);
        try (var alone = SoundSteps.of(FixedLength.random(1000)).open();
                var second = SoundSteps.of(Gain.random(0, 1e-9), FixedLength.random(1000)).open();
                var named = SoundSteps.of(FixedLength.random(1000)).named("mine").open()) {
            alone.apply(in, 0, values, new KeyedRandom(1, 1), plain, 0);
            second.apply(in, 0, values, new KeyedRandom(1, 1), behind, 0);
            named.apply(in, 0, values, new KeyedRandom(1, 1), other, 0);
        }
        assertEquals(-1, plain.mismatch(behind));
        assertNotEquals(-1, plain.mismatch(other));
    }

    @Test
    void spectrogramsOfManyLengthsArePadded() throws IOException {
        try (RecordStore shards = shards()) {
            Dataset fbank = RecordFields.of(shards).and("wav",
                    SoundDecoder.mono(RATE).resampled().then(new KaldiFbank(RATE, 80)));
            assertEquals(List.of(new TensorSpec("wav", DType.F32, TensorSpec.VARIABLE, 80)), fbank.fields());
            try (DataLoader loader = DataLoader.builder(fbank).batchSize(3).collator(StackAndPad.fields()).open();
                    Batch batch = loader.next()) {
                float[] row = batch.tensor("wav").row(0).segment().toArray(JAVA_FLOAT_UNALIGNED);
                float[] expected = apply(new KaldiFbank(RATE, 80), samples(FILES.getFirst()))
                        .toArray(JAVA_FLOAT_UNALIGNED);
                assertArrayEquals(expected, Arrays.copyOf(row, expected.length));
            }
        }
    }

    @Test
    void fieldsThatStepsDoNotTakeAreRefused() throws IOException {
        var samples = new TensorSpec("x", DType.F32, TensorSpec.VARIABLE);
        assertThrows(IllegalArgumentException.class, () -> SoundSteps.of(LogMel.whisper(80)).after(samples));
        assertThrows(IllegalArgumentException.class, () -> SoundSteps.of(new Mono(2)).after(samples));
        assertThrows(IllegalArgumentException.class, () -> SoundSteps.of(FixedLength.of(10)).after(
                new TensorSpec("x", DType.I16, 3)));
        assertThrows(IllegalArgumentException.class, () -> SoundSteps.of());
        assertThrows(IllegalArgumentException.class, () -> SoundDecoder.mono(RATE).then(Gain.random(0, 1)));
        try (RecordStore shards = shards()) {
            Dataset speech = RecordFields.of(shards).and("wav", SoundDecoder.channels(2, RATE));
            assertEquals(new TensorSpec("wav", DType.F32, TensorSpec.VARIABLE),
                    SoundSteps.of(new Mono(2), Gain.of(1)).map(speech, "wav").fields().getFirst());
            assertThrows(IllegalArgumentException.class,
                    () -> SoundSteps.of(new Mono(2), Resample.hann(RATE, 8000)).map(speech, "wav"));
        }
    }
}
