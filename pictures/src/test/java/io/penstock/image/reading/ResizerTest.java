// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.json.Json;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Resizing gives Pillow's bytes. */
class ResizerTest {

    private static byte[] pixels(int bytes) {
        byte[] pixels = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            pixels[i] = (byte) (i * i * 31 + i * 7 + (i >> 5));
        }
        return pixels;
    }

    private static byte[] resize(Resizer resizer, Resizer.Filter filter, byte[] pixels, int[] from, int channels,
            int[] to, int[] part) {
        var frame = new ImageFrame();
        frame.reset(from[1], from[0]);
        frame.resize(to[1], to[0], filter);
        frame.crop(part[1], part[0], part[3], part[2]);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate((long) part[2] * part[3] * channels + 2).fill((byte) 0x5A);
            resizer.resize(frame, arena.allocateFrom(ValueLayout.JAVA_BYTE, pixels), 0, channels, target, 1);
            byte[] all = target.toArray(ValueLayout.JAVA_BYTE);
            assertEquals(0x5A, all[0]);
            assertEquals(0x5A, all[all.length - 1]);
            return java.util.Arrays.copyOfRange(all, 1, all.length - 1);
        }
    }

    @Test
    void theResultIsPillows() throws IOException {
        var resizer = new Resizer();
        int compared = 0;
        for (Object each : Json.array(Oracle.all().get("resized"))) {
            Map<String, Object> truth = Json.object(each);
            int[] from = ints(truth.get("from"));
            int[] to = ints(truth.get("to"));
            int channels = ((Number) truth.get("channels")).intValue();
            byte[] resized = resize(resizer, Resizer.Filter.valueOf((String) truth.get("filter")),
                    pixels(from[0] * from[1] * channels), from, channels, to,
                    new int[] {0, 0, to[0], to[1]});
            assertEquals(truth.get("sha256"), Oracle.sha256(resized), truth.toString());
            compared++;
        }
        assertEquals(60, compared);
    }

    @Test
    void aPartIsThatPartOfTheWhole() {
        Resizer resizer = new Resizer();
        int[] from = {40, 30};
        for (int channels = 1; channels <= 4; channels++) {
            byte[] pixels = pixels(40 * 30 * channels);
            for (int[] to : List.of(new int[] {21, 17}, new int[] {40, 30}, new int[] {61, 30}, new int[] {40, 7})) {
                byte[] whole = resize(resizer, Resizer.Filter.BILINEAR, pixels, from, channels, to,
                        new int[] {0, 0, to[0], to[1]});
                int[] part = {5, 2, to[0] - 9, to[1] - 4};
                byte[] expected = new byte[part[2] * part[3] * channels];
                for (int y = 0; y < part[3]; y++) {
                    System.arraycopy(whole, ((y + part[1]) * to[0] + part[0]) * channels, expected,
                            y * part[2] * channels, part[2] * channels);
                }
                assertArrayEquals(expected, resize(resizer, Resizer.Filter.BILINEAR, pixels, from, channels, to, part));
            }
        }
    }

    private static int[] ints(Object array) {
        return Json.array(array).stream().mapToInt(n -> ((Number) n).intValue()).toArray();
    }
}
