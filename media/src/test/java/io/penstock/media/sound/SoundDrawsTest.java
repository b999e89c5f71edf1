// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The steps that draw, by their definitions. */
final class SoundDrawsTest {

    private static final int BANDS = 80;
    private static final int FRAMES = 301;

    private static KeyedRandom random(long position) {
        var random = new KeyedRandom(42, 3);
        random.select(position, KeyedRandom.step("test"));
        return random;
    }

    private static float[] spectrogram() {
        return Arrays.copyOf(Vectors.signal(24_080, 1, 100, 7000), BANDS * FRAMES);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void masksAreThoseOfTorchaudio(boolean areBandsFirst) throws IOException {
        SpecAugment step = SpecAugment.of(BANDS).bands(2, 27).frames(3, 100).atMost(0.2);
        float[] values = spectrogram();
        for (int position = 0; position < 50; position++) {
            KeyedRandom draws = random(position);
            boolean[] bands = new boolean[BANDS];
            boolean[] frames = new boolean[FRAMES];
            for (int mask = 0; mask < 5; mask++) {
                boolean[] axis = mask < 2 ? bands : frames;
                double v = draws.nextDouble() * (mask < 2 ? 27 : 60);
                int start = (int) (draws.nextDouble() * (axis.length - v));
                Arrays.fill(axis, start, start + (int) v, true);
            }
            float[] expected = values.clone();
            for (int i = 0; i < values.length; i++) {
                int band = areBandsFirst ? i / FRAMES : i % BANDS;
                int frame = areBandsFirst ? i % FRAMES : i / BANDS;
                expected[i] = bands[band] || frames[frame] ? 0 : values[i];
            }
            assertArrayEquals(expected, Vectors.apply(areBandsFirst ? step : step.framesFirst(), values,
                    random(position)));
        }
    }

    @Test
    void masksMayBeTheMean() throws IOException {
        float[] values = spectrogram();
        double sum = 0;
        for (float value : values) {
            sum += value;
        }
        SpecAugment step = SpecAugment.of(BANDS).bands(1, 80);
        float[] zeros = Vectors.apply(step, values, random(1));
        float[] means = Vectors.apply(step.mean(), values, random(1));
        int masked = 0;
        for (int i = 0; i < values.length; i++) {
            boolean isMasked = zeros[i] != values[i];
            masked += isMasked ? 1 : 0;
            assertEquals(isMasked ? (float) (sum / values.length) : values[i], means[i]);
        }
        assertTrue(masked > 0);
    }

    @Test
    void masksWiderThanTheSpectrogramCoverAtMostAll() throws IOException {
        for (int position = 0; position < 100; position++) {
            assertEquals(80, Vectors.apply(SpecAugment.of(80).bands(3, 1000).frames(3, 1000), new float[80],
                    random(position)).length);
            assertEquals(0, Vectors.apply(SpecAugment.of(80).bands(1, 10).frames(1, 10), new float[0],
                    random(position)).length);
        }
        assertThrows(CodecException.class, () -> Vectors.apply(SpecAugment.of(80), new float[81]));
        assertThrows(IllegalArgumentException.class, () -> SpecAugment.of(80).after(
                new TensorSpec("x", DType.F32, 3000, 80)));
        assertThrows(IllegalArgumentException.class, () -> SpecAugment.of(80).atMost(Double.NaN));
    }

    @Test
    void noiseHasTheRatioThatIsDrawn() throws IOException {
        float[] clip = Arrays.copyOf(Vectors.signal(), 9001);
        float[] rain = Vectors.signal(3000, 1, 5, 1400);
        float[] hum = Arrays.copyOf(Vectors.signal(8000, 1, 50, 60), 7001);
        NoiseMix step = NoiseMix.of(List.of(Vectors.memory(rain), Vectors.memory(hum)), -5, 20).probability(0.7);
        int added = 0;
        for (int position = 0; position < 60; position++) {
            KeyedRandom draws = random(position);
            boolean isAdded = draws.nextDouble() < 0.7;
            float[] noise = draws.nextLong(2) == 0 ? rain : hum;
            int start = (int) draws.nextLong(noise.length);
            double ratio = -5 + 25 * draws.nextDouble();
            float[] found = Vectors.apply(step, clip, random(position));
            if (!isAdded) {
                assertArrayEquals(clip, found);
                continue;
            }
            added++;
            double signalPower = 0;
            double noisePower = 0;
            double addedPower = 0;
            for (int i = 0; i < clip.length; i++) {
                float sample = noise[(start + i) % noise.length];
                signalPower += (double) clip[i] * clip[i];
                noisePower += (double) sample * sample;
                addedPower += Math.pow((double) found[i] - clip[i], 2);
            }
            double factor = Math.sqrt(signalPower / noisePower * Math.pow(10, -ratio / 10));
            for (int i = 0; i < clip.length; i++) {
                assertEquals(clip[i] + factor * noise[(start + i) % noise.length], found[i], 1e-6);
            }
            assertEquals(ratio, 10 * Math.log10(signalPower / addedPower), 1e-3);
        }
        assertTrue(added > 30 && added < 55, "added to " + added);
    }

    @Test
    void silenceStaysAsItIs() throws IOException {
        var noise = NoiseMix.of(List.of(Vectors.memory(Vectors.signal())), 10, 10);
        assertArrayEquals(new float[5000], Vectors.apply(noise, new float[5000]));
        var silent = NoiseMix.of(List.of(Vectors.memory(new float[7])), 10, 10);
        assertArrayEquals(Vectors.signal(), Vectors.apply(silent, Vectors.signal()));
        assertThrows(IllegalArgumentException.class, () -> NoiseMix.of(List.of(), 1, 2));
        assertThrows(IllegalArgumentException.class,
                () -> NoiseMix.of(List.of(Vectors.memory(new float[0])), 1, 2));
        assertNotEquals(noise.toString(), NoiseMix.of(List.of(Vectors.memory(new float[16_000])), 10, 10).toString());
    }

    @Test
    void gainIsThatWhichIsDrawn() throws IOException {
        float[] clip = Vectors.signal();
        for (int position = 0; position < 20; position++) {
            double decibels = -6 + 18 * random(position).nextDouble();
            float[] found = Vectors.apply(Gain.random(-6, 12), clip, random(position));
            for (int i = 0; i < clip.length; i++) {
                assertEquals(clip[i] * Math.pow(10, decibels / 20), found[i], 1e-6);
            }
        }
        assertArrayEquals(clip, Vectors.apply(Gain.of(0), clip));
        assertThrows(IllegalArgumentException.class, () -> Gain.random(2, 1));
    }

    @Test
    void aCutBeginsAtThePlaceThatIsDrawn() throws IOException {
        float[] clip = Vectors.signal();
        for (int position = 0; position < 20; position++) {
            int start = (int) random(position).nextLong(15_001);
            assertArrayEquals(Arrays.copyOfRange(clip, start, start + 1000),
                    Vectors.apply(FixedLength.random(1000), clip, random(position)));
        }
        assertArrayEquals(Arrays.copyOf(clip, 1000), Vectors.apply(FixedLength.of(1000), clip));
        assertArrayEquals(Arrays.copyOf(clip, 50_000), Vectors.apply(FixedLength.random(50_000), clip));
        assertArrayEquals(new float[3], Vectors.apply(FixedLength.of(3), new float[0]));
        assertThrows(IllegalArgumentException.class, () -> FixedLength.of(0));
    }

    @Test
    void oneChannelIsTheMean() throws IOException {
        float[] both = Vectors.signal(30_000, 1, 100, 7000);
        float[] found = Vectors.apply(new Mono(3), both);
        assertEquals(10_000, found.length);
        for (int i = 0; i < found.length; i++) {
            assertEquals((both[3 * i] + both[3 * i + 1] + both[3 * i + 2]) / 3, found[i]);
        }
        assertThrows(CodecException.class, () -> Vectors.apply(new Mono(7), both));
    }
}
