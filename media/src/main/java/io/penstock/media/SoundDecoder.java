// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.error.LibraryException;
import io.penstock.internal.Scratch;
import io.penstock.media.ffmpeg.SoundReader;
import io.penstock.media.sound.Resample;
import io.penstock.media.sound.SoundStep;
import io.penstock.media.sound.SoundSteps;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decodes whole files of sound: FLAC, WAV, RF64 and AIFF without a library; by FFmpeg's MP3, AAC, Vorbis, Opus, and the
 * sound of MP4, Matroska and Ogg.
 *
 * <pre>{@code
 * SoundDecoder.mono(16_000);                   // f32[n]: the mean of the channels; another rate is an error
 * SoundDecoder.mono(16_000).resampled();       // f32[n]: files of any rate
 * SoundDecoder.channels(2, 44_100);            // f32[n, 2]; another number of channels is an error
 * SoundDecoder.mono(16_000).then(new KaldiFbank(16_000, 80));     // f32[frames, 80]
 * }</pre>
 *
 * <p>Values are from -1 to 1. Encoder delay is cut. A file is a bad sample if a packet cannot be decoded, a frame is
 * flagged as damaged, or there are fewer samples than the container says.
 */
public final class SoundDecoder implements Decoder {

    private static final Set<String> READ = Set.of("flac", "mp3", "m4a", "aac", "ogg", "oga", "opus", "wav", "aiff",
            "aif", "aifc", "rf64", "mp4", "mkv", "webm", "audio", "sound", "");
    /** These codecs have delay and padding that the container's length may include. */
    private static final Set<String> PADDED = Set.of("mp3", "opus", "aac");
    private static final int MOST_PADDING = 2400;
    /** The most values of a file: four gibibytes. */
    private static final long MAX_VALUES = 1L << 30;

    private final int channels;
    private final int rate;
    private final boolean isResampled;
    private final @Nullable SoundSteps steps;
    /** The CPU time of a file in a process of its own; null to decode in this one. */
    private final @Nullable Duration isolation;

    private SoundDecoder(int channels, int rate, boolean isResampled, @Nullable SoundSteps steps,
            @Nullable Duration isolation) {
        if (channels < 0 || channels > 64 || rate < 1) {
            throw new IllegalArgumentException("found " + channels + " channels of " + rate
                    + " samples a second, expected 1 to 64 of 1 or more");
        }
        this.channels = channels;
        this.rate = rate;
        this.isResampled = isResampled;
        this.steps = steps;
        this.isolation = isolation;
    }

    /**
     * Decodes to the mean of all channels.
     *
     * @param rate samples a second that files must have
     * @return a decoder to {@code f32[n]}
     * @throws IllegalArgumentException if the rate is below 1
     */
    public static SoundDecoder mono(int rate) {
        return new SoundDecoder(0, rate, false, null, null);
    }

    /**
     * Decodes all channels.
     *
     * @param channels the channels that files must have, 1 to 64
     * @param rate samples a second that files must have
     * @return a decoder to {@code f32[n, channels]}
     * @throws IllegalArgumentException if there are fewer or more channels, or the rate is below 1
     */
    public static SoundDecoder channels(int channels, int rate) {
        if (channels == 0) {
            throw new IllegalArgumentException("found 0 channels, expected 1 to 64");
        }
        return new SoundDecoder(channels, rate, false, null, null);
    }

    /**
     * {@return the decoder that takes files of other rates too, resampled by {@link Resample#hann}} A file whose rate
     * has no common divisor with this one, so that the kernel is too large, is a bad sample.
     *
     * @throws IllegalStateException if it does not decode to the mean of the channels
     */
    public SoundDecoder resampled() {
        if (channels != 0) {
            throw new IllegalStateException("found a decoder to " + channels + " channels, expected one to their mean");
        }
        return new SoundDecoder(channels, rate, true, steps, isolation);
    }

    /**
     * {@return the decoder with steps behind it, which may change lengths that vary}
     *
     * @param after the steps, which must not draw: those that do are for {@link SoundSteps#map}
     * @throws IllegalArgumentException if there are none, one draws, or one does not take what the one before makes
     */
    public SoundDecoder then(SoundStep... after) {
        SoundSteps behind = SoundSteps.of(after);
        if (behind.draw()) {
            throw new IllegalArgumentException("found " + behind + ", expected steps that do not draw");
        }
        behind.after(samples(""));
        return new SoundDecoder(channels, rate, isResampled, behind, isolation);
    }

    /**
     * {@return the decoder in a process of its own for each worker, for files that you do not trust} Where a file
     * crashes FFmpeg, its sample is bad with that reason, and a new process decodes the next. A file that takes over a
     * minute of CPU time is bad too. The samples are the same. FLAC, WAV and AIFF, which no library reads, stay in
     * this process.
     */
    public SoundDecoder isolated() {
        return new SoundDecoder(channels, rate, isResampled, steps, IsolatedDecoder.USUAL_CPU);
    }

    private TensorSpec samples(String name) {
        return channels == 0 ? new TensorSpec(name, DType.F32, TensorSpec.VARIABLE)
                : new TensorSpec(name, DType.F32, TensorSpec.VARIABLE, channels);
    }

    @Override
    public TensorSpec field(Column column) {
        if (column.kind() != Column.Kind.BYTES || !READ.contains(column.suffix())) {
            throw new IllegalArgumentException(column + ": no sound, expected the bytes of files, such as FLAC or MP3");
        }
        TensorSpec samples = samples(column.name());
        return steps == null ? samples : steps.after(samples);
    }

    @Override
    public Session open() {
        return new Sounds(this);
    }

    /** Returns how many of the samples that were decoded are heard; refuses fewer than the file says. */
    static long length(SoundReader reader, long count) {
        boolean isPadded = PADDED.contains(reader.codec());
        if (count == 0 || count < reader.declaredSamples() - (isPadded ? MOST_PADDING : 0)) {
            throw new CodecException("sound of " + count + " samples", reader.declaredSamples()
                    + ", as the file says");
        }
        return isPadded && reader.countsSamples() ? Math.min(count, reader.declaredSamples()) : count;
    }

    /** Keeps the samples of the last file between the question for their size and the copy. */
    private static final class Sounds implements Session {

        /** Rates whose kernels are kept. */
        private static final int MOST_RATES = 8;

        private final int channels;
        private final int rate;
        private final boolean isResampled;
        private final @Nullable SoundSteps steps;
        private final SoundStep.@Nullable Applier applier;
        private final @Nullable IsolatedDecoder isolated;
        private final Map<Integer, Resampling> resamplings = new HashMap<>();
        private final KeyedRandom random = new KeyedRandom(0, 0);
        private final PlainSound[] readers = {new PlainSound.Pcm(), new FlacReader()};
        private final Scratch samples = new Scratch();
        private final Scratch resampled = new Scratch();
        private @Nullable Resampling resampling;
        private float[] block = {};
        /** What reads the last file; null if FFmpeg does. */
        private @Nullable PlainSound plain;
        private int fileRate;
        /** The values of the last file: of one channel, or of all. */
        private long values = -1;
        /** The bytes of the last file, whose samples are kept; -1 if there is none. */
        private final Scratch storedFile = new Scratch();
        private long storedBytes = -1;

        /** A rate of files, and the step from it. */
        private record Resampling(int rate, Resample step, SoundStep.Applier applier) {
        }

        Sounds(SoundDecoder decoder) {
            channels = decoder.channels;
            rate = decoder.rate;
            isResampled = decoder.isResampled;
            steps = decoder.steps;
            applier = steps == null ? null : steps.open();
            isolated = decoder.isolation == null ? null : new IsolatedDecoder(decoder.isolation);
        }

        @Override
        public long byteSize(MemorySegment stored, long size) throws IOException {
            load(stored, size);
            long count = fileRate == rate ? values : resampling().step.valuesAfter(values);
            return (steps == null ? count : steps.valuesAfter(count)) * Float.BYTES;
        }

        private void load(MemorySegment stored, long size) throws IOException {
            PlainSound reads = readerOf(stored, size);
            plain = reads;
            if (reads != null) {
                // First: the check below changes the rate of the file that is kept.
                storedBytes = -1;
                check(reads.rate(), reads.channels());
                long count = reads.samples();
                long most = MAX_VALUES / reads.channels();
                if (count == 0 || count > most) {
                    throw new CodecException("sound of " + count + " samples", "1 to " + most);
                }
                values = count * Math.max(1, channels);
                return;
            }
            MemorySegment file = stored.asSlice(0, size);
            if (size != storedBytes || storedFile.of(size).asSlice(0, size).mismatch(file) >= 0) {
                storedBytes = -1;
                MemorySegment.copy(file, 0, storedFile.of(size), 0, size);
                if (isolated != null) {
                    values = read(isolated, file);
                } else {
                    try (SoundReader reader = SoundReader.open(file)) {
                        values = read(reader);
                    } catch (LibraryException e) {
                        throw new LibraryException("found no uncompressed WAV or AIFF, nor FLAC of up to 24 bits, which"
                                + " need no library; " + e.getMessage(), e);
                    }
                }
                storedBytes = size;
            }
        }

        private @Nullable PlainSound readerOf(MemorySegment stored, long size) {
            for (PlainSound reader : readers) {
                if (reader.open(stored, size)) {
                    return reader;
                }
            }
            return null;
        }

        private void check(int foundRate, int foundChannels) {
            if (foundRate != rate && !isResampled) {
                throw new CodecException("sound of " + foundRate + " samples a second", String.valueOf(rate));
            }
            if (channels > 0 && foundChannels != channels) {
                throw new CodecException("sound of " + foundChannels + " channels", String.valueOf(channels));
            }
            fileRate = foundRate;
        }

        private Resampling resampling() {
            if (resampling != null && resampling.rate == fileRate) {
                return resampling;
            }
            Resampling known = resamplings.get(fileRate);
            if (known == null) {
                try {
                    Resample step = Resample.hann(fileRate, rate);
                    known = new Resampling(fileRate, step, step.open());
                } catch (IllegalArgumentException e) {
                    throw new CodecException(String.valueOf(e.getMessage()));
                }
                if (resamplings.size() == MOST_RATES) {
                    resamplings.clear();
                }
                resamplings.put(fileRate, known);
            }
            resampling = known;
            return known;
        }

        /** Takes what another process has decoded, and resampled. */
        private long read(IsolatedDecoder by, MemorySegment file) throws IOException {
            long bytes = by.wholeSound(file, channels, rate, isResampled);
            MemorySegment.copy(by.memory(), IsolatedDecoder.behind(file), samples.of(bytes), 0, bytes);
            fileRate = rate;
            return bytes / Float.BYTES;
        }

        private long read(SoundReader reader) throws IOException {
            check(reader.rate(), reader.channels());
            int width = Math.max(1, channels);
            long count = 0;
            for (int more = reader.next(); more > 0; more = reader.next()) {
                if ((count + more) * width > MAX_VALUES) {
                    throw new CodecException("over " + MAX_VALUES + " values", "fewer");
                }
                MemorySegment target = grown(count * width * Float.BYTES, (long) more * width * Float.BYTES);
                copy(reader, more, target, count * width);
                count += more;
            }
            if (reader.errors() > 0) {
                throw new CodecException(reader.errors() + " packets or frames of " + reader.codec()
                        + " that are damaged", "none");
            }
            return length(reader, count) * width;
        }

        /** Returns the memory with room for more behind what is there. */
        private MemorySegment grown(long used, long more) {
            MemorySegment old = samples.of(0);
            if (old.byteSize() >= used + more) {
                return old;
            }
            float[] kept = old.asSlice(0, used).toArray(JAVA_FLOAT_UNALIGNED);
            MemorySegment grown = samples.of(used + more);
            MemorySegment.copy(kept, 0, grown, JAVA_FLOAT_UNALIGNED, 0, kept.length);
            return grown;
        }

        /** Returns an array for the samples of channels, and for their means in front of them. */
        private float[] room(int count, int of) {
            if (block.length < count * (of + 1)) {
                block = new float[count * (of + 1)];
            }
            return block;
        }

        private void copy(SoundReader reader, int count, MemorySegment target, long at) {
            int of = reader.channels();
            float[] to = room(count, of);
            if (channels == 0 && of > 1) {
                reader.copyPlanes(to, count);
                mean(to, count, of);
            } else {
                reader.copyTo(to, 0);
            }
            MemorySegment.copy(to, 0, target, JAVA_FLOAT_UNALIGNED, at * Float.BYTES, count * Math.max(1, channels));
        }

        /** Puts the means of channels, which begin at {@code count}, one behind the other, in front of them. */
        private static void mean(float[] block, int count, int channels) {
            Arrays.fill(block, 0, count, 0);
            for (int channel = 1; channel <= channels; channel++) {
                for (int i = 0; i < count; i++) {
                    block[i] += block[channel * count + i];
                }
            }
            for (int i = 0; i < count; i++) {
                block[i] /= channels;
            }
        }

        @Override
        public void decode(MemorySegment stored, long size, MemorySegment target, long targetOffset, long targetBytes)
                throws IOException {
            long found = byteSize(stored, size);
            if (found != targetBytes) {
                throw new CodecException("sound of " + found + " bytes", String.valueOf(targetBytes));
            }
            int behind = (fileRate == rate ? 0 : 1) + (applier == null ? 0 : 1);
            MemorySegment from = samples(behind > 0 ? MemorySegment.NULL : target, targetOffset);
            long count = values;
            if (behind == 0) {
                return;
            }
            if (fileRate != rate) {
                Resampling resampling = resampling();
                long made = resampling.step.valuesAfter(count);
                MemorySegment to = behind > 1 ? resampled.of(made * Float.BYTES) : target;
                resampling.applier.apply(from, 0, count, random, to, behind > 1 ? 0 : targetOffset);
                from = to;
                count = made;
            }
            if (applier != null) {
                applier.apply(from, 0, count, random, target, targetOffset);
            }
        }

        /** Puts the samples into the target, or into memory of this session if that is {@code NULL}, and returns it. */
        private MemorySegment samples(MemorySegment target, long targetOffset) throws IOException {
            boolean isOwn = target.equals(MemorySegment.NULL);
            MemorySegment out = isOwn ? samples.of(values * Float.BYTES) : target;
            if (plain != null) {
                plain.read(channels == 0, out, isOwn ? 0 : targetOffset);
            } else if (!isOwn) {
                MemorySegment.copy(samples.of(values * Float.BYTES), 0, target, targetOffset, values * Float.BYTES);
            }
            return out;
        }

        @Override
        public void close() {
            resamplings.values().forEach(of -> of.applier.close());
            if (applier != null) {
                applier.close();
            }
            if (isolated != null) {
                isolated.close();
            }
            storedFile.close();
            samples.close();
            for (PlainSound reader : readers) {
                reader.close();
            }
            resampled.close();
        }
    }

    @Override
    public String toString() {
        return "sound of " + (channels == 0 ? "one channel" : channels + " channels") + ", " + (isResampled
                ? "resampled to " : "") + rate + " samples a second" + (steps == null ? "" : ", then " + steps);
    }
}
