// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import io.penstock.error.CodecException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The sound of a file as floats, decoded from its start: integers become values from -1 to 1, as FFmpeg's own
 * conversion makes them. Encoder delay and what edit lists leave out are cut. For one thread.
 */
public final class SoundReader implements AutoCloseable {

    private static final int MAX_CHANNELS = 64;

    private final Demuxer demuxer;
    private final Decoder decoder;
    private final int channels;
    private boolean isDrained;
    private int errors;

    /**
     * Opens the first stream of sound of a file.
     *
     * @param file its bytes; must stay valid until it is closed
     * @return the reader
     * @throws CodecException if the file is damaged, has no sound, or is of a kind that is not supported
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static SoundReader open(MemorySegment file) throws IOException {
        Demuxer demuxer = Demuxer.open(file, Demuxer.Kind.SOUND);
        try {
            return new SoundReader(demuxer, Decoder.of(demuxer, DecoderLimits.DEFAULT));
        } catch (Throwable t) {
            demuxer.close();
            throw t;
        }
    }

    private SoundReader(Demuxer demuxer, Decoder decoder) {
        this.demuxer = demuxer;
        this.decoder = decoder;
        channels = demuxer.channels();
        if (channels < 1 || channels > MAX_CHANNELS) {
            decoder.close();
            throw new CodecException(channels + " channels", "1 to " + MAX_CHANNELS);
        }
    }

    /** {@return the codec's name, such as {@code flac}} */
    public String codec() {
        return demuxer.codec();
    }

    /** {@return samples of a channel in a second} */
    public int rate() {
        return (int) decoder.number("ar");
    }

    /** {@return the number of channels} */
    public int channels() {
        return channels;
    }

    /** {@return how many samples of a channel the container says that there are; 0 if it does not say} */
    public long declaredSamples() {
        double seconds = (double) demuxer.declaredDuration() * demuxer.timeBaseNumerator()
                / Math.max(1, demuxer.timeBaseDenominator());
        return countsSamples() ? demuxer.declaredDuration() : (long) (seconds * rate());
    }

    /** {@return whether the container counts samples: its units of time are as many a second as the sound has} */
    public boolean countsSamples() {
        return demuxer.timeBaseNumerator() == 1 && demuxer.timeBaseDenominator() == rate();
    }

    /** {@return how many packets could not be decoded, and frames were flagged, until now} */
    public int errors() {
        return errors;
    }

    /**
     * Reads the next samples.
     *
     * @return how many there are of each channel; 0 at the end
     * @throws IOException if the file cannot be read
     */
    public int next() throws IOException {
        while (true) {
            try {
                if (decoder.receive()) {
                    errors += decoder.isFlagged() || decoder.hasErrors() ? 1 : 0;
                    if (decoder.samples() > 0) {
                        return decoder.samples();
                    }
                    continue;
                }
            } catch (CodecException _) {
                errors++;
            }
            if (isDrained) {
                return 0;
            }
            feed();
        }
    }

    private void feed() throws IOException {
        boolean more = demuxer.next();
        try {
            if (more) {
                decoder.send(demuxer);
            } else {
                isDrained = true;
                decoder.drain();
            }
        } catch (CodecException _) {
            errors++;
        }
    }

    /**
     * Copies the samples that {@link #next} has read.
     *
     * @param out receives them, interleaved: the first sample of all channels, then the next
     * @param at the first index
     * @throws CodecException if their form is not known, or they have not as many channels as {@link #channels} says
     */
    public void copyTo(float[] out, int at) {
        MemorySegment to = MemorySegment.ofArray(out);
        for (int channel = 0; channel < channels; channel++) {
            decoder.copySamples(channel, channels, 0, decoder.samples(), to, (long) (at + channel) * Float.BYTES,
                    (long) channels * Float.BYTES);
        }
    }

    /**
     * Copies the samples that {@link #next} has read, a channel after the other.
     *
     * @param out receives them
     * @param at the first index
     * @throws CodecException if their form is not known, or they have not as many channels as {@link #channels} says
     */
    public void copyPlanes(float[] out, int at) {
        int count = decoder.samples();
        decoder.copySamples(channels, 0, count, MemorySegment.ofArray(out), (long) at * Float.BYTES,
                (long) count * Float.BYTES);
    }

    @Override
    public void close() {
        decoder.close();
        demuxer.close();
    }
}
