// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Resampling and spectrograms against their definitions, which numpy computed in f64. */
final class SoundVectorsTest {

    private static void assertWithin(double bound, float[] expected, float[] found) {
        assertEquals(expected.length, found.length);
        double most = 0;
        for (int i = 0; i < found.length; i++) {
            assertTrue(Float.isFinite(found[i]), "value " + i);
            most = Math.max(most, Math.abs((double) found[i] - expected[i]));
        }
        assertTrue(most <= bound, "differs by " + most);
    }

    @ParameterizedTest
    @CsvSource({"44100, 16000", "48000, 16000", "22050, 16000", "8000, 16000", "16000, 44100", "11025, 16000"})
    void resamplingIsThatOfTorchaudio(int from, int to) throws IOException {
        float[] samples = Vectors.signal(from, 0.25, 50, Math.min(from, to) * 0.45);
        assertWithin(1e-6, Vectors.npy("resample-hann-" + from + "-" + to),
                Vectors.apply(Resample.hann(from, to), samples));
    }

    @Test
    void resamplingByKaiserIsThatOfTorchaudio() throws IOException {
        assertWithin(1e-6, Vectors.npy("resample-kaiser-44100-16000"),
                Vectors.apply(Resample.kaiser(44_100, 16_000), Vectors.signal(44_100, 0.25, 50, 7200)));
    }

    /** Lengths around those of blocks, by the sum of the definition. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 383, 384, 385, 768, 1000})
    void everyLengthHasItsResult(int length) throws IOException {
        float[] samples = Arrays.copyOf(Vectors.signal(), length);
        float[] expected = new float[Math.ceilDiv(length * 2, 3)];
        double base = 2 * 0.99;
        for (int k = 0; k < expected.length; k++) {
            double sum = 0;
            for (int i = 0; i < length; i++) {
                double t = (i / 3.0 - k / 2.0) * base;
                if (Math.abs(t) < 6) {
                    double sinc = t == 0 ? 1 : Math.sin(Math.PI * t) / (Math.PI * t);
                    sum += sinc * Math.pow(Math.cos(Math.PI * t / 12), 2) * base / 3 * samples[i];
                }
            }
            expected[k] = (float) sum;
        }
        assertWithin(1e-6, expected, Vectors.apply(Resample.hann(24_000, 16_000), samples));
    }

    @Test
    void theSameRateChangesNothing() throws IOException {
        float[] samples = Vectors.signal();
        assertWithin(0, samples, Vectors.apply(Resample.hann(16_000, 16_000), samples));
    }

    @Test
    void aKernelThatIsTooLargeIsRefused() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Resample.hann(44_100, 16_001)).getMessage()
                .startsWith("44100 to 16001 samples a second: found a kernel of 16001 phases of 44134 taps"));
        assertThrows(IllegalArgumentException.class, () -> Resample.hann(1_000_000_007, 1));
        assertThrows(IllegalArgumentException.class, () -> Resample.hann(1, 1_000_000_007));
        assertThrows(IllegalArgumentException.class, () -> Resample.kaiser(0, 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {80, 128})
    void logMelIsThatOfWhisper(int bands) throws IOException {
        assertWithin(2e-5, Vectors.npy("whisper-" + bands + "-1s"),
                Vectors.apply(LogMel.whisper(bands), Vectors.signal()));
    }

    @Test
    void logMelOfThirtySecondsIsThatOfWhisper() throws IOException {
        float[] found = Vectors.apply(LogMel.whisper(80), Arrays.copyOf(Vectors.signal(), 480_000));
        assertEquals(80 * 3000, found.length);
        float[] head = new float[80 * 110];
        float[] rest = new float[80 * 2890];
        for (int m = 0; m < 80; m++) {
            System.arraycopy(found, m * 3000, head, m * 110, 110);
            System.arraycopy(found, m * 3000 + 110, rest, m * 2890, 2890);
        }
        assertWithin(2e-5, Vectors.npy("whisper-80-30s-first110"), head);
        float[] silence = new float[rest.length];
        Arrays.fill(silence, -0.59549594f);
        assertWithin(2e-5, silence, rest);
    }

    @Test
    void melSpectrogramIsThatOfTorchaudio() throws IOException {
        float[] expected = Vectors.npy("melspectrogram-default");
        float[] found = Vectors.apply(MelSpectrogram.of(16_000), Vectors.signal());
        assertEquals(expected.length, found.length);
        for (int i = 0; i < found.length; i++) {
            double relative = Math.abs(found[i] - expected[i]) / (Math.abs(expected[i]) + 1e-3);
            assertTrue(relative <= 3e-5, "value " + i + " differs by " + relative);
        }
        int frames = found.length / 128;
        assertEquals(4, IntStream.range(0, 128).filter(m -> IntStream.range(m * frames, (m + 1) * frames)
                .allMatch(i -> found[i] == 0)).count(), "bands without a frequency");
    }

    @Test
    void fbankIsThatOfKaldi() throws IOException {
        assertWithin(2e-3, Vectors.npy("kaldi-fbank-80"),
                Vectors.apply(new KaldiFbank(16_000, 80), Vectors.signal()));
    }

    /** Each size of transform against the sum of its definition. */
    @ParameterizedTest
    @ValueSource(ints = {2, 4, 6, 8, 10, 12, 16, 18, 20, 24, 30, 50, 64, 90, 96, 120, 240, 320, 400, 480, 512, 1000})
    void powersAreThoseOfTheTransform(int size) {
        float[] samples = Arrays.copyOf(Vectors.signal(), size + 3);
        var fft = new LaneFft(size);
        for (int n = 0; n < size; n++) {
            fft.put(n, samples, n, 1, 3);
        }
        fft.transform(3);
        for (int lane = 0; lane < 3; lane++) {
            for (int k = 0; k <= size / 2; k++) {
                double re = 0;
                double im = 0;
                for (int n = 0; n < size; n++) {
                    re += samples[n + lane] * Math.cos(2 * Math.PI * k * n / size);
                    im -= samples[n + lane] * Math.sin(2 * Math.PI * k * n / size);
                }
                assertEquals(re * re + im * im, fft.power[k][lane], 1e-6 * (size + re * re + im * im), size + ": " + k);
            }
        }
    }

    @Test
    void aTransformOfOtherFactorsIsRefused() {
        assertEquals("found a transform of 882, expected an even number up to 65536 without prime factors above 5",
                assertThrows(IllegalArgumentException.class, () -> MelSpectrogram.of(22_050).size(882)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> new LaneFft(25));
        assertThrows(IllegalArgumentException.class, () -> MelSpectrogram.of(16_000).size(1 << 30));
    }

    @Test
    void logarithmsAreThoseOfTheJdk() {
        var log10 = new Logarithm(10);
        var ln = new Logarithm(Math.E);
        float[] row = new float[LaneSums.LANES];
        for (float first = 1e-30f; first < 1e30f; first *= 1.37f) {
            for (int l = 0; l < row.length; l++) {
                row[l] = first * (1 + l / 100f);
            }
            float[] tens = row.clone();
            float[] natural = row.clone();
            assertTrue(log10.apply(tens, row.length));
            assertTrue(ln.apply(natural, row.length));
            for (int l = 0; l < row.length; l++) {
                assertEquals(Math.log10(row[l]), tens[l], Math.max(6e-8, 2 * Math.ulp((float) Math.log10(row[l]))));
                assertEquals(Math.log(row[l]), natural[l], Math.max(1.2e-7, 2 * Math.ulp((float) Math.log(row[l]))));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, 1e30f})
    void aSampleThatIsNotFiniteIsBad(float value) {
        float[] samples = Vectors.signal();
        samples[7777] = value;
        for (SoundStep step : new SoundStep[] {LogMel.whisper(80), new KaldiFbank(16_000, 80)}) {
            assertEquals("samples whose power is not finite, expected samples from -1 to 1",
                    assertThrows(CodecException.class, () -> Vectors.apply(step, samples)).getMessage());
        }
    }

    @Test
    void soundWithoutAFrameIsRefusedOrEmpty() throws IOException {
        assertEquals("sound of 200 samples, expected more than 200, half a window", assertThrows(CodecException.class,
                () -> Vectors.apply(LogMel.whisper(80), new float[200])).getMessage());
        assertThrows(CodecException.class, () -> Vectors.apply(MelSpectrogram.of(16_000), new float[200]));
        assertEquals(0, Vectors.apply(new KaldiFbank(16_000, 80), new float[399]).length);
        assertEquals(80, Vectors.apply(new KaldiFbank(16_000, 80), new float[400]).length);
    }

    /** A worker's session, of long clips and short ones by turns, gives what a fresh one gives. */
    @Test
    void aSessionForgetsTheClipBefore() throws IOException {
        float[] signal = Vectors.signal();
        for (SoundStep step : new SoundStep[] {LogMel.whisper(80), MelSpectrogram.of(16_000),
            new KaldiFbank(16_000, 80), Resample.hann(44_100, 16_000)}) {
            try (SoundStep.Applier session = step.open()) {
                for (int length : new int[] {16_000, 999, 5000, 401, 16_000}) {
                    float[] samples = Arrays.copyOf(signal, length);
                    assertWithin(0, Vectors.apply(step, samples),
                            Vectors.apply(step, session, samples, new KeyedRandom(1, 2)));
                }
            }
        }
    }
}
