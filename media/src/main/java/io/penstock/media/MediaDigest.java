// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.media.ffmpeg.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Demuxer;
import io.penstock.media.ffmpeg.FFmpeg;
import io.penstock.media.ffmpeg.SoundReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Digests of what a file's frames and samples are when it is decoded from its start, to compare with other programs:
 * {@code ffmpeg -noautorotate -i FILE -map 0:v:0 -vsync 0 -autoscale 0 -f framemd5 -} gives the same MD5s, and {@code
 * ffmpeg -i FILE -map 0:a:0 -f f32le -} the bytes of the same SHA-256.
 *
 * @param ffmpeg the version that decoded
 * @param video the first stream of video, if there is one
 * @param sound the first stream of sound, if there is one
 */
public record MediaDigest(String ffmpeg, Optional<Video> video, Optional<Sound> sound) {

    /**
     * A stream of video.
     *
     * @param codec FFmpeg's name of the codec
     * @param width pixels in a row of the first frame
     * @param height rows of the first frame
     * @param pixelFormat FFmpeg's name of the first frame's format
     * @param timeBase the seconds of a unit of a time stamp, as {@code 1/12288}
     * @param rotation degrees counter-clockwise that turn frames upright
     * @param packets the number of packets
     * @param keyPts the time stamps of the packets that the container marks as keys
     * @param discarded the packets whose frame an edit list leaves out
     * @param errors packets that could not be decoded, and frames that the decoder flagged
     * @param framePts the frames' time stamps
     * @param frameMd5 the frames' MD5s, in their own pixel format, without gaps between rows
     */
    public record Video(String codec, int width, int height, String pixelFormat, String timeBase, int rotation,
            int packets, List<Long> keyPts, int discarded, int errors, List<Long> framePts, List<String> frameMd5) {
    }

    /**
     * A stream of sound.
     *
     * @param codec FFmpeg's name of the codec
     * @param rate samples of a channel in a second
     * @param channels the number of channels
     * @param samples samples of a channel
     * @param errors packets that could not be decoded, and frames that the decoder flagged
     * @param f32Sha256 the SHA-256 of the samples as little-endian floats, interleaved
     */
    public record Sound(String codec, int rate, int channels, long samples, int errors, String f32Sha256) {
    }

    /**
     * Decodes a file.
     *
     * @param name its name, for messages
     * @param file its bytes
     * @return the digests
     * @throws MalformedStoreException if it has neither video nor sound that can be decoded
     * @throws IOException if FFmpeg is missing or unusable
     */
    public static MediaDigest of(Object name, MemorySegment file) throws IOException {
        FFmpeg.require();
        Optional<Video> video = Optional.empty();
        Optional<Sound> sound = Optional.empty();
        String reasons = "";
        try {
            video = Optional.of(video(file));
        } catch (CodecException e) {
            reasons = "video: " + e.getMessage();
        }
        try {
            sound = Optional.of(sound(file));
        } catch (CodecException e) {
            reasons += (reasons.isEmpty() ? "" : "; ") + "sound: " + e.getMessage();
        }
        if (video.isEmpty() && sound.isEmpty()) {
            throw new MalformedStoreException(name, new IllegalArgumentException(reasons));
        }
        return new MediaDigest(FFmpeg.version(), video, sound);
    }

    private static Video video(MemorySegment file) throws IOException {
        try (Demuxer demuxer = Demuxer.open(file, Demuxer.Kind.VIDEO);
                Decoder decoder = Decoder.of(demuxer, DecoderLimits.DEFAULT)) {
            var frames = new Frames();
            List<Long> keys = new ArrayList<>();
            int packets = 0;
            int discarded = 0;
            boolean more = true;
            while (more) {
                more = demuxer.next();
                if (more) {
                    packets++;
                    discarded += demuxer.isDiscarded() ? 1 : 0;
                    if (demuxer.isKey()) {
                        keys.add(demuxer.pts());
                    }
                }
                frames.feed(decoder, demuxer, more);
            }
            if (frames.md5.isEmpty()) {
                throw new CodecException("video without a frame that can be decoded", "some");
            }
            return new Video(demuxer.codec(), frames.width, frames.height, frames.format,
                    demuxer.timeBaseNumerator() + "/" + demuxer.timeBaseDenominator(), demuxer.rotation(), packets,
                    List.copyOf(keys), discarded, frames.errors, List.copyOf(frames.pts), List.copyOf(frames.md5));
        }
    }

    /** The frames until now. */
    private static final class Frames {

        private final List<Long> pts = new ArrayList<>();
        private final List<String> md5 = new ArrayList<>();
        private String format = "";
        private int width;
        private int height;
        private int errors;

        void feed(Decoder decoder, Demuxer demuxer, boolean more) throws IOException {
            try {
                if (more) {
                    decoder.send(demuxer);
                } else {
                    decoder.drain();
                }
            } catch (CodecException _) {
                errors++;
            }
            while (receive(decoder)) {
                if (md5.isEmpty()) {
                    format = decoder.pixelFormat();
                    width = decoder.width();
                    height = decoder.height();
                }
                errors += decoder.isFlagged() || decoder.hasErrors() ? 1 : 0;
                pts.add(decoder.pts());
                md5.add(HexFormat.of().formatHex(md5().digest(decoder.packed())));
            }
        }

        private boolean receive(Decoder decoder) {
            try {
                return decoder.receive();
            } catch (CodecException _) {
                errors++;
                return false;
            }
        }
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Sound sound(MemorySegment file) throws IOException {
        try (SoundReader reader = SoundReader.open(file)) {
            MessageDigest sha256 = Sha256.digest();
            long samples = 0;
            float[] values = {};
            ByteBuffer bytes = ByteBuffer.allocate(0);
            for (int count = reader.next(); count > 0; count = reader.next()) {
                int length = Math.multiplyExact(count, reader.channels());
                if (values.length < length) {
                    values = new float[length];
                    bytes = ByteBuffer.allocate(Math.multiplyExact(length, Float.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
                }
                reader.copyTo(values, 0);
                bytes.clear().asFloatBuffer().put(values, 0, length);
                sha256.update(bytes.limit(length * Float.BYTES));
                samples += count;
            }
            return new Sound(reader.codec(), reader.rate(), reader.channels(), samples, reader.errors(),
                    Sha256.hex(sha256));
        }
    }
}
