// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.penstock.diagnose.markup.Markup;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;

/** A page of HTML that draws a clip: its frames in a picture, and the waveform of each channel. */
final class ClipPage {

    private static final int CHANNELS = 3;
    private static final int WIDTH = 960;
    private static final int HEIGHT = 120;

    private final Markup page = new Markup();

    ClipPage(String title, List<String> facts) {
        page.raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head").empty("meta", "charset", "utf-8")
                .element("title", title).raw("<style>body { font-family: sans-serif; margin: 2rem } "
                        + ".frames { display: flex; flex-wrap: wrap } figure { margin: 0.25rem }</style>")
                .close().open("body").element("h1", title);
        facts.forEach(fact -> page.element("p", fact));
    }

    /** Adds frames {@code u8[1, T, 3, side, side]}. */
    void frames(Tensor clip, int count, int side) throws IOException {
        page.open("div", "class", "frames");
        int plane = side * side;
        byte[] planes = clip.segment().toArray(JAVA_BYTE);
        for (int t = 0; t < count; t++) {
            byte[] pixels = new byte[plane * CHANNELS];
            for (int i = 0; i < pixels.length; i++) {
                pixels[i] = planes[(t * CHANNELS + i % CHANNELS) * plane + i / CHANNELS];
            }
            PictureSheet.addTo(page, Tensor.of(MemorySegment.ofArray(pixels), DType.U8, side, side, CHANNELS),
                    List.of("frame " + t));
        }
        page.close();
    }

    /** Adds sound {@code f32[1, channels, n]}: of each column of pixels the least and the greatest value. */
    void waveform(Tensor sound) {
        int channels = (int) sound.dim(1);
        int count = (int) sound.dim(2);
        float[] values = sound.segment().toArray(JAVA_FLOAT);
        for (int channel = 0; channel < channels; channel++) {
            var path = new StringBuilder();
            for (int x = 0; x < WIDTH; x++) {
                int from = (int) ((long) x * count / WIDTH);
                int to = Math.max(from + 1, (int) ((x + 1L) * count / WIDTH));
                float least = Float.POSITIVE_INFINITY;
                float greatest = Float.NEGATIVE_INFINITY;
                for (int i = from; i < Math.min(to, count); i++) {
                    least = Math.min(least, values[channel * count + i]);
                    greatest = Math.max(greatest, values[channel * count + i]);
                }
                if (from < count) {
                    path.append(String.format(Locale.ROOT, "M%d %.1fV%.1f", x, y(greatest), y(least) + 1));
                }
            }
            page.element("h2", "channel " + channel)
                    .open("svg", "viewBox", "0 0 " + WIDTH + " " + HEIGHT, "width", WIDTH, "height", HEIGHT)
                    .element("path", "", "d", path, "stroke", "currentColor", "fill", "none").close();
        }
    }

    private static double y(float value) {
        return (1 - Math.clamp(value, -1f, 1f)) * (HEIGHT - 1) / 2;
    }

    @Override
    public String toString() {
        return page.close().close().toString();
    }
}
