// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.penstock.media.ffmpeg.Decoder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * A video of the test resources, with what FFmpeg's program says of it: {@code ffprobe -show_packets} and {@code ffmpeg
 * -noautorotate -vsync 0 -autoscale 0 -f framemd5} of version 5.1.
 */
record VideoFixture(String name, boolean isGood, String codec, int width, int height, String format, String timeBase,
        int rotation, int packets, int discarded, List<Long> keyPts, List<String> md5) {

    static List<VideoFixture> all() {
        return new String(resource("video.tsv"), StandardCharsets.UTF_8).lines().map(VideoFixture::parse).toList();
    }

    static Stream<VideoFixture> good() {
        return all().stream().filter(VideoFixture::isGood);
    }

    static VideoFixture of(String name) {
        return all().stream().filter(fixture -> fixture.name.equals(name)).findAny().orElseThrow();
    }

    private static VideoFixture parse(String line) {
        String[] of = line.split("\t", -1);
        return of.length < 12 || of[2].isEmpty()
                ? new VideoFixture(of[0], false, "", 0, 0, "", "", 0, 0, 0, List.of(), List.of())
                : new VideoFixture(of[0], of[1].equals("good"), of[2], Integer.parseInt(of[3]),
                        Integer.parseInt(of[4]), of[5], of[6], Integer.parseInt(of[7]), Integer.parseInt(of[8]),
                        Integer.parseInt(of[9]), Stream.of(of[10].split(",")).map(Long::valueOf).toList(),
                        List.of(of[11].split(",")));
    }

    static byte[] resource(String name) {
        try (InputStream in = VideoFixture.class.getResourceAsStream("/media/" + name)) {
            assertNotNull(in, name);
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    MemorySegment bytes() {
        byte[] bytes = resource(name);
        return Arena.ofAuto().allocate(bytes.length + 1L).asSlice(0, bytes.length)
                .copyFrom(MemorySegment.ofArray(bytes));
    }

    static String md5(Decoder decoder) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(decoder.packed()));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
