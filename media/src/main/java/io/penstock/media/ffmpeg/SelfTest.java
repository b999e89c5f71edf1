// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import io.penstock.error.CodecException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Decodes a small file and compares frames, time stamps and flags with known ones: offsets that do not fit the
 * libraries give wrong frames, not errors.
 *
 * <p>The file has 12 frames of H.264 with B-frames, 16 by 16 pixels; the fifth packet is a key that is no IDR, so that
 * decoding from there gives frames that are flagged.
 */
final class SelfTest {

    private static final String FILE = "selftest.mp4";
    /** MD5 of the frames in the order of showing, each with its time stamp as eight bytes behind it. */
    private static final String DIGEST = "9e0184f0343df908520dcca203008e2f";
    private static final int FRAMES = 12;
    private static final int UNIT = 12288;

    private SelfTest() {
    }

    /** Runs the test. */
    static void run() throws IOException {
        byte[] file;
        try (InputStream in = SelfTest.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new CodecException(FILE + " is missing");
            }
            file = in.readAllBytes();
        }
        try (var demuxer = new Demuxer(MemorySegment.ofArray(file), Demuxer.Kind.VIDEO);
                var decoder = Decoder.untested(demuxer, DecoderLimits.DEFAULT)) {
            if (!demuxer.codec().equals("h264") || demuxer.timeBaseNumerator() != 1
                    || demuxer.timeBaseDenominator() != UNIT || demuxer.declaredPackets() != FRAMES) {
                throw new CodecException("a stream of " + demuxer.codec() + " with " + demuxer.declaredPackets()
                        + " packets in units of " + demuxer.timeBaseNumerator() + "/" + demuxer.timeBaseDenominator(),
                        FRAMES + " of h264 in 1/" + UNIT);
            }
            String found = decode(demuxer, decoder);
            if (!found.equals(DIGEST)) {
                throw new CodecException("frames with the digest " + found, DIGEST);
            }
        }
        testFlag(file);
    }

    private static String decode(Demuxer demuxer, Decoder decoder) throws IOException {
        MessageDigest md5 = md5();
        boolean more = true;
        while (more) {
            more = demuxer.next();
            if (more) {
                decoder.send(demuxer);
            } else {
                decoder.drain();
            }
            while (decoder.receive()) {
                if (decoder.isFlagged() || decoder.hasErrors()) {
                    throw new CodecException("a frame that is flagged", "none");
                }
                md5.update(decoder.packed());
                for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                    md5.update((byte) (decoder.pts() >> shift));
                }
            }
        }
        return HexFormat.of().formatHex(md5.digest());
    }

    /** Decodes from the key that is no IDR on. */
    private static void testFlag(byte[] file) throws IOException {
        try (var demuxer = new Demuxer(MemorySegment.ofArray(file), Demuxer.Kind.VIDEO);
                var decoder = Decoder.ofVideoUntested(demuxer.codec(), MemorySegment.ofArray(demuxer.extradata()),
                        DecoderLimits.DEFAULT)) {
            int keys = 0;
            int flagged = 0;
            boolean more = true;
            while (more) {
                more = demuxer.next();
                keys += more && demuxer.isKey() ? 1 : 0;
                if (!more) {
                    decoder.drain();
                } else if (keys > 1) {
                    decoder.send(demuxer.data(), 0, demuxer.size(), demuxer.pts(), demuxer.dts(), demuxer.isKey());
                }
                while (decoder.receive()) {
                    flagged += decoder.isFlagged() ? 1 : 0;
                }
            }
            if (flagged == 0) {
                throw new CodecException("no frame that is flagged, decoding from a key that is no IDR", "some");
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
}
